//! Errors of the codec. No error text contains a value of a message.

use super::IsoKind;

/// The reason why a value cannot be encoded, or bytes cannot be decoded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IsoFault {
    /// The value is longer than the dialect allows.
    #[error("{found} {unit}, {max} at most")]
    TooLong {
        /// Length of the value.
        found: usize,
        /// Maximum length.
        max: usize,
        /// Unit of both lengths, in the plural.
        unit: &'static str,
    },
    /// The value of a fixed field has another length.
    #[error("{found} {unit}, exactly {expected} are needed")]
    WrongLength {
        /// Length of the value.
        found: usize,
        /// Length of the field.
        expected: usize,
        /// Unit of both lengths, in the plural.
        unit: &'static str,
    },
    /// A character or nibble is not allowed.
    #[error("character {position} is not allowed: it has to be {}", kind.allowed_characters())]
    Character {
        /// Position of the character, from 1.
        position: usize,
        /// Kind of the field.
        kind: IsoKind,
    },
    /// The value of a padded field begins or ends with its filler, which decoding would remove.
    #[error("the value has the filler {0:?} at its padded end")]
    Padded(char),
    /// The filler of an odd number of digits is another one.
    #[error("the unused nibble is not the filler {0:X}")]
    Filler(u8),
    /// A prefix counts half bytes or hexadecimal digits, and the count is odd.
    #[error("an odd length of {0}, where only whole bytes are possible")]
    OddLength(usize),
    /// A length prefix has characters other than digits.
    #[error("the length prefix ({0}) has other characters than digits")]
    Prefix(&'static str),
    /// A length prefix cannot express the length of the value.
    #[error("a length of {found} does not fit into its prefix, which ends at {max}")]
    PrefixRange {
        /// Length of the value.
        found: usize,
        /// Maximum length that the prefix can express.
        max: usize,
    },
    /// The message, or the composite field, ends before the value.
    #[error("{needed} bytes are needed, {left} are left")]
    Cut {
        /// Bytes of the value or prefix.
        needed: usize,
        /// Bytes until the end.
        left: usize,
    },
    /// Bytes follow the last field of the message, or the last part of a field.
    #[error("{0} bytes are left after the end")]
    Trailing(usize),
    /// The dialect does not define the field or part.
    #[error("not defined by the dialect")]
    Undefined,
    /// The value has another type: text, bytes or parts.
    #[error("{found} instead of {expected}")]
    ValueType {
        /// Type of the value.
        found: &'static str,
        /// Type that the field has.
        expected: &'static str,
    },
    /// A part stands in another place than the dialect says, or a part of a fixed field is missing.
    #[error("the parts are not the first ones of the dialect in their order, or one is missing")]
    PartOrder,
    /// The tag of a part cannot be written.
    #[error("the tag does not have the form of the dialect's tags")]
    Tag,
    /// The message type has characters other than digits.
    #[error("the message type does not consist of four digits")]
    MessageType,
    /// The message type belongs to another version of ISO 8583.
    #[error("the message type begins with {found}, in this dialect with {expected}")]
    Version {
        /// First digit of the message type.
        found: char,
        /// First digit of the dialect's message types.
        expected: char,
    },
    /// A bitmap has characters other than hexadecimal digits.
    #[error("the bitmap has other characters than hexadecimal digits")]
    Bitmap,
    /// A bitmap announces a further one that the dialect does not have.
    #[error("bit {0} announces a bitmap that the dialect does not have")]
    BitmapCount(u8),
    /// A field announces a bitmap and cannot be set.
    #[error("the field's bit announces a bitmap")]
    BitmapField,
    /// The message has no MAC, or a field follows the MAC.
    #[error("the message has no MAC in its last field")]
    MacMissing,
    /// The MAC is not the one of the message and key.
    #[error("the MAC is wrong: check the key, and the bytes that the MAC covers")]
    MacMismatch,
    /// The dialect's algorithm is `none`, or needs another key.
    #[error("the key is not one of the dialect's MAC algorithm")]
    MacKey,
}

/// A fault, and the part of a composite field that has it. `None` if the field itself has it.
#[derive(Debug)]
pub(super) struct PartFault {
    pub(super) part: Option<String>,
    pub(super) fault: IsoFault,
}

impl From<IsoFault> for PartFault {
    fn from(fault: IsoFault) -> Self {
        Self { part: None, fault }
    }
}

impl PartFault {
    /// Puts the fault into a part, unless it is in one.
    pub(super) fn within(mut self, tag: &str, name: Option<&str>) -> Self {
        self.part.get_or_insert_with(|| match name {
            Some(name) => format!("part {tag} ({name})"),
            None => format!("part {tag}"),
        });
        self
    }

    /// Returns the place of the fault: a field's label, and the part.
    pub(super) fn place(&self, field: &str) -> String {
        match &self.part {
            Some(part) => format!("{field}, {part}"),
            None => field.to_owned(),
        }
    }
}

/// The reason why a message cannot be encoded. Its text names the place, such as
/// `field 37 (retrieval reference number): 13 characters, 12 at most`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {fault}")]
pub struct EncodeError {
    /// Field and part, with number and name, or another place of the message.
    pub place: String,
    /// The fault.
    #[source]
    pub fault: IsoFault,
}

/// The reason why bytes are no message of the dialect. Its text names the place.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}, byte {offset}: {fault}")]
pub struct DecodeError {
    /// Field and part, with number and name, or another place of the message.
    pub place: String,
    /// Index of the field's first byte in the message, from 0.
    pub offset: usize,
    /// The fault.
    #[source]
    pub fault: IsoFault,
}
