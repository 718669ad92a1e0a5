//! Free text: any characters but control characters, counted in characters.

use std::borrow::Cow;

/// Checks one line of text.
///
/// # Errors
/// The message for `parameterErrors`.
pub fn check(text: &str, min: u16, max: u16) -> Result<(), Cow<'static, str>> {
    if text.chars().any(char::is_control) {
        return Err(Cow::Borrowed("may not contain control characters"));
    }
    check_length(text, min, max)
}

/// Checks text that may have several lines.
///
/// # Errors
/// The message for `parameterErrors`.
pub fn check_lines(text: &str, min: u16, max: u16) -> Result<(), Cow<'static, str>> {
    if text.chars().any(|c| c.is_control() && !matches!(c, '\t' | '\n' | '\r')) {
        return Err(Cow::Borrowed("may not contain control characters"));
    }
    check_length(text, min, max)
}

/// Checks a length in characters.
///
/// # Errors
/// The message for `parameterErrors`.
pub fn check_length(text: &str, min: u16, max: u16) -> Result<(), Cow<'static, str>> {
    // Counting stops early: a character has at most four bytes, and at least one.
    let count = if text.len() > 4 * usize::from(max) { usize::MAX } else { text.chars().count() };
    if (usize::from(min)..=usize::from(max)).contains(&count) {
        Ok(())
    } else if text.is_empty() {
        Err(Cow::Borrowed("may not be empty"))
    } else {
        Err(Cow::Owned(format!("must have {min} to {max} characters")))
    }
}

/// The first characters of a text, at most `max` of them.
pub fn cut(text: &str, max: usize) -> &str {
    text.char_indices().nth(max).map_or(text, |(end, _)| text.get(..end).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_counted_in_characters_and_control_characters_refused() {
        assert!(check("äöü", 3, 3).is_ok() && check("äöü€", 3, 3).is_err());
        assert!(check("a\u{0}c", 1, 9).is_err() && check("a\nc", 1, 9).is_err() && check("a\u{85}c", 1, 9).is_err());
        assert!(check_lines("a\r\n\tc", 1, 9).is_ok() && check_lines("a\u{1b}c", 1, 9).is_err());
        assert_eq!(check("", 1, 9), Err(Cow::Borrowed("may not be empty")));
        assert_eq!((cut("äöü", 2), cut("äöü", 3), cut("", 3)), ("äö", "äöü", ""));
    }
}
