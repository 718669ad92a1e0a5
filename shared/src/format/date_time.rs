//! Timestamps: `yyyy-MM-dd HH:mm:ss` on a clock of 24 hours, and only days that exist.

use std::borrow::Cow;

use super::{date, digits};

/// Format; the day must also exist.
pub const PATTERN: &str =
    "^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01]) ([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]$";
/// Same format, in which a letter T may separate day and time.
pub const PATTERN_T: &str =
    "^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])[ T]([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]$";
/// Format of a day, or of a day with a time.
pub const PATTERN_DATE_OR_TIME: &str =
    "^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])([ T]([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9])?$";

/// Checks a day, or a timestamp with a space or a letter T between day and time.
///
/// # Errors
/// The message for `parameterErrors`.
pub fn check_date_or_time(value: &str) -> Result<(), Cow<'static, str>> {
    if date::parse(value).is_some() || is_timestamp(value, true) {
        Ok(())
    } else {
        Err(Cow::Borrowed("must be a date in the form yyyy-MM-dd, or with a time: yyyy-MM-dd HH:mm:ss"))
    }
}

/// Checks a timestamp. With `t`, a letter T may separate day and time.
///
/// # Errors
/// The message for `parameterErrors`.
pub fn check(value: &str, t: bool) -> Result<(), Cow<'static, str>> {
    if is_timestamp(value, t) {
        Ok(())
    } else {
        Err(Cow::Borrowed("must be a date and time in the form yyyy-MM-dd HH:mm:ss"))
    }
}

/// Returns true for a day that exists, a space (or a letter T if `t` is set), and a time from 00:00:00 to 23:59:59.
fn is_timestamp(value: &str, t: bool) -> bool {
    let Some((day, [separator, time @ ..])) = value.split_at_checked(10).map(|(day, rest)| (day, rest.as_bytes()))
    else {
        return false;
    };
    let below = |pair: &[u8], limit: u8| {
        let text = std::str::from_utf8(pair).unwrap_or_default();
        digits::has_only_digits(text) && text.parse::<u8>().is_ok_and(|number| number < limit)
    };
    let [h1, h2, b':', m1, m2, b':', s1, s2] = time else { return false };
    (*separator == b' ' || t && *separator == b'T')
        && date::parse(day).is_some()
        && below(&[*h1, *h2], 24)
        && below(&[*m1, *m2], 60)
        && below(&[*s1, *s2], 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_have_a_day_that_exists_and_a_clock_of_24_hours() {
        for good in ["2026-11-21 00:00:00", "2024-02-29 23:59:59"] {
            assert!(is_timestamp(good, false) && is_timestamp(&good.replace(' ', "T"), true), "{good}");
            assert!(!is_timestamp(&good.replace(' ', "T"), false), "{good}");
        }
        for bad in [
            "",
            "2026-11-21",
            "2026-11-21 ",
            "2026-11-21 24:00:00",
            "2026-11-21 23:60:00",
            "2026-11-21 23:00:60",
            "2026-11-21 +1:00:00",
            "2026-11-21 1:00:00",
            "2026-02-29 10:00:00",
            "2026-11-21 10:00:00Z",
            "2026-11-21_10:00:00",
            "2026-11-2é 10:00:0",
            "2026-11-21 10.00.00",
        ] {
            assert!(!is_timestamp(bad, true), "{bad}");
        }
    }
}
