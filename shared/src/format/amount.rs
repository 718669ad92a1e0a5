//! Amounts as texts: `amount` may leave its decimals out, what the specification calls money may not.

use std::borrow::Cow;

use super::digits;

/// The shape of an amount: up to ten digits, optionally two decimals.
pub const PATTERN: &str = r"^[0-9]{1,10}(\.[0-9]{2})?$";
/// What `parameterErrors` says about another shape.
pub const MESSAGE: &str = r"must match ^[0-9]{1,10}(\.[0-9]{2})?$";
/// The shape of a money value: up to ten digits and exactly two decimals.
pub const MONEY_PATTERN: &str = r"^[0-9]{1,10}\.[0-9]{2}$";
const MONEY_MESSAGE: &str = r"must match ^[0-9]{1,10}\.[0-9]{2}$";

/// The value in hundredths; `None` for a text of another shape.
pub(crate) fn hundredths(text: &str) -> Option<i64> {
    let (whole, decimals) = text.split_once('.').unwrap_or((text, "00"));
    if !(1..=10).contains(&whole.len()) || decimals.len() != 2 || !digits::only(whole) || !digits::only(decimals) {
        return None;
    }
    Some(whole.parse::<i64>().ok()? * 100 + decimals.parse::<i64>().ok()?)
}

/// Checks the shape of an amount.
///
/// # Errors
/// The message for `parameterErrors`.
pub fn check(text: &str) -> Result<(), Cow<'static, str>> {
    hundredths(text).map(drop).ok_or(Cow::Borrowed(MESSAGE))
}

/// Checks the shape of a money value, which always has its two decimals.
///
/// # Errors
/// The message for `parameterErrors`.
pub fn check_money(text: &str) -> Result<(), Cow<'static, str>> {
    hundredths(text).filter(|_| text.contains('.')).map(drop).ok_or(Cow::Borrowed(MONEY_MESSAGE))
}
