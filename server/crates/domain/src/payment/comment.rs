//! Comments of users on payments.

use tillgate_shared::format::mask::mask_card_numbers;

/// Maximum number of characters of a comment.
pub const MAX_COMMENT: usize = 2000;
/// Maximum number of comments of a payment.
pub const MAX_COMMENTS: u32 = 200;

/// Fault of a comment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum CommentFault {
    /// It has no text.
    #[error("a comment needs a text")]
    Empty,
    /// It is too long.
    #[error("a comment has at most {MAX_COMMENT} characters")]
    TooLong,
    /// It has a control character.
    #[error("a comment has no control characters other than line breaks and tabs")]
    Control,
}

/// Checks the text of a comment. Returns it without spaces at its ends, with plain line breaks, and with card numbers
/// masked, because a comment is kept as long as its payment.
///
/// # Errors
/// The fault of the text.
pub fn parse_comment(text: &str) -> Result<String, CommentFault> {
    let text = text.replace("\r\n", "\n");
    let text = text.trim();
    if text.is_empty() {
        return Err(CommentFault::Empty);
    }
    if text.chars().count() > MAX_COMMENT {
        return Err(CommentFault::TooLong);
    }
    if text.chars().any(|character| character.is_control() && !matches!(character, '\n' | '\t')) {
        return Err(CommentFault::Control);
    }
    Ok(mask_card_numbers(text).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comment_is_a_text_of_limited_length_without_card_numbers() {
        assert_eq!(parse_comment(" one\r\ntwo\t<b> \n"), Ok("one\ntwo\t<b>".to_owned()));
        assert_eq!(parse_comment(&"ä".repeat(MAX_COMMENT)).map(|text| text.chars().count()), Ok(MAX_COMMENT));
        assert_eq!(parse_comment(&"x".repeat(MAX_COMMENT + 1)), Err(CommentFault::TooLong));
        for text in ["", " \r\n\t"] {
            assert_eq!(parse_comment(text), Err(CommentFault::Empty), "{text:?}");
        }
        for text in ["a\0b", "a\rb", "a\u{1b}[0m"] {
            assert_eq!(parse_comment(text), Err(CommentFault::Control), "{text:?}");
        }
        let masked = parse_comment("called about 4200000000000000 today").unwrap_or_default();
        assert!(!masked.contains("4200000000000000") && masked.ends_with(" today"), "{masked}");
    }
}
