//! The account index of risk checks, with which list entries and counters of a card or account are found without its
//! number. It is used internally only: no response depends on it.
//!
//! It is the HMAC-SHA-256 (RFC 2104) of the account under a random key, which the store keeps sealed. So an index stays
//! valid when the vault's key changes, although nobody knows the number any more. The key is the same for all entities,
//! because a list applies to the entities below its owner too. Therefore the index itself is never stored: counters,
//! sightings and list entries store a hash of it and their owner, and a payment stores it under a mask that no other
//! payment has. So a copy of the store does not show that two tenants, or two payments, have the same card.

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use tillgate_domain::id::{PaymentId, to_hex};
use tillgate_domain::payment::account_identity::AccountIdentity;
use zeroize::Zeroizing;

/// Text whose MAC is the secret of the stored counters. It is no account's identity.
const COUNTER_SECRET: &[u8] = b"risk counters";
/// Beginning of the text whose MAC is the mask of a payment's index. It is no account's identity.
const MASK: &str = "stored index\n";

/// The key of the account index.
#[derive(Clone)]
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

    /// Masks the index of a payment's account to store it with the payment, or removes the mask. Returns `None` if the
    /// text is no index.
    pub fn mask_index(&self, payment: &PaymentId, index: &str) -> Option<String> {
        let mask = self.compute_mac(format!("{MASK}{}", payment.as_str()).as_bytes());
        let is_index = index.len() == 2 * mask.len() && index.bytes().all(|byte| byte.is_ascii_hexdigit());
        if !is_index {
            return None;
        }
        let bytes = index.as_bytes().chunks(2).filter_map(|digits| {
            let digits = std::str::from_utf8(digits).ok()?;
            u8::from_str_radix(digits, 16).ok()
        });
        let masked: Vec<u8> = bytes.zip(mask).map(|(byte, mask)| byte ^ mask).collect();
        Some(to_hex(&masked))
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

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use jiff::Timestamp;
    use tillgate_shared::format::card_number::CardNumber;

    use super::*;

    #[test]
    fn the_stored_indexes_of_one_card_are_unrelated_and_open_with_their_payment_only() {
        let key = AccountIndexKey::new(Zeroizing::new([7; 32]));
        let payment = |number| PaymentId::new(Timestamp::UNIX_EPOCH, [number; 9]);
        let index = |digits| key.index_account(&AccountIdentity::from_card(&CardNumber::parse(digits).unwrap()));
        let (card, other) = (index("4200000000000000"), index("4012888888881881"));
        let stored = [(1, &card), (2, &card), (3, &other)].map(|(number, index)| {
            let masked = key.mask_index(&payment(number), index).unwrap();
            assert_eq!(key.mask_index(&payment(number), &masked).as_ref(), Some(index));
            assert_ne!(key.mask_index(&payment(9), &masked).as_ref(), Some(index));
            masked
        });
        assert!(stored[0] != stored[1] && stored[0] != card && stored[2] != other);
        for no_index in ["", "00", &card[1..], &format!("{card}00"), &card.replacen(|_| true, "x", 1), "ä"] {
            assert_eq!(key.mask_index(&payment(1), no_index), None, "{no_index}");
        }
    }
}
