//! Amounts in text. On the wire they have two decimals, which a sender may leave out.

use std::borrow::Cow;

use super::digits;

/// Format of an amount: up to ten digits, optionally two decimals.
pub const PATTERN: &str = r"^[0-9]{1,10}(\.[0-9]{2})?$";
/// Message of `parameterErrors` for another format.
pub const MESSAGE: &str = r"must match ^[0-9]{1,10}(\.[0-9]{2})?$";

/// Returns the value in hundredths; an amount without decimals has zero ones. `None` for another format.
pub fn parse_hundredths(text: &str) -> Option<i64> {
    let (whole, decimals) = text.split_once('.').unwrap_or((text, "00"));
    if !(1..=10).contains(&whole.len())
        || decimals.len() != 2
        || !digits::has_only_digits(whole)
        || !digits::has_only_digits(decimals)
    {
        return None;
    }
    Some(whole.parse::<i64>().ok()? * 100 + decimals.parse::<i64>().ok()?)
}

/// Checks the format of an amount: one to ten digits, optionally a dot and two decimals.
///
/// # Errors
/// The message for `parameterErrors`.
pub fn check(text: &str) -> Result<(), Cow<'static, str>> {
    parse_hundredths(text).map(drop).ok_or(Cow::Borrowed(MESSAGE))
}
