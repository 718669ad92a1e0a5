//! Values of facts. There are no floats: a number is a whole number of ten-thousandths.

use tillgate_domain::ip_text;
use tillgate_domain::spelling::{fold_domain, fold_mail_part, fold_phone, fold_text};

/// The number of parts of a whole in [`Value::Number`].
pub(crate) const SCALE: i128 = 10_000;
/// Decimals of a number at most.
const DECIMALS: usize = 4;
/// Digits before the decimals at most.
const WHOLE_DIGITS: usize = 15;

/// A value of a fact, or one that a condition compares with.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Value {
    /// A text in one spelling: lowercase letters, and one form of each character.
    Text(String),
    /// Ten-thousandths of a number or amount; seconds of a duration; minutes since midnight.
    Number(i128),
    /// True or false.
    Flag(bool),
}

impl Value {
    /// Creates a text, for which case, width and invisible characters are ignored.
    pub(crate) fn from_text(text: &str) -> Self {
        Self::Text(fold_text(text))
    }

    /// Creates a text of the fact with this name. Mail addresses, domains, telephone numbers and IP addresses have one
    /// spelling each.
    pub(crate) fn from_named_text(name: &str, text: &str) -> Self {
        let folded = match name.rsplit('.').next().unwrap_or_default() {
            "email" => fold_mail_part(text),
            "domain" => fold_domain(text),
            "phone" | "mobile" | "workPhone" | "fax" => fold_phone(text),
            "ip" => ip_text::parse_address(text).map_or_else(|| fold_text(text), |address| address.to_string()),
            "network" => match ip_text::parse_network(text) {
                Ok(network) if text.contains('/') => network.trunc().to_string(),
                _ => fold_text(text),
            },
            _ => fold_text(text),
        };
        // A text of invisible characters only would be contained in every other one.
        Self::Text(if folded.is_empty() { text.to_lowercase() } else { folded })
    }

    /// Creates a whole number.
    pub(crate) fn from_whole(number: impl Into<i128>) -> Self {
        Self::Number(number.into().saturating_mul(SCALE))
    }

    /// Creates an amount from its hundredths.
    pub(crate) fn from_hundredths(hundredths: i64) -> Self {
        Self::Number(i128::from(hundredths) * (SCALE / 100))
    }

    /// Returns the text of a text.
    pub(crate) fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }
}

/// The values of a fact for one payment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum FactSlot {
    /// The fact is not known.
    Missing,
    /// Its value.
    One(Value),
    /// Its values, one of each item. At least one.
    Many(Vec<Value>),
}

impl FactSlot {
    /// Returns true if the fact is not known.
    pub(crate) fn is_missing(&self) -> bool {
        matches!(self, Self::Missing)
    }

    /// Returns true if a test is true for one of the values.
    pub(crate) fn any_value(&self, mut test: impl FnMut(&Value) -> bool) -> bool {
        match self {
            Self::Missing => false,
            Self::One(value) => test(value),
            Self::Many(values) => values.iter().any(test),
        }
    }

    /// Returns the value of a fact that has one.
    pub(crate) fn single_value(&self) -> Option<&Value> {
        match self {
            Self::One(value) => Some(value),
            _ => None,
        }
    }
}

impl From<Option<Value>> for FactSlot {
    fn from(value: Option<Value>) -> Self {
        value.map_or(Self::Missing, Self::One)
    }
}

/// Reads a decimal number with an optional sign as ten-thousandths. Returns `None` for anything else, for more than 15
/// digits before and for more than 4 digits after the dot.
pub(crate) fn parse_decimal(text: &str) -> Option<i128> {
    let (negative, digits) = match text.as_bytes().first()? {
        b'-' => (true, text.get(1..)?),
        b'+' => (false, text.get(1..)?),
        _ => (false, text),
    };
    let (whole, decimals) = digits.split_once('.').unwrap_or((digits, "0"));
    let has_digits =
        |part: &str, most: usize| (1..=most).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit());
    if !has_digits(whole, WHOLE_DIGITS) || !has_digits(decimals, DECIMALS) {
        return None;
    }
    let parts = format!("{decimals:0<DECIMALS$}").parse::<i128>().ok()?;
    let number = whole.parse::<i128>().ok()? * SCALE + parts;
    Some(if negative { -number } else { number })
}
