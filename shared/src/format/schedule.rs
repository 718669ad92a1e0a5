//! Parts of a schedule: an asterisk, one number, or several separated by commas; or a whole cron expression.

use std::borrow::Cow;
use std::ops::RangeInclusive;

use super::digits;

/// Maximum length of a list or an expression in bytes.
const MAX: usize = 255;
/// Format of a cron expression: five to seven fields separated by spaces.
pub const CRON_PATTERN: &str = "^[0-9A-Za-z*?/,#-]+( +[0-9A-Za-z*?/,#-]+){4,6}$";

/// Returns the shortest and the longest number of digits that a number of `count` digits may be written with. Clients
/// format numbers of up to two digits with and without a leading zero.
fn allowed_digits(count: u8) -> RangeInclusive<usize> {
    match count {
        1 | 2 => 1..=2,
        more => more.into()..=more.into(),
    }
}

/// Returns the format of a part whose numbers have `count` digits.
pub fn part_pattern(count: u8) -> String {
    let allowed = allowed_digits(count);
    let digits = if allowed.start() == allowed.end() {
        format!("[0-9]{{{count}}}")
    } else {
        format!("[0-9]{{{},{}}}", allowed.start(), allowed.end())
    };
    format!(r"^(\*|{digits}(,{digits})*)$")
}

/// Checks a part of a schedule: an asterisk, or numbers of `count` digits in a range, separated by commas, at most 255
/// bytes in total. A number of one or two digits may have or lack a leading zero.
///
/// # Errors
/// The message for `parameterErrors`.
pub fn check_part(value: &str, count: u8, range: RangeInclusive<u16>) -> Result<(), Cow<'static, str>> {
    let shaped = |text: &str| allowed_digits(count).contains(&text.len()) && digits::has_only_digits(text);
    if value == "*" {
        Ok(())
    } else if value.len() > MAX || !value.split(',').all(shaped) {
        Err(Cow::Owned(format!("must match {}", part_pattern(count))))
    } else if !value.split(',').all(|text| text.parse().is_ok_and(|number| range.contains(&number))) {
        let width = usize::from(count);
        Err(Cow::Owned(format!("must be numbers from {:0width$} to {:0width$}", range.start(), range.end())))
    } else {
        Ok(())
    }
}

/// Returns a valid part with `count` digits in each number: `7,15` is `07,15` with two.
pub fn pad_part(value: &str, count: u8) -> String {
    let width = usize::from(count);
    let pad = |text: &str| text.parse::<u16>().map_or_else(|_| text.to_owned(), |number| format!("{number:0width$}"));
    value.split(',').map(pad).collect::<Vec<_>>().join(",")
}

/// Checks the format of a cron expression: five to seven fields of letters, digits and `*?/,#-`, separated by spaces,
/// at most 255 bytes in total. The meaning of the fields is not checked.
///
/// # Errors
/// The message for `parameterErrors`.
pub fn check_cron(value: &str) -> Result<(), Cow<'static, str>> {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"*?/,#- ".contains(&byte);
    let fields = value.split(' ').filter(|field| !field.is_empty()).count();
    let trimmed = !value.starts_with(' ') && !value.ends_with(' ');
    if value.len() <= MAX && trimmed && value.bytes().all(allowed) && (5..=7).contains(&fields) {
        Ok(())
    } else {
        Err(Cow::Borrowed("must be a cron expression of five to seven fields"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_an_asterisk_or_numbers() {
        let month = |value: &str| check_part(value, 2, 1..=12);
        for good in ["*", "05", "5", "01,12", "1,12", "01,02,3"] {
            assert_eq!(month(good), Ok(()), "{good}");
        }
        for bad in ["", "**", "*,01", "01,", ",01", "01,,02", "01, 02", "100", "001", "01-05", "*/5", "xx", "٣"] {
            assert_eq!(month(bad), Err(Cow::Borrowed(r"must match ^(\*|[0-9]{1,2}(,[0-9]{1,2})*)$")), "{bad}");
        }
        for bad in ["0", "00", "13", "01,13"] {
            assert_eq!(month(bad), Err(Cow::Borrowed("must be numbers from 01 to 12")), "{bad}");
        }
        assert!(check_part("2026,2027", 4, 0..=9999).is_ok() && check_part("26", 4, 0..=9999).is_err());
        for (value, digits, padded) in
            [("7", 2, "07"), ("7,15,07", 2, "07,15,07"), ("*", 2, "*"), ("07,1", 1, "7,1"), ("2026", 4, "2026")]
        {
            assert_eq!(pad_part(value, digits), padded, "{value}");
        }
        assert!(month(&vec!["11"; 85].join(",")).is_ok() && month(&vec!["11"; 86].join(",")).is_err());
    }

    #[test]
    fn expressions_have_five_to_seven_fields() {
        for good in ["0 0 1 * *", "0 0 6 15 * ?", "0 0 12 ? * MON-FRI 2027", "*/5  0 L * 6#3"] {
            assert_eq!(check_cron(good), Ok(()), "{good}");
        }
        for bad in ["", "daily", "0 0 1 *", "0 0 1 * * * * *", " 0 0 1 * *", "0 0 1 * * ", "0 0 1 * ;", "0 0 1 *\t*"] {
            assert!(check_cron(bad).is_err(), "{bad}");
        }
    }
}
