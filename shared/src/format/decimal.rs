//! Numbers: whole numbers within bounds, numbers with a fraction, and percentages.

use std::borrow::Cow;

use super::digits;

/// Format of a percentage: 0 to 100 with up to two decimals.
pub const PERCENT_PATTERN: &str = r"^(0?[0-9]{1,2}(\.[0-9]{1,2})?|100(\.0{1,2})?)$";
const PERCENT_MESSAGE: &str = "must be a percentage from 0 to 100 with up to two decimals";

/// Returns the format of a number with up to `whole` digits and, optionally, a fraction of `min` to `max` digits.
pub fn pattern(whole: u8, min: u8, max: u8) -> String {
    let fraction = if min == max { format!("{{{min}}}") } else { format!("{{{min},{max}}}") };
    format!(r"^[0-9]{{1,{whole}}}(\.[0-9]{fraction})?$")
}

/// Returns true if a text has 1 to `whole` digits and, optionally, a fraction of `min` to `max` digits.
fn has_shape(value: &str, whole: u8, min: u8, max: u8) -> bool {
    let part = |text: &str, min, max| {
        (usize::from(min)..=usize::from(max)).contains(&text.len()) && digits::has_only_digits(text)
    };
    match value.split_once('.') {
        Some((before, fraction)) => part(before, 1, whole) && part(fraction, min, max),
        None => part(value, 1, whole),
    }
}

/// Checks a number with up to `whole` digits and, optionally, a fraction of `min` to `max` digits.
///
/// # Errors
/// The message for `parameterErrors`.
pub fn check(value: &str, whole: u8, min: u8, max: u8) -> Result<(), Cow<'static, str>> {
    if has_shape(value, whole, min, max) {
        Ok(())
    } else {
        Err(Cow::Owned(format!("must match {}", pattern(whole, min, max))))
    }
}

/// Checks a percentage: 0 to 100 with up to two decimals.
///
/// # Errors
/// The message for `parameterErrors`.
pub fn check_percent(value: &str) -> Result<(), Cow<'static, str>> {
    let (whole, fraction) = value.split_once('.').unwrap_or((value, ""));
    let in_range = match whole.parse::<u16>() {
        Ok(100) => fraction.bytes().all(|digit| digit == b'0'),
        Ok(percent) => percent < 100,
        Err(_) => false,
    };
    if has_shape(value, 3, 1, 2) && in_range { Ok(()) } else { Err(Cow::Borrowed(PERCENT_MESSAGE)) }
}

/// Returns the number of digits of the largest number.
fn digit_count(max: u32) -> usize {
    max.checked_ilog10().map_or(1, |log| log as usize + 1)
}

/// Returns the format of a whole number: as many digits as `max` has. The value must also be within its bounds.
pub fn number_pattern(max: u32) -> String {
    format!("^[0-9]{{1,{}}}$", digit_count(max))
}

/// Checks a whole number from `min` to `max`.
///
/// # Errors
/// The message for `parameterErrors`.
pub fn check_number(value: &str, min: u32, max: u32) -> Result<(), Cow<'static, str>> {
    let right_shape = (1..=digit_count(max)).contains(&value.len()) && digits::has_only_digits(value);
    if right_shape && value.parse::<u32>().is_ok_and(|number| (min..=max).contains(&number)) {
        Ok(())
    } else {
        Err(Cow::Owned(format!("must be a whole number from {min} to {max}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentages_end_at_a_hundred() {
        for good in ["0", "19", "7.5", "19.00", "99.99", "100", "100.0", "100.00", "007"] {
            assert_eq!(check_percent(good), Ok(()), "{good}");
        }
        for bad in ["", "100.01", "101", "999", "0019", "1.", ".5", "1.234", "-1", "+1", "19%", "1,5", "1.5.0"] {
            assert!(check_percent(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn whole_numbers_stay_within_their_bounds() {
        for good in ["1", "999", "010"] {
            assert_eq!(check_number(good, 1, 999), Ok(()), "{good}");
        }
        for bad in ["", "0", "000", "1000", "0001", "+1", "-1", "1.0", "x", "٣"] {
            assert!(check_number(bad, 1, 999).is_err(), "{bad}");
        }
        assert_eq!((digit_count(0), digit_count(9), digit_count(10), digit_count(u32::MAX)), (1, 1, 2, 10));
        assert!(check_number("4294967295", 0, u32::MAX).is_ok() && check_number("4294967296", 0, u32::MAX).is_err());
    }
}
