//! Values from a short list of words.

use std::borrow::Cow;

/// Checks that a value is one of the words, with the same case.
///
/// # Errors
/// The message for `parameterErrors`, which lists the words.
pub fn check(value: &str, words: &[&str]) -> Result<(), Cow<'static, str>> {
    if words.contains(&value) { Ok(()) } else { Err(Cow::Owned(error_message(words))) }
}

/// Returns the message that lists the words.
pub fn error_message(words: &[&str]) -> String {
    format!("must be one of [{}]", words.join(", "))
}
