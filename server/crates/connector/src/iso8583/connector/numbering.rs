//! Numbers of a request.
//!
//! The trace number of a payment comes from a sequence of this process, and is stored with the payment before its
//! request. Everything else follows from the reference, which is stored too, so whoever knows the payment knows its
//! numbers, also after a crash. Requests that are no payments of their own, such as the reversal of a payment without
//! an outcome, have a trace number that follows from their reference.

use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicU32, Ordering};

use jiff::Timestamp;
use sha2::{Digest as _, Sha256};
use tillgate_domain::id::PaymentId;
use tillgate_domain::payment::RequestPlace;
use tillgate_os::clock::{Clock as _, SystemClock};

/// Trace numbers. The lowest is 1: some hosts take 0 for a missing one.
pub(super) const TRACE_NUMBERS: RangeInclusive<u32> = 1..=999_999;
/// Characters of a retrieval reference number.
const REFERENCE_LENGTH: usize = 12;
/// Letters and digits that are hard to confuse (Crockford's base 32).
const LETTERS_AND_DIGITS: &[u8; 32] = b"ABCDEFGHJKMNPQRSTVWXYZ1234567890";
/// Digits.
const DIGITS: &[u8; 10] = b"1234567890";

/// A sequence of trace numbers, which begins again after its last number.
#[derive(Debug)]
pub(super) struct TraceSequence {
    numbers: RangeInclusive<u32>,
    next: AtomicU32,
}

impl TraceSequence {
    /// Begins a sequence of these numbers at a place that depends on the time, so that a restart does not use the
    /// numbers of the same second again.
    pub(super) fn new(numbers: RangeInclusive<u32>) -> Self {
        let start = SystemClock.now().as_millisecond().rem_euclid(i64::from(*TRACE_NUMBERS.end()));
        Self { numbers, next: AtomicU32::new(u32::try_from(start).unwrap_or_default()) }
    }

    /// Returns the next number.
    pub(super) fn next_number(&self) -> u32 {
        let (first, last) = (*self.numbers.start(), *self.numbers.end());
        // Only uniqueness counts, so no other memory has to be ordered with it.
        let count = self.next.fetch_add(1, Ordering::Relaxed);
        first + count % (last - first + 1)
    }
}

/// The trace number of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TraceNumber {
    /// The stored number.
    Stored(u32),
    /// A number that follows from the reference.
    Derived {
        /// 0, but for a request whose number was in use.
        attempt: u32,
    },
}

impl TraceNumber {
    /// Returns the number of a request with this place. `attempt` is 0, but for a request whose number was in use.
    pub(super) fn of_place(place: Option<&RequestPlace>, attempt: u32) -> Self {
        match place.and_then(|place| place.number) {
            Some(number) if attempt == 0 => Self::Stored(number),
            _ => Self::Derived { attempt },
        }
    }

    /// Returns the six digits of the number.
    pub(super) fn to_digits(self, reference: &str) -> String {
        let number = match self {
            Self::Stored(number) => u64::from(number),
            Self::Derived { attempt } => derive_trace_number(reference, attempt),
        };
        format!("{number:06}")
    }
}

fn derive_trace_number(reference: &str, attempt: u32) -> u64 {
    let digest = hash_text("trace", &format!("{attempt}\n{reference}"));
    let number = digest.iter().take(8).fold(0_u64, |number, byte| (number << 8) | u64::from(*byte));
    number % u64::from(*TRACE_NUMBERS.end()) + 1
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
    fn a_sequence_begins_again_after_its_last_number() {
        let sequence = TraceSequence::new(7..=9);
        let numbers: Vec<u32> = (0..6).map(|_| sequence.next_number()).collect();
        assert_eq!(numbers[..3], numbers[3..]);
        let mut sorted = numbers[..3].to_vec();
        sorted.sort_unstable();
        assert_eq!(sorted, [7, 8, 9]);
    }

    #[test]
    fn a_stored_number_is_used_until_it_is_found_in_use() {
        let place = |number| RequestPlace { system: "acquirer".to_owned(), number };
        let digits = |number, attempt| TraceNumber::of_place(Some(&place(number)), attempt).to_digits(ID);
        assert_eq!(digits(Some(7), 0), "000007");
        assert_eq!(digits(Some(7), 1), digits(None, 1));
        assert_eq!(digits(None, 0), TraceNumber::of_place(None, 0).to_digits(ID));
    }

    #[test]
    fn other_numbers_follow_from_the_reference_alone() {
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
            let trace = TraceNumber::Derived { attempt: 0 }.to_digits(&reference);
            assert!(trace.len() == 6 && TRACE_NUMBERS.contains(&trace.parse().unwrap()), "{trace}");
            let digits = derive_reference(&reference, true);
            assert!(digits.len() == 12 && digits.bytes().all(|byte| byte.is_ascii_digit()), "{digits}");
            for text in [digits, derive_reference(&reference, false)] {
                assert!(text.len() == 12 && !text.starts_with('0'), "{text}");
                assert!(text.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit()));
            }
        }
    }
}
