//! The account index of risk checks, with which list entries and counters of a card or account are found without its
//! number. It is used internally only: no response depends on it.
//!
//! It is the HMAC-SHA-256 (RFC 2104) of the account under a random key, which the store keeps sealed. So an index stays
//! valid when the vault's key changes, although nobody knows the number any more. The key is the same for all entities,
//! because a list applies to the entities below its owner too.

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use zeroize::Zeroizing;

use crate::domain::account_identity::AccountIdentity;
use crate::domain::id::to_hex;

/// Text whose MAC is the secret of the stored counters. It is no account's identity.
const COUNTER_SECRET: &[u8] = b"risk counters";

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

    /// Computes the blind index of an account, 64 lowercase hexadecimal digits.
    pub fn index_account(&self, account: &AccountIdentity) -> String {
        to_hex(&self.compute_mac(account.characters().as_bytes()))
    }

    /// Derives the secret of the stored counters of risk checks.
    pub fn derive_counter_secret(&self) -> [u8; 32] {
        self.compute_mac(COUNTER_SECRET)
    }

    fn compute_mac(&self, text: &[u8]) -> [u8; 32] {
        // HMAC takes a key of any length.
        #[allow(clippy::expect_used)]
        let mut mac = Hmac::<Sha256>::new_from_slice(&*self.0).expect("a key of any length");
        mac.update(text);
        mac.finalize().into_bytes().into()
    }
}
