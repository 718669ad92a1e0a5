//! Dates: `yyyy-MM-dd`, and only days that exist.

use std::borrow::Cow;

use jiff::civil::Date;

use super::digits;

/// Format; the day must also exist.
pub const PATTERN: &str = "^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$";

/// Reads a date. Returns `None` for another format and for days that do not exist.
pub fn parse(value: &str) -> Option<Date> {
    let bytes = value.as_bytes();
    if bytes.len() != 10 || bytes[4] != b'-' || bytes[7] != b'-' {
        return None;
    }
    let part = |range| value.get(range).filter(|part| digits::has_only_digits(part));
    let year = part(0..4)?.parse().ok()?;
    let month = part(5..7)?.parse().ok()?;
    Date::new(year, month, part(8..10)?.parse().ok()?).ok()
}

/// Checks a date.
///
/// # Errors
/// The message for `parameterErrors`.
pub fn check(value: &str) -> Result<(), Cow<'static, str>> {
    parse(value).map(drop).ok_or(Cow::Borrowed("must be a date in the form yyyy-MM-dd"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_days_that_exist_are_dates() {
        for good in ["2024-02-29", "1970-01-01", "2099-12-31", "2000-02-29"] {
            assert_eq!(check(good), Ok(()), "{good}");
        }
        for bad in [
            "",
            "2025-02-29",
            "1900-02-29",
            "2026-13-01",
            "2026-00-10",
            "2026-01-32",
            "26-01-01",
            "2026-1-1",
            "20260101",
            "2026/01/01",
            "+026-01-01",
            "2026-01-0é",
        ] {
            assert!(check(bad).is_err(), "{bad}");
        }
    }
}
