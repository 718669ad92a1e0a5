//! Countries: ISO 3166-1 alpha-2, two uppercase letters.

use std::borrow::Cow;
use std::str::FromStr as _;

/// The shape; the letters must also be a country's.
pub const PATTERN: &str = "^[A-Z]{2}$";

/// Checks a country code. Kosovo has no code of the standard; the world uses `XK`, and so do we.
///
/// # Errors
/// The message for `parameterErrors`.
pub fn check(value: &str) -> Result<(), Cow<'static, str>> {
    let known = value.len() == 2
        && value.bytes().all(|byte| byte.is_ascii_uppercase())
        && (value == "XK" || iso_currency::Country::from_str(value).is_ok());
    if known { Ok(()) } else { Err(Cow::Borrowed("must be an ISO 3166-1 country code of two uppercase letters")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_standard_has_249_countries() {
        let letters = || 'A'..='Z';
        let known = letters()
            .flat_map(|a| letters().map(move |b| format!("{a}{b}")))
            .filter(|code| code != "XK" && check(code).is_ok())
            .count();
        assert_eq!(known, 249);
        for code in ["DE", "US", "SS", "CW", "BQ", "SX", "XK"] {
            assert_eq!(check(code), Ok(()), "{code}");
        }
        for code in ["", "D", "de", "DEU", "ZZ", "AA", "UK", "EU", "Ü"] {
            assert!(check(code).is_err(), "{code}");
        }
    }
}
