//! Texts and bytes: characters, packed digits and hexadecimal digits.

use super::error::IsoFault;
use super::layout::{FillerSide, IsoKind, OddFiller, TextPadding, ValueCoding};
use super::message::IsoValue;

/// Layout of a text or bytes.
#[derive(Debug, Clone, Copy)]
pub(super) struct PlainLayout {
    pub(super) kind: IsoKind,
    pub(super) coding: ValueCoding,
    pub(super) padding: Option<TextPadding>,
}

impl PlainLayout {
    /// Encodes a value. With `fixed`, texts with padding are padded to this many characters. Returns the bytes, and the
    /// number of elements: digits, characters or bytes.
    pub(super) fn encode(&self, value: &IsoValue, fixed: Option<usize>) -> Result<(Vec<u8>, usize), IsoFault> {
        match (value, self.kind) {
            (IsoValue::Bytes(bytes), IsoKind::B) => Ok((self.encode_bytes(bytes), bytes.len())),
            (IsoValue::Text(text), kind) if kind != IsoKind::B => self.encode_text(text, fixed),
            (other, IsoKind::B) => Err(IsoFault::ValueType { found: other.type_name(), expected: "bytes" }),
            (other, _) => Err(IsoFault::ValueType { found: other.type_name(), expected: "a text" }),
        }
    }

    /// Decodes bytes. `elements` is the number of digits or characters, if it is known; without it, an odd number of
    /// packed digits is recognized by the filler.
    pub(super) fn decode(&self, bytes: &[u8], elements: Option<usize>) -> Result<IsoValue, IsoFault> {
        let text = match self.coding {
            ValueCoding::Binary => return Ok(IsoValue::Bytes(bytes.to_vec())),
            ValueCoding::Hex(charset) => {
                let digits = bytes.iter().map(|byte| charset.decode_byte(*byte)?.to_digit(16)).enumerate();
                let nibbles: Vec<u8> =
                    digits.map(|(at, digit)| self.expect_nibble(at, digit)).collect::<Result<_, _>>()?;
                return join_nibbles(&nibbles).map(IsoValue::Bytes).ok_or(IsoFault::OddLength(nibbles.len()));
            }
            ValueCoding::Characters(charset) => {
                let characters = bytes.iter().enumerate();
                characters
                    .map(|(at, byte)| charset.decode_byte(*byte).ok_or_else(|| self.refuse_character(at)))
                    .collect::<Result<String, _>>()?
            }
            ValueCoding::Packed { filler, charset } if self.kind == IsoKind::XN => {
                let (sign, digits) = bytes.split_first().ok_or(IsoFault::Cut { needed: 1, left: 0 })?;
                let sign = charset.decode_byte(*sign).ok_or_else(|| self.refuse_character(0))?;
                format!("{sign}{}", self.unpack_digits(digits, elements, filler)?)
            }
            ValueCoding::Packed { filler, .. } => self.unpack_digits(bytes, elements, filler)?,
        };
        let text = self.strip_padding(&text);
        self.check_characters(text)?;
        Ok(IsoValue::Text(text.to_owned()))
    }

    fn encode_bytes(&self, bytes: &[u8]) -> Vec<u8> {
        let ValueCoding::Hex(charset) = self.coding else { return bytes.to_vec() };
        let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
        digits.filter_map(|nibble| charset.encode_char(hex_digit(nibble))).collect()
    }

    fn encode_text(&self, text: &str, fixed: Option<usize>) -> Result<(Vec<u8>, usize), IsoFault> {
        self.check_characters(text)?;
        let padded = self.pad_text(text, fixed)?;
        let length = padded.chars().count();
        let elements = length - usize::from(self.kind == IsoKind::XN);
        let bytes = match self.coding {
            ValueCoding::Characters(charset) | ValueCoding::Hex(charset) => {
                let bytes = padded.chars().map(|character| charset.encode_char(character)).enumerate();
                bytes.map(|(at, byte)| byte.ok_or_else(|| self.refuse_character(at))).collect::<Result<Vec<u8>, _>>()?
            }
            ValueCoding::Packed { filler, charset } if self.kind == IsoKind::XN => {
                let sign = padded.chars().next().and_then(|sign| charset.encode_char(sign));
                let digits = self.pack_digits(padded.get(1..).unwrap_or_default(), filler)?;
                sign.into_iter().chain(digits).collect()
            }
            ValueCoding::Packed { filler, .. } => self.pack_digits(&padded, filler)?,
            ValueCoding::Binary => Vec::new(),
        };
        Ok((bytes, elements))
    }

    /// Checks that the kind allows each character.
    fn check_characters(&self, text: &str) -> Result<(), IsoFault> {
        let is_allowed = |(at, character): (usize, char)| match self.kind {
            IsoKind::XN if at == 0 => character == 'C' || character == 'D',
            kind => kind.allows_character(character),
        };
        match text.chars().enumerate().position(|it| !is_allowed(it)) {
            Some(at) => Err(self.refuse_character(at)),
            None if self.kind == IsoKind::XN && text.is_empty() => Err(self.refuse_character(0)),
            None => Ok(()),
        }
    }

    /// Pads a text to the length of its fixed field. A text that ends in the filler would be decoded without it, and is
    /// refused.
    fn pad_text(&self, text: &str, fixed: Option<usize>) -> Result<String, IsoFault> {
        let (Some(TextPadding { side, filler }), Some(length)) = (self.padding, fixed) else {
            return Ok(text.to_owned());
        };
        let missing = length.saturating_sub(text.chars().count());
        let padding: String = std::iter::repeat_n(filler, missing).collect();
        let is_ambiguous = match side {
            FillerSide::Left => text.starts_with(filler),
            FillerSide::Right => text.ends_with(filler),
        };
        match side {
            _ if is_ambiguous => Err(IsoFault::Padded(filler)),
            FillerSide::Left => Ok(padding + text),
            FillerSide::Right => Ok(text.to_owned() + &padding),
        }
    }

    fn strip_padding<'a>(&self, text: &'a str) -> &'a str {
        match self.padding {
            Some(TextPadding { side: FillerSide::Left, filler }) => text.trim_start_matches(filler),
            Some(TextPadding { side: FillerSide::Right, filler }) => text.trim_end_matches(filler),
            None => text,
        }
    }

    /// Packs two digits into each byte. The separator of track data is the nibble D.
    fn pack_digits(&self, digits: &str, filler: OddFiller) -> Result<Vec<u8>, IsoFault> {
        let nibbles = digits.chars().enumerate().map(|(at, digit)| match digit {
            '=' => Ok(13),
            // Both would be the nibble D, and decoding returns one of them.
            'D' => Err(self.refuse_character(at)),
            _ => self.expect_nibble(at, digit.to_digit(10)),
        });
        let mut nibbles = nibbles.collect::<Result<Vec<u8>, _>>()?;
        if !nibbles.len().is_multiple_of(2) {
            match filler.side {
                FillerSide::Left => nibbles.insert(0, filler.nibble),
                FillerSide::Right => nibbles.push(filler.nibble),
            }
        }
        Ok(join_nibbles(&nibbles).unwrap_or_default())
    }

    /// Unpacks two digits of each byte.
    fn unpack_digits(&self, bytes: &[u8], elements: Option<usize>, filler: OddFiller) -> Result<String, IsoFault> {
        let nibbles: Vec<u8> = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]).collect();
        let unused = match filler.side {
            FillerSide::Left => nibbles.split_first(),
            FillerSide::Right => nibbles.split_last(),
        };
        let is_odd = match (elements, unused) {
            (Some(elements), _) => !elements.is_multiple_of(2),
            (None, Some((unused, _))) => *unused == filler.nibble,
            (None, None) => false,
        };
        let digits = match unused {
            Some((unused, _)) if is_odd && *unused != filler.nibble => return Err(IsoFault::Filler(filler.nibble)),
            Some((_, digits)) if is_odd => digits,
            _ => &nibbles,
        };
        let digits = digits.iter().enumerate().map(|(at, nibble)| match nibble {
            0..=9 => Ok(hex_digit(*nibble)),
            13 if self.kind == IsoKind::Z => Ok('='),
            _ => Err(self.refuse_character(at)),
        });
        digits.collect()
    }

    fn expect_nibble(&self, at: usize, digit: Option<u32>) -> Result<u8, IsoFault> {
        digit.and_then(|digit| u8::try_from(digit).ok()).ok_or_else(|| self.refuse_character(at))
    }

    fn refuse_character(&self, at: usize) -> IsoFault {
        IsoFault::Character { position: at + 1, kind: self.kind }
    }
}

/// Returns a hexadecimal digit in capitals.
pub(super) fn hex_digit(nibble: u8) -> char {
    char::from_digit(u32::from(nibble & 15), 16).unwrap_or('0').to_ascii_uppercase()
}

/// Joins pairs of nibbles to bytes. Returns `None` for an odd number.
pub(super) fn join_nibbles(nibbles: &[u8]) -> Option<Vec<u8>> {
    let (pairs, rest) = nibbles.as_chunks::<2>();
    rest.is_empty().then(|| pairs.iter().map(|[high, low]| (high << 4) | (low & 15)).collect())
}
