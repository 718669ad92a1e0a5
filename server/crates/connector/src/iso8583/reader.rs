//! A cursor over bytes that cannot pass their end.

use super::error::IsoFault;

/// A cursor over bytes.
#[derive(Debug)]
pub(super) struct ByteReader<'a> {
    bytes: &'a [u8],
    offset: usize,
}

impl<'a> ByteReader<'a> {
    /// Begins at the first byte.
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, offset: 0 }
    }

    /// Returns the index of the next byte.
    pub(super) fn offset(&self) -> usize {
        self.offset
    }

    /// Returns the number of bytes until the end.
    pub(super) fn left(&self) -> usize {
        self.bytes.len() - self.offset
    }

    /// Returns the next bytes, and moves behind them. Nothing is allocated for a length that the bytes do not have.
    pub(super) fn take(&mut self, length: usize) -> Result<&'a [u8], IsoFault> {
        let rest = self.bytes.get(self.offset..).unwrap_or_default();
        let taken = rest.get(..length).ok_or(IsoFault::Cut { needed: length, left: rest.len() })?;
        self.offset += length;
        Ok(taken)
    }

    /// Returns all bytes until the end, and moves behind them.
    pub(super) fn take_rest(&mut self) -> &'a [u8] {
        let rest = self.bytes.get(self.offset..).unwrap_or_default();
        self.offset = self.bytes.len();
        rest
    }

    /// Returns an error if bytes are left.
    pub(super) fn expect_end(&self) -> Result<(), IsoFault> {
        match self.left() {
            0 => Ok(()),
            left => Err(IsoFault::Trailing(left)),
        }
    }
}
