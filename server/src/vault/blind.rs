//! The blind index: finds the same account again without opening a record. It stays inside: no answer depends on it.
//!
//! HMAC-SHA-256 (RFC 2104) of the account under a key of the entity's own, derived from the master key (HKDF-SHA-256,
//! RFC 5869). Without the master key nobody can tell which account an index stands for by trying all of them, and two
//! entities' indexes of one account have nothing in common.

use hkdf::Hkdf;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use zeroize::Zeroizing;

use super::Vault;
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
    /// The blind index of an entity's account, given in one canonical form.
    pub fn blind_index(&self, entity: &EntityId, account: &[u8]) -> BlindIndex {
        let mut key = Zeroizing::new([0; 32]);
        let parent = self.with_first(|first| first.index.clone());
        // HKDF expands to up to 8160 bytes, and HMAC takes a key of any length.
        #[allow(clippy::expect_used)]
        Hkdf::<Sha256>::new(None, &*parent).expand(entity.as_str().as_bytes(), &mut *key).expect("32 bytes");
        #[allow(clippy::expect_used)]
        let mut mac = Hmac::<Sha256>::new_from_slice(&*key).expect("a key of any length");
        mac.update(account);
        BlindIndex(mac.finalize().into_bytes().into())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use crate::vault::MasterKey;

    #[test]
    fn an_index_finds_the_same_account_of_the_same_entity_and_nothing_else() {
        let vault = Vault::new(&MasterKey::from_bytes([1; 32]));
        let other = Vault::new(&MasterKey::from_bytes([2; 32]));
        let (one, two) = (EntityId::new(Timestamp::UNIX_EPOCH, [1; 9]), EntityId::new(Timestamp::UNIX_EPOCH, [2; 9]));
        let index = vault.blind_index(&one, b"4200000000000000");
        assert_eq!(index, Vault::new(&MasterKey::from_bytes([1; 32])).blind_index(&one, b"4200000000000000"));
        assert_ne!(index, vault.blind_index(&one, b"4200000000000001"));
        assert_ne!(index, vault.blind_index(&two, b"4200000000000000"));
        assert_ne!(index, other.blind_index(&one, b"4200000000000000"));
    }
}
