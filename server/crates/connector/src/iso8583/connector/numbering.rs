//! Numbers of a request, derived from its reference.
//!
//! A sequence would be a row that every request locks, and its number would have to be stored before the request. The
//! numbers here need neither: the reference is stored, and whoever knows it knows the numbers, also after a crash. Two
//! requests of the same second and class get the same trace number once in a million times. The line refuses the later
//! one, so that no answer meets the wrong request, and the payment is declined.

use jiff::Timestamp;
use sha2::{Digest as _, Sha256};
use tillgate_domain::id::PaymentId;

/// Highest trace number. The lowest is 1: some hosts take 0 for a missing one.
const MAX_TRACE: u64 = 999_999;
/// Characters of a retrieval reference number.
const REFERENCE_LENGTH: usize = 12;
/// Letters and digits that are hard to confuse (Crockford's base 32).
const LETTERS_AND_DIGITS: &[u8; 32] = b"ABCDEFGHJKMNPQRSTVWXYZ1234567890";
/// Digits.
const DIGITS: &[u8; 10] = b"1234567890";

/// Returns the trace number of a request. `attempt` is 0, but for a reversal whose number was in use.
pub(super) fn derive_trace_number(reference: &str, attempt: u32) -> String {
    let digest = hash_text("trace", &format!("{attempt}\n{reference}"));
    let number = digest.iter().take(8).fold(0_u64, |number, byte| (number << 8) | u64::from(*byte));
    format!("{:06}", number % MAX_TRACE + 1)
}

/// Returns the retrieval reference number of a payment, from the id before a suffix such as `-capture`: all requests of
/// a payment have the same.
pub(super) fn derive_reference(reference: &str, is_numeric: bool) -> String {
    let alphabet: &[u8] = if is_numeric { DIGITS } else { LETTERS_AND_DIGITS };
    let digest = hash_text("reference", payment_part(reference));
    let characters = digest.iter().take(REFERENCE_LENGTH).enumerate().map(|(place, byte)| {
        // The zero is the last character of both. It never comes first: a field may be filled with zeros on its left.
        let count = if place == 0 { alphabet.len() - 1 } else { alphabet.len() };
        alphabet.get(usize::from(*byte) % count).copied().map_or('1', char::from)
    });
    characters.collect()
}

/// Returns the time in a reference: the creation of the payment or registration before its suffix. `None` if the
/// reference does not begin with such an id.
pub(super) fn derive_time(reference: &str) -> Option<Timestamp> {
    PaymentId::parse(payment_part(reference))?.creation_time()
}

/// Returns the id at the beginning of a reference.
fn payment_part(reference: &str) -> &str {
    reference.split_once('-').map_or(reference, |(id, _)| id)
}

/// Hashes a text. `purpose` separates the numbers from each other.
fn hash_text(purpose: &str, text: &str) -> [u8; 32] {
    let hash = Sha256::new().chain_update(b"tillgate iso8583 ").chain_update(purpose).chain_update(b"\n");
    hash.chain_update(text).finalize().into()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    const ID: &str = "8a0196f3a1b2c3d4e5f60718293a4b5c";

    #[test]
    fn numbers_follow_from_the_reference_alone() {
        let capture = format!("{ID}-capture");
        assert_eq!(derive_trace_number(ID, 0), derive_trace_number(ID, 0));
        assert_ne!(derive_trace_number(ID, 0), derive_trace_number(&capture, 0));
        assert_ne!(derive_trace_number(ID, 0), derive_trace_number(ID, 1));
        assert_eq!(derive_reference(ID, false), derive_reference(&capture, false));
        assert_eq!(derive_time(ID), derive_time(&capture));
        assert!(derive_time(ID).is_some() && derive_time("p1").is_none());
    }

    #[test]
    fn numbers_have_their_form() {
        for count in 0..2000 {
            let reference = format!("{count}");
            let trace: u32 = derive_trace_number(&reference, 0).parse().unwrap();
            assert!((1..=999_999).contains(&trace));
            let digits = derive_reference(&reference, true);
            assert!(digits.len() == 12 && digits.bytes().all(|byte| byte.is_ascii_digit()), "{digits}");
            for text in [digits, derive_reference(&reference, false)] {
                assert!(text.len() == 12 && !text.starts_with('0'), "{text}");
                assert!(text.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit()));
            }
        }
    }
}
