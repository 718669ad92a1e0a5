//! Identifiers. Each begins with the time, which keeps inserts at the end of the store's B-trees, and ends with random
//! bits. The caller passes the random bits, so that creating an id is a pure function.

mod hex;

use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use hex::push_hex;
pub use hex::{decode_hex, to_hex};

macro_rules! identifier {
    ($(#[$doc:meta])* $name:ident, $valid:expr) => {
        identifier!($(#[$doc])* #[derive(Debug)] $name is, $valid);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
    ($(#[$doc:meta])* capability $name:ident, $valid:expr) => {
        identifier!($(#[$doc])* $name is, $valid);

        // There is no `Display`, so that a capability is not logged by accident.
        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}({})", stringify!($name), log_tag(&self.0))
            }
        }
    };
    ($(#[$doc:meta])* $name:ident is, $valid:expr) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(String);

        impl $name {
            /// Parses an identifier from a request. Returns `None` if it does not have the form of our identifiers.
            pub fn parse(text: &str) -> Option<Self> {
                let valid: fn(&str) -> bool = $valid;
                valid(text).then(|| Self(text.to_owned()))
            }

            /// Returns the identifier as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }
    };
}

/// Returns true if a text consists of 32 lowercase hexadecimal digits.
fn is_lower_hex_32(text: &str) -> bool {
    text.len() == 32 && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
}

identifier!(
    /// A merchant or channel entity: 32 lowercase hexadecimal characters (specification, document 1).
    EntityId,
    is_lower_hex_32
);

identifier!(
    /// A payment: 32 lowercase hexadecimal characters. They consist of `8a`, the time in milliseconds and 72 random
    /// bits.
    PaymentId,
    is_lower_hex_32
);

identifier!(
    /// A registration (stored payment data): 32 lowercase hexadecimal characters in the same format as a payment id.
    RegistrationId,
    is_lower_hex_32
);

identifier!(
    /// A message to a merchant: 32 lowercase hexadecimal characters in the same format as a payment id.
    MessageId,
    is_lower_hex_32
);

identifier!(
    /// A schedule, or a change of one: 32 lowercase hexadecimal characters in the same format as a payment id.
    ScheduleId,
    is_lower_hex_32
);

identifier!(
    /// A reconciliation record: 32 lowercase hexadecimal characters in the same format as a payment id.
    RecordId,
    is_lower_hex_32
);

identifier!(
    /// A dispute: 32 lowercase hexadecimal characters in the same format as a payment id.
    DisputeId,
    is_lower_hex_32
);

identifier!(
    /// An evidence file of a dispute: 32 lowercase hexadecimal characters in the same format as a payment id.
    EvidenceId,
    is_lower_hex_32
);

identifier!(
    /// A user of the back office: 32 lowercase hexadecimal characters in the same format as a payment id.
    UserId,
    is_lower_hex_32
);

identifier!(
    /// A request for a second person: 32 lowercase hexadecimal characters in the same format as a payment id.
    ApprovalId,
    is_lower_hex_32
);

identifier!(
    /// A checkout: 32 uppercase hexadecimal characters, a dot and the name of the node that created it. The id is a
    /// capability: anyone who knows it may pay, so 80 of its bits are random.
    capability CheckoutId,
    |text| {
        text.split_once('.').is_some_and(|(hex, node)| {
            hex.len() == 32
                && hex.bytes().all(|b| matches!(b, b'0'..=b'9' | b'A'..=b'F'))
                && is_node_name(node)
        })
    }
);

identifier!(
    /// A page that a shopper visits while a payment is pending: the time and 128 random bits, in lowercase hexadecimal
    /// characters. The id is a capability and differs from the payment's id, because anyone who knows it decides about
    /// the payment.
    capability PageId,
    |text| (32..=44).contains(&text.len()) && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
);

/// Returns true if a text is a valid node name: 1 to 15 lowercase letters, digits and hyphens, so that a checkout id
/// has at most the 48 characters of the specification.
pub fn is_node_name(text: &str) -> bool {
    (1..=15).contains(&text.len()) && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'z' | b'-'))
}

/// Implements identifiers that consist of 32 digits: `8a`, the time in milliseconds and 72 random bits.
macro_rules! timed_identifiers {
    ($($name:ident)*) => {
        $(impl $name {
            /// Creates a new id.
            pub fn new(now: Timestamp, random: [u8; 9]) -> Self {
                Self(timed_hex(now, random))
            }
        })*
    };
}

/// Implements the way back from such an identifier to its time.
macro_rules! identifiers_with_time {
    ($($name:ident)*) => {
        $(impl $name {
            /// Returns the time at the beginning of the id, or `None` if that is not a valid time.
            pub fn creation_time(&self) -> Option<Timestamp> {
                parse_time(self.0.get(2..14)?)
            }
        })*
    };
}

timed_identifiers!(ApprovalId DisputeId EntityId EvidenceId MessageId PaymentId RecordId RegistrationId ScheduleId UserId);
identifiers_with_time!(MessageId PaymentId RecordId RegistrationId);

impl RecordId {
    /// Creates the id of a new record, of which several have the same time. Their numbers take the place of the first
    /// random bytes, so that the ids are in the order of the numbers.
    pub fn with_number(now: Timestamp, number: u32, mut random: [u8; 9]) -> Self {
        for (byte, counted) in random.iter_mut().zip(number.to_be_bytes()) {
            *byte = counted;
        }
        Self::new(now, random)
    }
}

impl PaymentId {
    /// Returns the twelve digits that shoppers see on a statement, `dddd.dddd.dddd`: nine digits of the second in
    /// which the payment was created and three from the random end of the id. A payment is found among those of the
    /// same second without an index. Two payments of one second may have the same short id.
    pub fn short_id(&self) -> String {
        let number = |from: usize, to: usize| {
            u64::from_str_radix(self.0.get(from..to).unwrap_or_default(), 16).unwrap_or_default()
        };
        let (second, tail) = (number(2, 14) / 1000 % SHORT_ID_PERIOD, number(20, 32) % 1000);
        format!("{:04}.{:04}.{}{tail:03}", second / 100_000, second / 10 % 10_000, second % 10)
    }

    /// Returns the seconds in which a payment with a short id can have been created, the latest first. There can be
    /// several, because the nine digits repeat every 31 years, and none if the only one is after `now`, which is the
    /// latest possible time of an id. Returns `None` if the text is not a short id.
    pub fn seconds_of_short_id(short_id: &str, now: Timestamp) -> Option<Vec<Timestamp>> {
        let groups: Vec<&str> = short_id.split('.').collect();
        let is_short_id = groups.len() == 3
            && groups.iter().all(|group| group.len() == 4 && group.bytes().all(|byte| byte.is_ascii_digit()));
        let second: i64 = is_short_id.then(|| groups.concat())?.get(..9)?.parse().ok()?;
        let rounds = (now.as_second() - second).div_euclid(SHORT_ID_PERIOD.cast_signed());
        let moment = |round: i64| Timestamp::from_second(second + round * SHORT_ID_PERIOD.cast_signed()).ok();
        Some((0..=rounds).rev().filter_map(moment).collect())
    }

    /// Returns the id of the payment's risk check in events. It is derived from this id, so all events of one check
    /// have the same.
    pub fn risk_check_id(&self) -> String {
        let digest = Sha256::new().chain_update(b"tillgate risk check\n").chain_update(&self.0).finalize();
        format!("{}{}", self.0.get(..14).unwrap_or_default(), to_hex(&digest[..9]))
    }

    /// Returns the next higher possible id, or the id itself if it is the highest.
    #[must_use]
    pub fn successor(&self) -> Self {
        match u128::from_str_radix(&self.0, 16).ok().and_then(|number| number.checked_add(1)) {
            Some(next) => Self(format!("{next:032x}")),
            None => self.clone(),
        }
    }
}

/// Seconds after which the first nine digits of a short id repeat.
const SHORT_ID_PERIOD: u64 = 1_000_000_000;

impl CheckoutId {
    /// Creates the id of a new checkout on a node. The caller has checked `node` with [`is_node_name`].
    pub fn new(now: Timestamp, random: [u8; 10], node: &str) -> Self {
        let mut id = format!("{:012X}", unix_milliseconds(now));
        push_hex(&mut id, &random, b"0123456789ABCDEF");
        id.push('.');
        id.push_str(node);
        Self(id)
    }

    /// Returns the beginning of the checkout ids of this millisecond: twelve uppercase hexadecimal digits, which sort
    /// before every id of this moment or later.
    pub fn lowest_prefix(moment: Timestamp) -> String {
        format!("{:012X}", unix_milliseconds(moment))
    }

    /// Returns the time at the beginning of the id, or `None` if that is not a valid time.
    pub fn creation_time(&self) -> Option<Timestamp> {
        parse_time(self.0.get(..12)?)
    }
}

impl PageId {
    /// Creates the id of a new page.
    pub fn new(now: Timestamp, random: [u8; 16]) -> Self {
        Self(format!("{:012x}{}", unix_milliseconds(now), to_hex(&random)))
    }
}

/// Formats `8a`, 48 bits of time in milliseconds and 72 random bits as 32 lowercase hexadecimal characters.
fn timed_hex(now: Timestamp, random: [u8; 9]) -> String {
    let mut id = format!("8a{:012x}", unix_milliseconds(now));
    push_hex(&mut id, &random, b"0123456789abcdef");
    id
}

/// Length of a log tag, in hexadecimal digits.
const LOG_TAG_LENGTH: usize = 12;

/// Returns the name of an id in log lines: the first twelve digits of its SHA-256. The lines of a checkout can be
/// found by anyone who has its id (`printf %s ID | sha256sum`), but the id cannot be derived from the lines.
pub fn log_tag(id: &str) -> String {
    to_hex(&Sha256::digest(id.as_bytes())[..LOG_TAG_LENGTH / 2])
}

/// Returns the log tag of the first path segment that has the form of a checkout or page id, or `None` if there is
/// none. Other segments are not logged, because they may be anything, even a card number.
pub fn log_tag_of_path(path: &str) -> Option<String> {
    let is_id = |segment: &&str| PageId::parse(segment).is_some() || CheckoutId::parse(segment).is_some();
    path.split('/').find(is_id).map(log_tag)
}

/// Parses the time in an id, twelve hexadecimal digits of milliseconds. Returns `None` if they are not digits or beyond
/// the calendar.
fn parse_time(digits: &str) -> Option<Timestamp> {
    Timestamp::from_millisecond(i64::from_str_radix(digits, 16).ok()?).ok()
}

/// Returns the lowest 48 bits of the milliseconds since 1970, and 0 for earlier times.
fn unix_milliseconds(now: Timestamp) -> u64 {
    now.as_millisecond().max(0).cast_unsigned() & 0xffff_ffff_ffff
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_payment_id_is_32_lowercase_hex_digits_that_begin_with_8a_and_sort_by_time() {
        let early = PaymentId::new(Timestamp::from_millisecond(1_700_000_000_000).unwrap(), [255; 9]);
        let late = PaymentId::new(Timestamp::from_millisecond(1_700_000_000_001).unwrap(), [0; 9]);
        assert!(early.as_str().starts_with("8a") && early < late);
        assert_eq!(PaymentId::parse(early.as_str()), Some(early));
    }

    #[test]
    fn a_checkout_id_is_32_uppercase_hex_digits_a_dot_and_the_node() {
        let id = CheckoutId::new(Timestamp::UNIX_EPOCH, [0xab; 10], "tx01");
        assert_eq!(id.as_str(), "000000000000ABABABABABABABABABAB.tx01");
        assert_eq!(CheckoutId::parse(id.as_str()), Some(id));
        for bad in ["", ".tx01", "000000000000ABABABABABABABABABAB", "000000000000abababababababababab.tx01"] {
            assert_eq!(CheckoutId::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_capability_is_not_printed_and_its_log_tag_tells_it_from_others() {
        let id = CheckoutId::new(Timestamp::UNIX_EPOCH, [0xab; 10], "tx01");
        assert_eq!(format!("{id:?}"), format!("CheckoutId({})", log_tag(id.as_str())));
        assert_eq!(log_tag_of_path(&format!("/v1/checkouts/{}/payment", id.as_str())), Some(log_tag(id.as_str())));
        assert_ne!(log_tag("000000000000ABABABABABABABABABAB.tx02"), log_tag(id.as_str()));
        for path in
            ["/v1/payments/4111111111111111", "/v1/checkouts", "/", "/v1/clock/4111 1111 1111 1111 1111 1111 1111"]
        {
            assert_eq!(log_tag_of_path(path), None, "{path}");
        }
        assert_eq!(log_tag("abc"), "ba7816bf8f01");
    }

    #[test]
    fn an_id_tells_its_time() {
        let created = Timestamp::from_millisecond(1_700_000_000_001).unwrap();
        assert_eq!(PaymentId::new(created, [255; 9]).creation_time(), Some(created));
        assert_eq!(RegistrationId::new(created, [0; 9]).creation_time(), Some(created));
        assert_eq!(MessageId::new(created, [7; 9]).creation_time(), Some(created));
        let checkout = CheckoutId::new(created, [0; 10], "tx01");
        assert_eq!(checkout.creation_time(), Some(created));
        assert!(*CheckoutId::lowest_prefix(created) < *checkout.as_str());
        // Beyond the range of representable times.
        assert_eq!(PaymentId::parse("8affffffffffff000000000000000000").unwrap().creation_time(), None);
    }

    #[test]
    fn a_short_id_is_three_groups_of_four_digits() {
        let id = PaymentId::new(Timestamp::UNIX_EPOCH, [7; 9]);
        let short = id.short_id();
        assert!(short.len() == 14 && short.split('.').all(|g| g.len() == 4));
    }
}
