//! Identifiers. They begin with the time, which keeps inserts at the end of the store's trees, and end in random
//! bits that the caller brings along, so that making one stays a pure function.

use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

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

        // No `Display`: an id that opens something is written to no log by accident.
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
            /// Reads an identifier from the wire; `None` when it cannot be one of ours.
            pub fn parse(text: &str) -> Option<Self> {
                let valid: fn(&str) -> bool = $valid;
                valid(text).then(|| Self(text.to_owned()))
            }

            /// The identifier as it travels.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }
    };
}

fn is_lower_hex_32(text: &str) -> bool {
    text.len() == 32 && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
}

identifier!(
    /// A merchant or channel entity: 32 lowercase hexadecimal characters (specification, document 1).
    EntityId,
    is_lower_hex_32
);

identifier!(
    /// A payment: 32 lowercase hexadecimal characters that begin with `8a`, then the time in milliseconds, then 72
    /// random bits.
    PaymentId,
    is_lower_hex_32
);

identifier!(
    /// A registration, stored payment data: 32 lowercase hexadecimal characters, made as a payment's id is.
    RegistrationId,
    is_lower_hex_32
);

identifier!(
    /// A message to a merchant: 32 lowercase hexadecimal characters, made as a payment's id is.
    MessageId,
    is_lower_hex_32
);

identifier!(
    /// A checkout: 32 uppercase hexadecimal characters, a dot and the name of the node that made it. It is a
    /// capability: whoever knows it may pay, so 80 of its bits are random.
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
    /// A page that a shopper visits while a payment is pending: the time, then 128 random bits, in lowercase hexadecimal
    /// characters. It is a capability of its own, and no payment's id: whoever knows it decides about the payment.
    capability PageId,
    |text| (32..=44).contains(&text.len()) && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
);

/// Whether a text can name a node: 1 to 15 lowercase letters, digits and hyphens, so that a checkout id stays within
/// the specification's 48 characters.
pub fn is_node_name(text: &str) -> bool {
    (1..=15).contains(&text.len()) && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'z' | b'-'))
}

impl EntityId {
    /// A new entity's id.
    pub fn new(now: Timestamp, random: [u8; 9]) -> Self {
        Self(timed_hex(now, random))
    }
}

impl RegistrationId {
    /// A new registration's id.
    pub fn new(now: Timestamp, random: [u8; 9]) -> Self {
        Self(timed_hex(now, random))
    }

    /// Returns the time that it begins with, or `None` if that is no time of ours.
    pub fn time(&self) -> Option<Timestamp> {
        time_of(self.0.get(2..14)?)
    }
}

impl MessageId {
    /// A new message's id.
    pub fn new(now: Timestamp, random: [u8; 9]) -> Self {
        Self(timed_hex(now, random))
    }

    /// Returns the time that it begins with, or `None` if that is no time of ours.
    pub fn time(&self) -> Option<Timestamp> {
        time_of(self.0.get(2..14)?)
    }
}

impl PaymentId {
    /// A new payment's id.
    pub fn new(now: Timestamp, random: [u8; 9]) -> Self {
        Self(timed_hex(now, random))
    }

    /// Returns the time that it begins with, or `None` if that is no time of ours.
    pub fn time(&self) -> Option<Timestamp> {
        time_of(self.0.get(2..14)?)
    }

    /// The twelve digits that shoppers see on a statement, `dddd.dddd.dddd`: nine of the second in which the payment was
    /// made and three of the id's random end. So a payment is found by them among those of one second, without an index;
    /// two of one second may share them.
    pub fn short_id(&self) -> String {
        let number = |from: usize, to: usize| {
            u64::from_str_radix(self.0.get(from..to).unwrap_or_default(), 16).unwrap_or_default()
        };
        let (second, tail) = (number(2, 14) / 1000 % SHORT_SECONDS, number(20, 32) % 1000);
        let digits = format!("{second:09}{tail:03}");
        format!("{}.{}.{}", &digits[..4], &digits[4..8], &digits[8..])
    }

    /// The seconds, not after now, in which a payment with a short id can have been made, the latest first: its nine
    /// digits come again every 31 years. `now` is the latest time that ids can have. `None` when it is no short id.
    pub fn seconds_of_short_id(short_id: &str, now: Timestamp) -> Option<Vec<Timestamp>> {
        let groups: Vec<&str> = short_id.split('.').collect();
        let shaped = groups.len() == 3
            && groups.iter().all(|group| group.len() == 4 && group.bytes().all(|byte| byte.is_ascii_digit()));
        let second: i64 = shaped.then(|| groups.concat())?.get(..9)?.parse().ok()?;
        let rounds = (now.as_second() - second).div_euclid(SHORT_SECONDS.cast_signed());
        let moment = |round: i64| Timestamp::from_second(second + round * SHORT_SECONDS.cast_signed()).ok();
        Some((0..=rounds).rev().filter_map(moment).collect())
    }

    /// The next id there can be.
    #[must_use]
    pub fn successor(&self) -> Self {
        match u128::from_str_radix(&self.0, 16).ok().and_then(|number| number.checked_add(1)) {
            Some(next) => Self(format!("{next:032x}")),
            None => self.clone(),
        }
    }
}

/// Seconds after which the first nine digits of a short id begin again.
const SHORT_SECONDS: u64 = 1_000_000_000;

impl CheckoutId {
    /// A new checkout's id on a node; `node` has been checked with [`is_node_name`].
    pub fn new(now: Timestamp, random: [u8; 10], node: &str) -> Self {
        let mut id = format!("{:012X}", milliseconds(now));
        push_hex(&mut id, &random, b"0123456789ABCDEF");
        id.push('.');
        id.push_str(node);
        Self(id)
    }

    /// Returns what no checkout's id of this moment or later comes before.
    pub fn first(moment: Timestamp) -> String {
        format!("{:012X}", milliseconds(moment))
    }

    /// Returns the time that it begins with, or `None` if that is no time of ours.
    pub fn time(&self) -> Option<Timestamp> {
        time_of(self.0.get(..12)?)
    }
}

impl PageId {
    /// A new page's id.
    pub fn new(now: Timestamp, random: [u8; 16]) -> Self {
        Self(format!("{:012x}{}", milliseconds(now), hex(&random)))
    }
}

/// `8a`, 48 bits of time in milliseconds, then the random bytes: 32 lowercase hexadecimal characters.
fn timed_hex(now: Timestamp, random: [u8; 9]) -> String {
    let mut id = format!("8a{:012x}", milliseconds(now));
    push_hex(&mut id, &random, b"0123456789abcdef");
    id
}

/// Length of a log tag, in hexadecimal digits.
const LOG_TAG: usize = 12;

/// Returns the name of an id in log lines: the first twelve digits of its SHA-256, so that the lines of one checkout are
/// found by who has its id, and the id by nobody (`printf %s ID | sha256sum`).
pub fn log_tag(id: &str) -> String {
    hex(&Sha256::digest(id.as_bytes())[..LOG_TAG / 2])
}

/// Returns the log tag of the first segment of a path that has the form of an id. Other segments may be anything, a card
/// number too.
pub fn log_tag_of_path(path: &str) -> Option<String> {
    let is_id = |segment: &&str| PageId::parse(segment).is_some() || CheckoutId::parse(segment).is_some();
    path.split('/').find(is_id).map(log_tag)
}

/// Bytes as lowercase hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() * 2);
    push_hex(&mut text, bytes, b"0123456789abcdef");
    text
}

fn push_hex(text: &mut String, bytes: &[u8], digits: &[u8; 16]) {
    for byte in bytes {
        text.push(char::from(digits[usize::from(byte >> 4)]));
        text.push(char::from(digits[usize::from(byte & 15)]));
    }
}

/// Reads the time in an id, twelve hexadecimal digits.
fn time_of(digits: &str) -> Option<Timestamp> {
    Timestamp::from_millisecond(i64::from_str_radix(digits, 16).ok()?).ok()
}

fn milliseconds(now: Timestamp) -> u64 {
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
        let made = Timestamp::from_millisecond(1_700_000_000_001).unwrap();
        assert_eq!(PaymentId::new(made, [255; 9]).time(), Some(made));
        assert_eq!(RegistrationId::new(made, [0; 9]).time(), Some(made));
        assert_eq!(MessageId::new(made, [7; 9]).time(), Some(made));
        let checkout = CheckoutId::new(made, [0; 10], "tx01");
        assert_eq!(checkout.time(), Some(made));
        assert!(*CheckoutId::first(made) < *checkout.as_str());
        // Beyond the calendar.
        assert_eq!(PaymentId::parse("8affffffffffff000000000000000000").unwrap().time(), None);
    }

    #[test]
    fn a_short_id_is_three_groups_of_four_digits() {
        let id = PaymentId::new(Timestamp::UNIX_EPOCH, [7; 9]);
        let short = id.short_id();
        assert!(short.len() == 14 && short.split('.').all(|g| g.len() == 4));
    }
}
