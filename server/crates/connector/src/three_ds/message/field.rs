//! Formats of data elements (EMV 3-D Secure, table A.1), and their checks. A failed check names the element and never
//! shows its value, because that may be a card number.

use axum::http::Uri;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::error_message::{ErrorCode, MessageError};

/// Length of an authentication value: 20 bytes in base64.
const AUTHENTICATION_VALUE_LENGTH: usize = 28;

/// Format of a data element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FieldFormat {
    /// A transaction id: a UUID of 36 characters (RFC 9562).
    TransactionId,
    /// Characters without control characters, at least one and at most this many.
    Text(usize),
    /// Digits, from the first to the second number of them.
    Digits(usize, usize),
    /// One of these codes.
    Code(&'static [&'static str]),
    /// Two digits, or two letters or digits that a scheme has defined.
    TwoDigits,
    /// An absolute address with at most this many characters: https, or http on this machine.
    Url(usize),
    /// A date and time in UTC, `YYYYMMDDHHMMSS`.
    DateTime,
    /// An authentication value: 20 bytes in base64.
    AuthenticationValue,
}

impl FieldFormat {
    /// Returns true if a value has this format.
    pub(super) fn allows(self, value: &str) -> bool {
        let has_digits = |min: usize, max: usize| {
            (min..=max).contains(&value.len()) && value.bytes().all(|byte| byte.is_ascii_digit())
        };
        match self {
            Self::TransactionId => is_transaction_id(value),
            Self::Text(max) => {
                !value.is_empty() && value.chars().count() <= max && !value.chars().any(char::is_control)
            }
            Self::Digits(min, max) => has_digits(min, max),
            Self::Code(codes) => codes.contains(&value),
            Self::TwoDigits => has_digits(2, 2),
            Self::Url(max) => value.len() <= max && is_allowed_url(value),
            Self::DateTime => has_digits(14, 14) && is_date_time(value),
            Self::AuthenticationValue => {
                value.len() == AUTHENTICATION_VALUE_LENGTH
                    && STANDARD.decode(value).is_ok_and(|bytes| bytes.len() == 20)
            }
        }
    }
}

/// Returns true if a text is a UUID in its usual form, with digits of either case.
pub fn is_transaction_id(text: &str) -> bool {
    text.len() == 36
        && text.bytes().enumerate().all(|(index, byte)| match index {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

/// Returns true if two transaction ids are the same. Systems write their digits in different cases.
pub fn is_same_transaction(one: &str, other: &str) -> bool {
    one.eq_ignore_ascii_case(other)
}

/// Returns true if browsers or this gateway may be sent to this address: `https://…`, or `http://…` on this machine.
/// An address with a user, and one with other characters than visible ASCII, is refused.
pub fn is_allowed_url(text: &str) -> bool {
    crate::web::address::is_redirect_allowed(text) && url_origin(text).is_some()
}

/// Returns the origin of an address, such as `https://acs.example`, as a content security policy names it. `None` if
/// the address has no host, or one that a policy cannot name.
pub fn url_origin(text: &str) -> Option<String> {
    let uri = text.parse::<Uri>().ok()?;
    let (scheme, authority) = (uri.scheme_str()?, uri.authority()?);
    // A policy separates its parts by these characters.
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._:[]".contains(&byte);
    authority.as_str().bytes().all(is_plain).then(|| format!("{scheme}://{authority}").to_ascii_lowercase())
}

fn is_date_time(digits: &str) -> bool {
    jiff::civil::DateTime::strptime("%Y%m%d%H%M%S", digits).is_ok()
}

/// Checks a required data element.
///
/// # Errors
/// 203 with the name of the element.
pub(super) fn check_field(name: &'static str, value: &str, format: FieldFormat) -> Result<(), MessageError> {
    if format.allows(value) { Ok(()) } else { Err(MessageError::new(ErrorCode::InvalidFormat, name)) }
}

/// Checks a data element that may be missing.
///
/// # Errors
/// 203 with the name of the element.
pub(super) fn check_optional(name: &'static str, value: Option<&str>, format: FieldFormat) -> Result<(), MessageError> {
    value.map_or(Ok(()), |value| check_field(name, value, format))
}

/// Checks a data element that has to be present in this message.
///
/// # Errors
/// 201 if it is missing, 203 if it has another format; each with the name of the element.
pub(super) fn check_required(name: &'static str, value: Option<&str>, format: FieldFormat) -> Result<(), MessageError> {
    match value {
        Some(value) => check_field(name, value, format),
        None => Err(MessageError::new(ErrorCode::MissingElement, name)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transaction_id_is_a_uuid() {
        assert!(is_transaction_id("8a880dc0-d2d2-4067-bcb1-b08d1690b26e"));
        assert!(is_transaction_id("8A880DC0-D2D2-4067-BCB1-B08D1690B26E"));
        for wrong in [
            "",
            "8a880dc0d2d24067bcb1b08d1690b26e",
            "8a880dc0-d2d2-4067-bcb1-b08d1690b26",
            "8a880dc0-d2d2-4067-bcb1-b08d1690b26g",
            "8a880dc0-d2d2-4067-bcb1-b08d1690b26e ",
            "8a880dc0-d2d2-4067-bcb1_b08d1690b26e",
            "éa880dc0-d2d2-4067-bcb1-b08d1690b26",
        ] {
            assert!(!is_transaction_id(wrong), "{wrong}");
        }
    }

    #[test]
    fn an_address_is_https_or_this_machine_and_fits_into_a_policy() {
        for (url, origin) in [
            ("https://acs.example/challenge?x=1", Some("https://acs.example")),
            ("https://ACS.example:8443/", Some("https://acs.example:8443")),
            ("http://127.0.0.1:9000/acs", Some("http://127.0.0.1:9000")),
            ("http://[::1]:9000/acs", Some("http://[::1]:9000")),
        ] {
            assert!(is_allowed_url(url), "{url}");
            assert_eq!(url_origin(url).as_deref(), origin);
        }
        for url in [
            "javascript:alert(1)",
            "data:text/html,x",
            "http://acs.example/",
            "https://user@acs.example/",
            "//acs.example/",
            "https://acs.example/ x",
            "https://a;script-src*/x",
            "https://*/x",
            "https://'self'/x",
            "blob:https://acs.example/1",
            "",
        ] {
            assert!(!is_allowed_url(url), "{url}");
        }
    }

    #[test]
    fn formats_have_their_limits() {
        for (format, good, bad) in [
            (FieldFormat::Text(3), "äöü", "äöüx"),
            (FieldFormat::Text(3), "a b", "a\nb"),
            (FieldFormat::Text(3), "a", ""),
            (FieldFormat::Digits(13, 19), "4200000000000", "420000000000"),
            (FieldFormat::Digits(13, 19), "4200000000000000000", "42000000000000000000"),
            (FieldFormat::Digits(1, 3), "12", "1x"),
            (FieldFormat::Code(&["Y", "N"]), "N", "n"),
            (FieldFormat::TwoDigits, "05", "5"),
            (FieldFormat::DateTime, "20260228235959", "20260230000000"),
            (FieldFormat::DateTime, "20260228235959", "2026022823595"),
            (FieldFormat::AuthenticationValue, "AAACAgSRBklmQCFgMpEGAAAAAAA=", "AAACAgSRBklmQCFgMpEGAAAAAAAA"),
            (FieldFormat::AuthenticationValue, "AAACAgSRBklmQCFgMpEGAAAAAAA=", "AAAC"),
        ] {
            assert!(format.allows(good), "{format:?} {good}");
            assert!(!format.allows(bad), "{format:?} {bad}");
        }
    }
}
