//! The blind index, with which the records of one account are found without opening them. It is used internally only:
//! no response depends on it.
//!
//! It is the HMAC-SHA-256 (RFC 2104) of the account under a key of its own for each entity, which is derived from the
//! master key (HKDF-SHA-256, RFC 5869). Without the master key, the account of an index cannot be found by trying all
//! accounts, and the indexes of one account for two entities are unrelated.

use hkdf::Hkdf;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use zeroize::Zeroizing;

use super::{DerivedKeys, SealedAccount, Vault, VaultError};
use crate::domain::id::{EntityId, to_hex};

/// Blind index of an account of an entity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlindIndex([u8; 32]);

impl BlindIndex {
    /// Returns the bytes to store.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Returns the index as 64 lowercase hexadecimal digits.
    pub fn to_hex(&self) -> String {
        to_hex(&self.0)
    }
}

impl From<[u8; 32]> for BlindIndex {
    /// Creates an index from its stored bytes.
    fn from(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }
}

impl Vault {
    /// Encrypts an account for the record with this id, and computes the entity's blind index of the account under the
    /// same key. `account` is the account in its canonical form. In two separate calls the keys could change in
    /// between. Then the index would belong to a key that the record does not name, and no rotation would recompute
    /// it.
    ///
    /// # Errors
    /// If the system provides no random bytes.
    pub fn seal_account(
        &self,
        record: &str,
        secret: &[u8],
        entity: &EntityId,
        account: &[u8],
    ) -> Result<SealedAccount, VaultError> {
        self.with_sealing_key(|key| {
            Ok(SealedAccount { sealed: key.seal(record, secret)?, blind: key.blind_index(entity, account) })
        })
    }
}

impl DerivedKeys {
    /// Computes the blind index of an account, under the index key that is derived for the entity.
    fn blind_index(&self, entity: &EntityId, account: &[u8]) -> BlindIndex {
        let mut key = Zeroizing::new([0; 32]);
        // HKDF expands to up to 8160 bytes, and HMAC takes a key of any length.
        #[allow(clippy::expect_used)]
        Hkdf::<Sha256>::new(None, &*self.index).expand(entity.as_str().as_bytes(), &mut *key).expect("32 bytes");
        #[allow(clippy::expect_used)]
        let mut mac = Hmac::<Sha256>::new_from_slice(&*key).expect("a key of any length");
        mac.update(account);
        BlindIndex(mac.finalize().into_bytes().into())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread;

    use jiff::Timestamp;

    use super::*;
    use crate::vault::MasterKey;

    #[test]
    fn an_index_finds_the_same_account_of_the_same_entity_and_nothing_else() {
        let vault = |byte| Vault::new(&MasterKey::from_bytes([byte; 32]));
        let (one, two) = (EntityId::new(Timestamp::UNIX_EPOCH, [1; 9]), EntityId::new(Timestamp::UNIX_EPOCH, [2; 9]));
        let index_of =
            |byte, entity, account: &[u8]| vault(byte).seal_account("8a01", b"{}", entity, account).unwrap().blind;
        let index = index_of(1, &one, b"4200000000000000");
        assert_eq!(index, index_of(1, &one, b"4200000000000000"));
        assert_ne!(index, index_of(1, &one, b"4200000000000001"));
        assert_ne!(index, index_of(1, &two, b"4200000000000000"));
        assert_ne!(index, index_of(2, &one, b"4200000000000000"));
    }

    #[test]
    fn a_record_and_its_index_are_of_one_key_while_keys_change() {
        let masters = [1, 2].map(|byte| MasterKey::from_bytes([byte; 32]));
        let entity = EntityId::new(Timestamp::UNIX_EPOCH, [1; 9]);
        let alone = masters.each_ref().map(Vault::new);
        let indexes = alone.each_ref().map(|vault| vault.seal_account("8a01", b"{}", &entity, b"4").unwrap().blind);
        let vault = Vault::new(&masters[0]);
        let done = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| {
                for index in (0..2).cycle().take_while(|_| !done.load(Ordering::Relaxed)) {
                    vault.replace_keys(&masters[index..=index]);
                }
            });
            for _ in 0..5000 {
                let SealedAccount { sealed, blind } = vault.seal_account("8a01", b"{}", &entity, b"4").unwrap();
                let opener = alone.iter().position(|vault| vault.open("8a01", &sealed).is_ok());
                assert_eq!(opener, indexes.iter().position(|known| *known == blind));
            }
            done.store(true, Ordering::Relaxed);
        });
    }
}
