//! Names and reasons that people write: one line of plain text.

/// A line of plain text: at most `N` characters, none of which is a control character. It is stored and shown as it is,
/// in logs and terminals that a control character would confuse.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlainLine<const N: usize>(String);

/// The text is too long, has control characters, or is blank and may not be. Each caller has its own message for
/// people.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotPlainLine;

impl<const N: usize> PlainLine<N> {
    /// Parses a line that may be empty. Keeps the spaces around it.
    ///
    /// # Errors
    /// If the text is too long or has control characters.
    pub fn parse(text: &str) -> Result<Self, NotPlainLine> {
        if text.chars().count() > N || text.contains(char::is_control) {
            return Err(NotPlainLine);
        }
        Ok(Self(text.to_owned()))
    }

    /// Parses a line that has to say something. Keeps the spaces around it.
    ///
    /// # Errors
    /// If the text is too long, has control characters, or consists of spaces.
    pub fn parse_filled(text: &str) -> Result<Self, NotPlainLine> {
        if text.trim().is_empty() { Err(NotPlainLine) } else { Self::parse(text) }
    }
}

impl<const N: usize> From<PlainLine<N>> for String {
    fn from(line: PlainLine<N>) -> Self {
        line.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_counts_characters_and_has_none_that_control() {
        assert_eq!(PlainLine::<3>::parse("äöü").map(String::from), Ok("äöü".to_owned()));
        assert_eq!(PlainLine::<3>::parse("").map(String::from), Ok(String::new()));
        for text in ["äöüß", "a\nb", "a\u{7f}", "\u{85}"] {
            assert_eq!(PlainLine::<3>::parse(text), Err(NotPlainLine), "{text:?}");
        }
    }

    #[test]
    fn a_filled_line_is_not_blank() {
        assert_eq!(PlainLine::<3>::parse_filled(" a ").map(String::from), Ok(" a ".to_owned()));
        for text in ["", "  ", "\u{a0}", " abc"] {
            assert_eq!(PlainLine::<3>::parse_filled(text), Err(NotPlainLine), "{text:?}");
        }
    }
}
