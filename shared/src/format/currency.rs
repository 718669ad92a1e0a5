//! Currency codes: ISO 4217, three uppercase letters.

use std::borrow::Cow;

use crate::money::Currency;

/// Format; the letters must also be a currency's.
pub const PATTERN: &str = "^[A-Z]{3}$";

/// Checks a currency code.
///
/// # Errors
/// The message for `parameterErrors`.
pub fn check(value: &str) -> Result<(), Cow<'static, str>> {
    let known = value.len() == 3 && Currency::parse(value).is_some();
    if known { Ok(()) } else { Err(Cow::Borrowed("must be an ISO 4217 currency code of three uppercase letters")) }
}
