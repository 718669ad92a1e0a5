//! Countries: ISO 3166-1 alpha-2, two uppercase letters.

use std::borrow::Cow;
use std::str::FromStr as _;

use super::digits;

/// Format; the letters must also be a country's.
pub const PATTERN: &str = "^[A-Z]{2}$";

/// Checks a country code. Kosovo has no code in the standard, so `XK` is accepted, as is usual.
///
/// # Errors
/// The message for `parameterErrors`.
pub fn check(value: &str) -> Result<(), Cow<'static, str>> {
    let known = value.len() == 2
        && value.bytes().all(|byte| byte.is_ascii_uppercase())
        && (value == "XK" || iso_currency::Country::from_str(value).is_ok());
    if known { Ok(()) } else { Err(Cow::Borrowed("must be an ISO 3166-1 country code of two uppercase letters")) }
}

/// Format of a country code in letters of either case.
pub const ANY_CASE_PATTERN: &str = "^[a-zA-Z]{2}$";
/// Format of a country code in letters of either case, or in three digits.
pub const OR_NUMBER_PATTERN: &str = "^([a-zA-Z]{2}|[0-9]{3})$";

/// Checks a country code in letters of either case.
///
/// # Errors
/// The message for `parameterErrors`.
pub fn check_any_case(value: &str) -> Result<(), Cow<'static, str>> {
    let known = match value.as_bytes() {
        [a, b] => {
            let capitals = [a.to_ascii_uppercase(), b.to_ascii_uppercase()];
            std::str::from_utf8(&capitals).is_ok_and(|code| check(code).is_ok())
        }
        _ => false,
    };
    if known { Ok(()) } else { Err(Cow::Borrowed("must be an ISO 3166-1 country code of two letters")) }
}

/// Checks a country code: two letters of a country in either case, or any three digits.
///
/// # Errors
/// The message for `parameterErrors`.
pub fn check_letters_or_number(value: &str) -> Result<(), Cow<'static, str>> {
    if value.len() == 3 && digits::has_only_digits(value) || check_any_case(value).is_ok() {
        Ok(())
    } else {
        Err(Cow::Borrowed("must be an ISO 3166-1 country code of two letters or three digits"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn some_parameters_take_small_letters_or_a_number() {
        for good in ["DE", "de", "xK"] {
            assert!(check_any_case(good).is_ok() && check_letters_or_number(good).is_ok(), "{good}");
        }
        for bad in ["", "D", "DEU", "zz", "D1", "日"] {
            assert!(check_any_case(bad).is_err() && check_letters_or_number(bad).is_err(), "{bad}");
        }
        assert!(
            check_any_case("276").is_err()
                && check_letters_or_number("276").is_ok()
                && check_letters_or_number("0276").is_err()
        );
    }

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
