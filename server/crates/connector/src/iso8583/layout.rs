//! Layouts of fields and parts, after the dialect's check: kind, coding, length and parts.

use serde::Deserialize;

use super::charset::IsoCharset;
use super::number::{LengthCoding, number_limit};

/// Kind of a field or part, in the notation of ISO 8583.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub enum IsoKind {
    /// Digits.
    #[serde(rename = "n")]
    N,
    /// Letters.
    #[serde(rename = "a")]
    A,
    /// Letters and digits.
    #[serde(rename = "an")]
    An,
    /// Printable characters.
    #[serde(rename = "ans")]
    Ans,
    /// Bytes.
    #[serde(rename = "b")]
    B,
    /// Track data: digits and separators.
    #[serde(rename = "z")]
    Z,
    /// An amount: `C` (credit) or `D` (debit), and digits.
    #[serde(rename = "x+n")]
    XN,
    /// Parts in a fixed order.
    #[serde(rename = "positional")]
    Positional,
    /// Parts with tag and length.
    #[serde(rename = "tlv")]
    Tlv,
}

impl IsoKind {
    /// Returns true if the kind allows a character.
    pub(super) fn allows_character(self, character: char) -> bool {
        match self {
            Self::N | Self::XN => character.is_ascii_digit(),
            Self::A => character.is_ascii_alphabetic(),
            Self::An => character.is_ascii_alphanumeric(),
            Self::Ans => !character.is_control(),
            Self::Z => character.is_ascii_digit() || character == '=' || character == 'D',
            Self::B | Self::Positional | Self::Tlv => false,
        }
    }

    /// Returns the allowed characters in words, for error texts.
    pub(super) fn allowed_characters(self) -> &'static str {
        match self {
            Self::N => "a digit",
            Self::A => "a letter",
            Self::An => "a letter or digit",
            Self::Ans => "printable, and in the dialect's character set",
            Self::B => "a hexadecimal digit",
            Self::Z => "a digit or separator",
            Self::XN => "C or D, and then a digit",
            Self::Positional | Self::Tlv => "a part",
        }
    }

    /// Returns the unit of lengths in the dialect, in the plural.
    pub(super) fn unit(self) -> &'static str {
        match self {
            Self::N | Self::XN => "digits",
            Self::A | Self::An | Self::Ans | Self::Z => "characters",
            Self::B | Self::Positional | Self::Tlv => "bytes",
        }
    }
}

/// Side of a filler.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum FillerSide {
    Left,
    Right,
}

/// The nibble that fills an odd number of BCD digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct OddFiller {
    pub(super) side: FillerSide,
    /// The nibble, 0 to 15.
    pub(super) nibble: u8,
}

/// Padding of texts that are shorter than their fixed field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TextPadding {
    pub(super) side: FillerSide,
    pub(super) filler: char,
}

/// Coding of a value's elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ValueCoding {
    /// One byte for each character.
    Characters(IsoCharset),
    /// Two digits in each byte. The sign of x+n is a byte in the character set.
    Packed { filler: OddFiller, charset: IsoCharset },
    /// Bytes unchanged.
    Binary,
    /// Two hexadecimal digits for each byte.
    Hex(IsoCharset),
}

/// Unit that a length prefix counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CountedUnit {
    /// Digits or characters without a filler.
    Elements,
    /// Encoded bytes.
    Bytes,
    /// Encoded half bytes, without the filler of an odd number of digits.
    Nibbles,
}

/// Length prefix of a variable value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LengthPrefix {
    pub(super) coding: LengthCoding,
    /// Number of decimal digits; for the binary coding, of bytes.
    pub(super) size: usize,
    pub(super) counts: CountedUnit,
}

impl LengthPrefix {
    /// Returns the maximum length that the prefix can express.
    pub(super) fn limit(&self) -> usize {
        number_limit(self.coding, self.size)
    }
}

/// Length of a value, in elements of its kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ValueLength {
    /// The same for each value.
    Fixed(usize),
    /// From 0 to a maximum, with a prefix.
    Prefixed { max: usize, prefix: LengthPrefix },
    /// From 0 to a maximum, until the end of the enclosing tag-length-value.
    Enclosed { max: usize },
}

/// Structure of a value.
#[derive(Debug, Clone)]
pub(super) enum ValueBody {
    /// A text or bytes.
    Plain { kind: IsoKind, coding: ValueCoding, padding: Option<TextPadding> },
    /// Parts in a fixed order.
    Positional(Vec<PartLayout>),
    /// Parts with tag and length.
    Tlv(TlvLayout),
}

/// Layout of a field's or part's value.
#[derive(Debug, Clone)]
pub(super) struct ValueLayout {
    pub(super) length: ValueLength,
    pub(super) body: ValueBody,
    /// True if no log may show the value.
    pub(super) is_secret: bool,
}

impl ValueLayout {
    /// Returns the kind.
    pub(super) fn kind(&self) -> IsoKind {
        match &self.body {
            ValueBody::Plain { kind, .. } => *kind,
            ValueBody::Positional(_) => IsoKind::Positional,
            ValueBody::Tlv(_) => IsoKind::Tlv,
        }
    }

    /// Returns the number of encoded bytes of a fixed value. `None` for variable ones.
    pub(super) fn fixed_bytes(&self) -> Option<usize> {
        match self.length {
            ValueLength::Fixed(length) => Some(self.encoded_bytes(length)),
            ValueLength::Prefixed { .. } | ValueLength::Enclosed { .. } => None,
        }
    }

    /// Returns the number of encoded bytes of this many elements, without prefix.
    pub(super) fn encoded_bytes(&self, elements: usize) -> usize {
        match &self.body {
            ValueBody::Plain { kind, coding, .. } => {
                // The sign of an amount is not counted in its length.
                let sign = usize::from(*kind == IsoKind::XN);
                match coding {
                    ValueCoding::Packed { .. } => sign + elements.div_ceil(2),
                    ValueCoding::Hex(_) => elements.saturating_mul(2),
                    ValueCoding::Characters(_) | ValueCoding::Binary => sign + elements,
                }
            }
            ValueBody::Positional(_) | ValueBody::Tlv(_) => elements,
        }
    }

    /// Returns true if two digits share a byte.
    pub(super) fn is_packed(&self) -> bool {
        matches!(self.body, ValueBody::Plain { coding: ValueCoding::Packed { .. }, .. })
    }

    /// Returns the count of a prefix for this many elements.
    pub(super) fn count_elements(&self, counts: CountedUnit, elements: usize) -> usize {
        match counts {
            CountedUnit::Elements => elements,
            CountedUnit::Bytes => self.encoded_bytes(elements),
            CountedUnit::Nibbles if self.is_packed() => elements,
            CountedUnit::Nibbles => self.encoded_bytes(elements).saturating_mul(2),
        }
    }
}

/// A part of a composite field.
#[derive(Debug, Clone)]
pub(super) struct PartLayout {
    /// Tag, or position from `1`.
    pub(super) tag: String,
    pub(super) name: String,
    pub(super) value: ValueLayout,
}

/// Layout of parts with tag and length.
#[derive(Debug, Clone)]
pub(super) struct TlvLayout {
    /// Coding of tags. Binary tags are hexadecimal digits in messages.
    pub(super) tag_coding: LengthCoding,
    /// Number of a tag's characters or digits; for the binary coding, of bytes.
    pub(super) tag_size: usize,
    /// Prefix of the values. It counts bytes.
    pub(super) prefix: LengthPrefix,
    /// Parts with known tags.
    pub(super) parts: Vec<PartLayout>,
}

impl TlvLayout {
    /// Returns the layout of a tag. `None` if the dialect does not define it.
    pub(super) fn find_part(&self, tag: &str) -> Option<&PartLayout> {
        self.parts.iter().find(|part| part.tag == tag)
    }
}

/// A field.
#[derive(Debug, Clone)]
pub(super) struct FieldLayout {
    pub(super) number: u8,
    pub(super) name: String,
    pub(super) value: ValueLayout,
}

impl FieldLayout {
    /// Returns the number and name for error texts.
    pub(super) fn label(&self) -> String {
        format!("field {} ({})", self.number, self.name)
    }

    /// Returns the layouts of the parts. Empty if the field has none.
    pub(super) fn parts(&self) -> &[PartLayout] {
        match &self.value.body {
            ValueBody::Plain { .. } => &[],
            ValueBody::Positional(parts) => parts,
            ValueBody::Tlv(tlv) => &tlv.parts,
        }
    }

    /// Returns the layout of a part. `None` if the field has no such part.
    pub(super) fn find_part(&self, tag: &str) -> Option<&PartLayout> {
        self.parts().iter().find(|part| part.tag == tag)
    }
}
