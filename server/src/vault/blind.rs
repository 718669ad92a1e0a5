//! The blind index: finds the same account again without opening a record. It stays inside: no answer depends on it.
//!
//! HMAC-SHA-256 (RFC 2104) of the account under a key of the entity's own, derived from the master key (HKDF-SHA-256,
//! RFC 5869). Without the master key nobody can tell which account an index stands for by trying all of them, and two
//! entities' indexes of one account have nothing in common.

use hkdf::Hkdf;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use zeroize::Zeroizing;

use super::{Key, Vault, VaultError};
use crate::domain::id::EntityId;

/// What an account of an entity is found by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlindIndex([u8; 32]);

impl BlindIndex {
    /// Its bytes, as they are stored.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl From<[u8; 32]> for BlindIndex {
    /// The index whose bytes have been stored.
    fn from(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }
}

impl Vault {
    /// Encrypts an account for the record with this id, and computes the entity's blind index of the account, given in one
    /// canonical form, under the same key. In two steps the keys could change in between: the index would be that of a key
    /// which the record does not name, and no rotation would ever compute it anew.
    ///
    /// # Errors
    /// When the system gives no randomness.
    pub fn seal_account(
        &self,
        record: &str,
        secret: &[u8],
        entity: &EntityId,
        account: &[u8],
    ) -> Result<(Vec<u8>, BlindIndex), VaultError> {
        self.with_first(|key| Ok((key.seal(record, secret)?, key.blind_index(entity, account))))
    }
}

impl Key {
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
        let of = |byte, entity, account: &[u8]| vault(byte).seal_account("8a01", b"{}", entity, account).unwrap().1;
        let index = of(1, &one, b"4200000000000000");
        assert_eq!(index, of(1, &one, b"4200000000000000"));
        assert_ne!(index, of(1, &one, b"4200000000000001"));
        assert_ne!(index, of(1, &two, b"4200000000000000"));
        assert_ne!(index, of(2, &one, b"4200000000000000"));
    }

    #[test]
    fn a_record_and_its_index_are_of_one_key_while_keys_change() {
        let masters = [1, 2].map(|byte| MasterKey::from_bytes([byte; 32]));
        let entity = EntityId::new(Timestamp::UNIX_EPOCH, [1; 9]);
        let alone = masters.each_ref().map(Vault::new);
        let indexes = alone.each_ref().map(|vault| vault.seal_account("8a01", b"{}", &entity, b"4").unwrap().1);
        let vault = Vault::new(&masters[0]);
        let done = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| {
                for turn in (0..2).cycle().take_while(|_| !done.load(Ordering::Relaxed)) {
                    vault.replace_keys(&masters[turn..=turn]);
                }
            });
            for _ in 0..5000 {
                let (sealed, index) = vault.seal_account("8a01", b"{}", &entity, b"4").unwrap();
                let opener = alone.iter().position(|vault| vault.open("8a01", &sealed).is_ok());
                assert_eq!(opener, indexes.iter().position(|known| *known == index));
            }
            done.store(true, Ordering::Relaxed);
        });
    }
}
