//! Phone numbers: a plus sign or a digit, then digits and the usual separators.

use std::borrow::Cow;

/// Returns the format as a regular expression, for a total length of `min` to `max` characters.
pub fn pattern(min: u16, max: u16) -> String {
    format!("^[+0-9][0-9 .()/-]{{{},{}}}$", min.saturating_sub(1), max.saturating_sub(1))
}

/// Checks a phone number of `min` to `max` characters in total.
///
/// # Errors
/// The message for `parameterErrors`.
pub fn check(value: &str, min: u16, max: u16) -> Result<(), Cow<'static, str>> {
    let right_length = (usize::from(min)..=usize::from(max)).contains(&value.len());
    let right_characters = value.bytes().enumerate().all(|(position, byte)| match byte {
        b'0'..=b'9' => true,
        b'+' => position == 0,
        b' ' | b'.' | b'(' | b')' | b'/' | b'-' => position > 0,
        _ => false,
    });
    if right_length && right_characters { Ok(()) } else { Err(Cow::Owned(format!("must match {}", pattern(min, max)))) }
}
