//! Values that consist of one class of characters: digits, letters, identifiers.

use std::borrow::Cow;

/// A class of ASCII characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// 0 to 9.
    Digits,
    /// A to Z.
    Uppercase,
    /// Letters of either case and digits.
    Alphanumeric,
    /// Letters, digits and underscores.
    Word,
    /// Letters, digits and hyphens, as in language tags.
    Tag,
    /// 0 to 9 and a to f.
    LowerHex,
    /// Letters of either case.
    Letters,
    /// The alphabet of Base64, padding included.
    Base64,
    /// Letters of either case, digits, plus, minus and dot, as in phone numbers with words.
    Dial,
    /// Letters of either case, digits, spaces and hyphens, as in postcodes.
    Postcode,
    /// The characters of a keyboard, including line breaks.
    Ascii,
}

/// Format of a difference in minutes.
pub const OFFSET_PATTERN: &str = r"^(?=.{1,5}$)[+-]?[0-9]+$";
const OFFSET_MESSAGE: &str = "must be a number of minutes with at most 5 characters";

/// Format of a protocol version.
pub const VERSION_PATTERN: &str = r"^[12]\.[0-9]\.[0-9]$";
const VERSION_MESSAGE: &str = r"must match ^[12]\.[0-9]\.[0-9]$";

/// Format of a chargeback's reason code.
pub const CHARGEBACK_PATTERN: &str = r"^000\.100\.2[0-9]{2}$";
const CHARGEBACK_MESSAGE: &str = r"must match ^000\.100\.2[0-9]{2}$";

impl Class {
    fn contains(self, byte: u8) -> bool {
        match self {
            Self::Digits => byte.is_ascii_digit(),
            Self::Uppercase => byte.is_ascii_uppercase(),
            Self::Alphanumeric => byte.is_ascii_alphanumeric(),
            Self::Word => byte.is_ascii_alphanumeric() || byte == b'_',
            Self::Tag => byte.is_ascii_alphanumeric() || byte == b'-',
            Self::LowerHex => matches!(byte, b'0'..=b'9' | b'a'..=b'f'),
            Self::Letters => byte.is_ascii_alphabetic(),
            Self::Base64 => byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'='),
            Self::Dial => byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.'),
            Self::Postcode => byte.is_ascii_alphanumeric() || matches!(byte, b' ' | b'-'),
            Self::Ascii => matches!(byte, b' '..=b'~' | b'\t' | b'\n' | b'\r'),
        }
    }

    /// Returns the same characters as a class of regular expressions, with brackets.
    fn regex_class(self) -> &'static str {
        match self {
            Self::Digits => "[0-9]",
            Self::Uppercase => "[A-Z]",
            Self::Alphanumeric => "[a-zA-Z0-9]",
            Self::Word => "[a-zA-Z0-9_]",
            Self::Tag => "[a-zA-Z0-9-]",
            Self::LowerHex => "[a-f0-9]",
            Self::Letters => "[a-zA-Z]",
            Self::Base64 => "[a-zA-Z0-9+/=]",
            Self::Dial => "[a-zA-Z0-9+.-]",
            Self::Postcode => "[a-zA-Z0-9 -]",
            Self::Ascii => r"[\t\n\r -~]",
        }
    }

    /// Returns the regular expression for `min` to `max` characters of this class.
    pub fn pattern(self, min: u16, max: u16) -> String {
        let class = self.regex_class();
        if min == max { format!("^{class}{{{min}}}$") } else { format!("^{class}{{{min},{max}}}$") }
    }

    /// Checks that a value has `min` to `max` characters of this class and nothing else.
    ///
    /// # Errors
    /// The message for `parameterErrors`.
    pub fn check_value(self, value: &str, min: u16, max: u16) -> Result<(), Cow<'static, str>> {
        let right_length = (usize::from(min)..=usize::from(max)).contains(&value.len());
        if right_length && value.bytes().all(|byte| self.contains(byte)) {
            Ok(())
        } else {
            Err(Cow::Owned(format!("must match {}", self.pattern(min, max))))
        }
    }
}

/// Checks a difference in minutes: an optional sign and digits, at most five characters in total.
///
/// # Errors
/// The message for `parameterErrors`.
pub fn check_offset(value: &str) -> Result<(), Cow<'static, str>> {
    let digits = value.strip_prefix(['+', '-']).unwrap_or(value);
    if !digits.is_empty() && value.len() <= 5 && super::digits::has_only_digits(digits) {
        Ok(())
    } else {
        Err(Cow::Borrowed(OFFSET_MESSAGE))
    }
}

/// Checks the version of the 3-D Secure protocol, such as `2.2.0`.
///
/// # Errors
/// The message for `parameterErrors`.
pub fn check_three_ds_version(value: &str) -> Result<(), Cow<'static, str>> {
    match value.as_bytes() {
        [b'1' | b'2', b'.', b'0'..=b'9', b'.', b'0'..=b'9'] => Ok(()),
        _ => Err(Cow::Borrowed(VERSION_MESSAGE)),
    }
}

/// Checks the reason code of a chargeback, such as `000.100.203`.
///
/// # Errors
/// The message for `parameterErrors`.
pub fn check_chargeback_code(value: &str) -> Result<(), Cow<'static, str>> {
    match value.strip_prefix("000.100.2").map(str::as_bytes) {
        Some([b'0'..=b'9', b'0'..=b'9']) => Ok(()),
        _ => Err(Cow::Borrowed(CHARGEBACK_MESSAGE)),
    }
}
