//! Parts of a schedule: an asterisk, one number or several with commas between; or a whole cron expression.

use std::borrow::Cow;

use super::digits;

/// Longest list and longest expression, in bytes.
const MAX: usize = 255;
/// The shape of an expression: five to seven fields with spaces between.
pub const CRON_PATTERN: &str = "^[0-9A-Za-z*?/,#-]+( +[0-9A-Za-z*?/,#-]+){4,6}$";

/// The shape of a part whose numbers have `min` to `max` digits.
pub fn pattern(min: u8, max: u8) -> String {
    let number = if min == max { format!("[0-9]{{{min}}}") } else { format!("[0-9]{{{min},{max}}}") };
    format!(r"^(\*|{number}(,{number})*)$")
}

/// Checks a part of a schedule whose numbers have `min` to `max` digits.
///
/// # Errors
/// The message for `parameterErrors`.
pub fn check(value: &str, min: u8, max: u8) -> Result<(), Cow<'static, str>> {
    let number = |text: &str| (usize::from(min)..=usize::from(max)).contains(&text.len()) && digits::only(text);
    if value == "*" || value.len() <= MAX && value.split(',').all(number) {
        Ok(())
    } else {
        Err(Cow::Owned(format!("must match {}", pattern(min, max))))
    }
}

/// Checks the shape of a cron expression: five to seven fields.
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
        for good in ["*", "05", "5", "01,15", "1,2,30"] {
            assert_eq!(check(good, 1, 2), Ok(()), "{good}");
        }
        for bad in ["", "**", "*,1", "1,", ",1", "1,,2", "1, 2", "100", "1-5", "*/5", "x", "٣"] {
            assert!(check(bad, 1, 2).is_err(), "{bad}");
        }
        assert!(check("2026,2027", 4, 4).is_ok() && check("26", 4, 4).is_err());
        assert!(check(&vec!["1"; 128].join(","), 1, 2).is_ok() && check(&vec!["1"; 129].join(","), 1, 2).is_err());
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
