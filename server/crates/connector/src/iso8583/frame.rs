//! Frames: messages in a stream of bytes, each after a header with its length.

use std::fmt;

use serde::Deserialize;

/// Maximum length of a frame after its length header, in bytes.
pub const MAX_FRAME: usize = 8192;

/// Kind of length header before each frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub enum HeaderKind {
    /// Two bytes, the more significant one first.
    #[serde(rename = "binary-2")]
    Binary2,
    /// Four digits in ASCII.
    #[serde(rename = "ascii-4")]
    Ascii4,
}

impl HeaderKind {
    /// Returns the number of bytes.
    fn size(self) -> usize {
        match self {
            Self::Binary2 => 2,
            Self::Ascii4 => 4,
        }
    }

    /// Returns the number in a header. `None` if the bytes are no digits.
    fn read(self, header: &[u8]) -> Option<usize> {
        let base = if self == Self::Ascii4 { 10 } else { 256 };
        header.iter().try_fold(0, |number: usize, byte| {
            let digit = match self {
                Self::Ascii4 => byte.is_ascii_digit().then(|| byte - b'0')?,
                Self::Binary2 => *byte,
            };
            Some(number * base + usize::from(digit))
        })
    }
}

impl fmt::Display for HeaderKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Binary2 => "binary-2 (two binary bytes)",
            Self::Ascii4 => "ascii-4 (four ASCII digits)",
        })
    }
}

/// Transport protocol data unit: protocol id, destination and source of a frame, in five bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tpdu([u8; 5]);

impl Tpdu {
    /// Makes the unit with these bytes.
    pub fn new(bytes: [u8; 5]) -> Self {
        Self(bytes)
    }

    /// Returns the bytes.
    pub fn bytes(self) -> [u8; 5] {
        self.0
    }

    /// Returns the unit of a response: source and destination change places.
    #[must_use]
    pub fn swapped(self) -> Self {
        let [id, to1, to2, from1, from2] = self.0;
        Self([id, from1, from2, to1, to2])
    }
}

/// Layout of frames: header, optional TPDU, optional bytes before the message type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FrameLayout {
    /// Kind of length header.
    pub kind: HeaderKind,
    /// True if the length includes the header.
    pub counts_itself: bool,
    /// TPDU of requests. `None` if frames have none.
    pub tpdu: Option<Tpdu>,
    /// Bytes that requests have before the message type. Responses have as many, with any values.
    pub before_type: Vec<u8>,
}

impl FrameLayout {
    /// Makes the frame of a request.
    pub fn frame_request(&self, message: Vec<u8>) -> Frame {
        Frame { tpdu: self.tpdu, before_type: self.before_type.clone(), message }
    }

    /// Writes the header of a frame without content, which keeps a connection open.
    pub fn write_keep_alive(&self) -> Vec<u8> {
        let length = if self.counts_itself { self.kind.size() } else { 0 };
        self.write_header(length).unwrap_or_default()
    }

    /// Returns the bytes of a header. `None` if the kind has no room for the length.
    fn write_header(&self, length: usize) -> Option<Vec<u8>> {
        match self.kind {
            HeaderKind::Binary2 => u16::try_from(length).ok().map(|length| length.to_be_bytes().to_vec()),
            HeaderKind::Ascii4 => (length < 10_000).then(|| format!("{length:04}").into_bytes()),
        }
    }
}

/// A frame without its length header. Its `Debug` does not show the message.
#[derive(Clone, PartialEq, Eq)]
pub struct Frame {
    /// TPDU. `None` if the layout has none.
    pub tpdu: Option<Tpdu>,
    /// Bytes before the message type.
    pub before_type: Vec<u8>,
    /// Message from its type on, as [`super::Dialect::encode`] writes it.
    pub message: Vec<u8>,
}

impl Frame {
    /// Makes the frame of the response: with the TPDU swapped and the same bytes before the message type.
    pub fn frame_response(&self, message: Vec<u8>) -> Self {
        Self { tpdu: self.tpdu.map(Tpdu::swapped), before_type: self.before_type.clone(), message }
    }
}

impl fmt::Debug for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Frame({:?}, {} bytes before the type, ", self.tpdu, self.before_type.len())?;
        write!(f, "message of {} bytes)", self.message.len())
    }
}

/// The reason why bytes are no frames, or a frame cannot be written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FrameError {
    /// A header has bytes other than digits.
    #[error("the length header is {}, expected {expected}: check `header.kind` of the dialect", show_hex(found))]
    NoDigits {
        /// Bytes of the header.
        found: Vec<u8>,
        /// Kind in the dialect.
        expected: HeaderKind,
    },
    /// A frame is longer than [`MAX_FRAME`].
    #[error(
        "a length of {length} (header {}), {MAX_FRAME} at most; expected {expected}: check `header.kind` of the \
         dialect",
        show_hex(found)
    )]
    TooLong {
        /// Bytes of the header. Empty for a frame to write.
        found: Vec<u8>,
        /// Length in the header.
        length: usize,
        /// Kind in the dialect.
        expected: HeaderKind,
    },
    /// The length does not include the header, although the dialect says so.
    #[error("a length of {0}, shorter than the header, which it includes: check `header.counts_itself` of the dialect")]
    ShorterThanHeader(usize),
    /// A frame ends before its message.
    #[error("a frame of {length} bytes, but {needed} stand before the message type")]
    NoMessage {
        /// Length of the frame.
        length: usize,
        /// Length of TPDU and of the bytes before the message type.
        needed: usize,
    },
    /// A frame to write has or lacks a TPDU, or has another number of bytes before the message type than the layout.
    #[error("the frame has not the TPDU and the bytes before the type that the dialect says")]
    OtherLayout,
}

/// Returns bytes as hexadecimal digits.
fn show_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02X}")).collect()
}

/// Writes a frame with its length header.
///
/// # Errors
/// The frame is longer than [`MAX_FRAME`], or has another layout.
pub fn write_frame(layout: &FrameLayout, frame: &Frame) -> Result<Vec<u8>, FrameError> {
    if frame.tpdu.is_some() != layout.tpdu.is_some() || frame.before_type.len() != layout.before_type.len() {
        return Err(FrameError::OtherLayout);
    }
    let tpdu = frame.tpdu.map(Tpdu::bytes);
    let content = [tpdu.as_ref().map_or(&[][..], |tpdu| tpdu), &frame.before_type, &frame.message].concat();
    let length = content.len() + if layout.counts_itself { layout.kind.size() } else { 0 };
    let header = layout.write_header(length).filter(|_| content.len() <= MAX_FRAME);
    let mut bytes =
        header.ok_or(FrameError::TooLong { found: Vec::new(), length: content.len(), expected: layout.kind })?;
    bytes.extend(content);
    Ok(bytes)
}

/// Finds the frames in a stream of bytes. Frames without content are skipped. After an error the stream has no frames
/// any more: without a valid length no place is known for the next one.
#[derive(Debug)]
pub struct FrameReader {
    layout: FrameLayout,
    /// Bytes that are not returned yet: at most one frame, and the last segment.
    pending: Vec<u8>,
    fault: Option<FrameError>,
}

impl FrameReader {
    /// Makes a reader for a new connection.
    pub fn new(layout: FrameLayout) -> Self {
        Self { layout, pending: Vec::new(), fault: None }
    }

    /// Adds received bytes. Take all frames with [`Self::next_frame`] before adding more. Nothing is allocated for a
    /// length that a header announces.
    pub fn push_bytes(&mut self, bytes: &[u8]) {
        if self.fault.is_none() {
            self.pending.extend_from_slice(bytes);
        }
    }

    /// Returns true if a part of a frame awaits its end. A connection that ends now has lost a frame.
    pub fn has_partial_frame(&self) -> bool {
        !self.pending.is_empty()
    }

    /// Returns the next frame. Returns `None` until its bytes are there.
    ///
    /// # Errors
    /// The stream has no frames of the layout; close the connection. Each further call returns the same error.
    pub fn next_frame(&mut self) -> Result<Option<Frame>, FrameError> {
        if let Some(fault) = &self.fault {
            return Err(fault.clone());
        }
        let found = self.find_frame();
        if let Err(fault) = &found {
            self.fault = Some(fault.clone());
            self.pending = Vec::new();
        }
        found
    }

    fn find_frame(&mut self) -> Result<Option<Frame>, FrameError> {
        let size = self.layout.kind.size();
        let mut start = 0;
        let found = loop {
            let rest = self.pending.get(start..).unwrap_or_default();
            let Some((header, rest)) = rest.split_at_checked(size) else { break None };
            let length = self.read_length(header)?;
            let Some(content) = rest.get(..length) else { break None };
            start += size + length;
            if length > 0 {
                break Some(self.split_content(content)?);
            }
        };
        self.pending.drain(..start);
        Ok(found)
    }

    /// Returns the length of a frame after its header.
    fn read_length(&self, header: &[u8]) -> Result<usize, FrameError> {
        let expected = self.layout.kind;
        let found = || header.to_vec();
        let length = expected.read(header).ok_or_else(|| FrameError::NoDigits { found: found(), expected })?;
        let length = if self.layout.counts_itself {
            length.checked_sub(expected.size()).ok_or(FrameError::ShorterThanHeader(length))?
        } else {
            length
        };
        if length > MAX_FRAME { Err(FrameError::TooLong { found: found(), length, expected }) } else { Ok(length) }
    }

    /// Splits the content of a frame into TPDU, bytes before the type, and message.
    fn split_content(&self, content: &[u8]) -> Result<Frame, FrameError> {
        let tpdu_length = if self.layout.tpdu.is_some() { 5 } else { 0 };
        let needed = tpdu_length + self.layout.before_type.len();
        let refuse = FrameError::NoMessage { length: content.len(), needed };
        let (tpdu, rest) = content.split_at_checked(tpdu_length).ok_or_else(|| refuse.clone())?;
        let before = self.layout.before_type.len();
        let (before_type, message) = rest.split_at_checked(before).ok_or_else(|| refuse.clone())?;
        if message.is_empty() {
            return Err(refuse);
        }
        let tpdu = tpdu.try_into().ok().map(Tpdu::new);
        Ok(Frame { tpdu, before_type: before_type.to_vec(), message: message.to_vec() })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_allocated_for_a_length_that_is_only_announced() {
        let layout =
            FrameLayout { kind: HeaderKind::Ascii4, counts_itself: false, tpdu: None, before_type: Vec::new() };
        let mut reader = FrameReader::new(layout);
        reader.push_bytes(b"8192");
        assert_eq!(reader.next_frame(), Ok(None));
        assert!(reader.pending.capacity() < 64);
        reader.push_bytes(&[b'x'; 8191]);
        assert_eq!(reader.next_frame(), Ok(None));
        reader.push_bytes(b"x0001y");
        assert_eq!(reader.next_frame().unwrap().unwrap().message.len(), 8192);
        assert_eq!(reader.next_frame().unwrap().unwrap().message, b"y");
        assert!(reader.pending.is_empty());
    }
}
