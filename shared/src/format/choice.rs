//! Values that are one of a few words.

use std::borrow::Cow;

/// Checks that a value is one of the words, in the same letters.
///
/// # Errors
/// The message for `parameterErrors`, which lists the words.
pub fn check(value: &str, words: &[&str]) -> Result<(), Cow<'static, str>> {
    if words.contains(&value) { Ok(()) } else { Err(Cow::Owned(message(words))) }
}

/// Returns the message that lists the words.
pub fn message(words: &[&str]) -> String {
    format!("must be one of [{}]", words.join(", "))
}
