//! Free text: any characters except control characters. Lengths are counted in characters.

use std::borrow::Cow;

/// Checks one line of text: `min` to `max` characters, and no control characters.
///
/// # Errors
/// The message for `parameterErrors`.
pub fn check_line(text: &str, min: u16, max: u16) -> Result<(), Cow<'static, str>> {
    if text.chars().any(char::is_control) {
        return Err(Cow::Borrowed("may not contain control characters"));
    }
    check_length(text, min, max)
}

/// Checks text that may have several lines: `min` to `max` characters, and no control characters other than tabs and
/// line breaks.
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
    // The byte length gives an early bound: a character has one to four bytes.
    let count = if text.len() > 4 * usize::from(max) { usize::MAX } else { text.chars().count() };
    if (usize::from(min)..=usize::from(max)).contains(&count) {
        Ok(())
    } else if text.is_empty() {
        Err(Cow::Borrowed("may not be empty"))
    } else {
        Err(Cow::Owned(format!("must have {min} to {max} characters")))
    }
}

/// Returns the first characters of a text, at most `max`.
pub fn truncate_text(text: &str, max: usize) -> &str {
    text.char_indices().nth(max).map_or(text, |(end, _)| text.get(..end).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_counted_in_characters_and_control_characters_refused() {
        assert!(check_line("äöü", 3, 3).is_ok() && check_line("äöü€", 3, 3).is_err());
        assert!(
            check_line("a\u{0}c", 1, 9).is_err()
                && check_line("a\nc", 1, 9).is_err()
                && check_line("a\u{85}c", 1, 9).is_err()
        );
        assert!(check_lines("a\r\n\tc", 1, 9).is_ok() && check_lines("a\u{1b}c", 1, 9).is_err());
        assert_eq!(check_line("", 1, 9), Err(Cow::Borrowed("may not be empty")));
        assert_eq!((truncate_text("äöü", 2), truncate_text("äöü", 3), truncate_text("", 3)), ("äö", "äöü", ""));
    }
}
