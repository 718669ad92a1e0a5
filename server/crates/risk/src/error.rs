//! Errors in a text that an operator wrote, with their place.

use std::fmt;

/// An error in a rules file, a table of networks or a list of domains.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
pub struct TextError {
    /// Line of the error; the first line is 1.
    pub line: usize,
    /// Column of the error in characters; the first column is 1.
    pub column: usize,
    /// Description of the error and of the remedy.
    pub message: String,
}

impl fmt::Display for TextError {
    /// Formats the error like compilers do: `3:14: there is no fact …`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.message)
    }
}

impl std::error::Error for TextError {}
