//! The account index of risk checks, with which list entries and counters of a card or account are found without its
//! number.
//!
//! It is the HMAC-SHA-256 (RFC 2104) of the account under a random key, which the store keeps sealed. So an index stays
//! valid when the vault's key changes, although nobody knows the number any more. The key is the same for all entities,
//! because a list applies to the entities below its owner too.

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use zeroize::Zeroizing;

use super::BlindIndex;

/// The key of the account index.
pub struct AccountIndexKey(Zeroizing<[u8; 32]>);

impl std::fmt::Debug for AccountIndexKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("AccountIndexKey(****)")
    }
}

impl AccountIndexKey {
    /// Creates a key from its bytes.
    pub fn new(bytes: Zeroizing<[u8; 32]>) -> Self {
        Self(bytes)
    }

    /// Computes the index of an account in its canonical form.
    pub fn index_account(&self, account: &str) -> BlindIndex {
        // HMAC takes a key of any length.
        #[allow(clippy::expect_used)]
        let mut mac = Hmac::<Sha256>::new_from_slice(&*self.0).expect("a key of any length");
        mac.update(account.as_bytes());
        BlindIndex::from(<[u8; 32]>::from(mac.finalize().into_bytes()))
    }
}
