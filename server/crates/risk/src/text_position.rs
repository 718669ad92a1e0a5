//! Positions in a text: byte offsets, and the lines and columns that people read.

use super::TextError;

/// A text with the offsets of its lines.
pub(super) struct PositionedText<'a> {
    text: &'a str,
    /// Byte offset of the beginning of every line, ascending. The first is 0.
    line_starts: Vec<usize>,
}

impl<'a> PositionedText<'a> {
    /// Finds the lines of a text.
    pub(super) fn new(text: &'a str) -> Self {
        let later = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
        Self { text, line_starts: std::iter::once(0).chain(later).collect() }
    }

    /// Returns the text between two offsets, or nothing if they are not in the text.
    pub(super) fn slice(&self, range: std::ops::Range<usize>) -> &'a str {
        self.text.get(range).unwrap_or_default()
    }

    /// Returns the line of an offset; the first line is 1.
    pub(super) fn find_line(&self, offset: usize) -> usize {
        self.line_starts.partition_point(|start| *start <= offset)
    }

    /// Creates an error at a byte offset. An offset behind the text or inside a character becomes the one before.
    pub(super) fn make_error(&self, offset: usize, message: impl Into<String>) -> TextError {
        let offset = self.text.floor_char_boundary(offset);
        let line = self.find_line(offset);
        let start = self.line_starts.get(line - 1).copied().unwrap_or(0);
        let column = self.slice(start..offset).chars().count() + 1;
        TextError { line, column, message: message.into() }
    }
}
