//! Messages: a type, and fields in the order of their numbers.

use std::collections::BTreeMap;
use std::fmt;

/// Message type: version, class, function and origin, one digit each (ISO 8583:1987).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Mti([u8; 4]);

impl Mti {
    /// Reads four digits, such as `0200`. Returns `None` for any other text.
    pub fn parse(text: &str) -> Option<Self> {
        let digits: [u8; 4] = text.as_bytes().try_into().ok()?;
        digits.iter().all(u8::is_ascii_digit).then_some(Self(digits))
    }

    /// Returns the version's digit: `0` for 1987, `1` for 1993, `2` for 2003.
    pub fn version(self) -> char {
        char::from(self.0[0])
    }

    /// Returns true if the message is a response: the third digit is odd.
    pub fn is_response(self) -> bool {
        !self.0[2].is_multiple_of(2)
    }

    /// Returns the type of the response: `0210` for `0200`, `0430` for `0421`. Returns `None` for responses.
    pub fn response(self) -> Option<Self> {
        let Self([version, class, function, origin]) = self.without_repetition();
        // A repetition gets the response of the first request.
        (!self.is_response()).then_some(Self([version, class, function + 1, origin]))
    }

    /// Returns the type of the first message: `0400` for its repetition `0401`.
    #[must_use]
    pub fn without_repetition(self) -> Self {
        let [version, class, function, origin] = self.0;
        // Odd digits of the origin are repetitions. The codes of digits are even if the digits are.
        Self([version, class, function, origin & !1])
    }
}

impl fmt::Display for Mti {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|digit| write!(f, "{}", char::from(*digit)))
    }
}

/// Value of a field, or of a part of a composite field. Its `Debug` shows the length only.
#[derive(Clone, PartialEq, Eq)]
pub enum IsoValue {
    /// Digits and characters: kinds n, a, an, ans, z and x+n.
    Text(String),
    /// Bytes: kind b, and parts with tags that the dialect does not define.
    Bytes(Vec<u8>),
    /// Parts of a composite field, in their order. An empty composite is a present field without bytes.
    Composite(Vec<IsoPart>),
}

impl IsoValue {
    /// Returns the name of the value's type.
    pub(super) fn type_name(&self) -> &'static str {
        match self {
            Self::Text(_) => "a text",
            Self::Bytes(_) => "bytes",
            Self::Composite(_) => "parts",
        }
    }
}

// Values may be card numbers and security codes, and `Debug` ends in logs.
impl fmt::Debug for IsoValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => write!(f, "Text({} characters)", text.chars().count()),
            Self::Bytes(bytes) => write!(f, "Bytes({})", bytes.len()),
            Self::Composite(parts) => f.debug_list().entries(parts).finish(),
        }
    }
}

/// A part of a composite field.
#[derive(Clone, PartialEq, Eq)]
pub struct IsoPart {
    /// The tag. Of positional parts the position in the dialect, from `1`; of binary tags the hexadecimal digits in
    /// capitals.
    pub tag: String,
    /// The value: a text or bytes.
    pub value: IsoValue,
}

impl IsoPart {
    /// Makes a part with a text.
    pub fn text(tag: &str, text: &str) -> Self {
        Self { tag: tag.to_owned(), value: IsoValue::Text(text.to_owned()) }
    }
}

impl fmt::Debug for IsoPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {:?}", self.tag, self.value)
    }
}

/// A message. Its `Debug` shows the type, the fields' numbers and the lengths; [`super::Dialect::describe`] shows
/// masked values.
#[derive(Clone, PartialEq, Eq)]
pub struct IsoMessage {
    mti: Mti,
    fields: BTreeMap<u8, IsoValue>,
}

impl IsoMessage {
    /// Makes a message without fields.
    pub fn new(mti: Mti) -> Self {
        Self { mti, fields: BTreeMap::new() }
    }

    /// Returns the message type.
    pub fn mti(&self) -> Mti {
        self.mti
    }

    /// Sets a field, or replaces its value. `number` is checked by the encoding.
    pub fn set_field(&mut self, number: u8, value: IsoValue) {
        self.fields.insert(number, value);
    }

    /// Sets a field to a text, and returns the message.
    #[must_use]
    pub fn with_text(mut self, number: u8, text: &str) -> Self {
        self.set_field(number, IsoValue::Text(text.to_owned()));
        self
    }

    /// Sets a field to parts, and returns the message.
    #[must_use]
    pub fn with_parts(mut self, number: u8, parts: Vec<IsoPart>) -> Self {
        self.set_field(number, IsoValue::Composite(parts));
        self
    }

    /// Removes a field, and returns its value. Returns `None` if it is absent.
    pub fn remove_field(&mut self, number: u8) -> Option<IsoValue> {
        self.fields.remove(&number)
    }

    /// Returns the value of a field. `None` if it is absent.
    pub fn field(&self, number: u8) -> Option<&IsoValue> {
        self.fields.get(&number)
    }

    /// Returns the text of a field. `None` if it is absent or has bytes or parts.
    pub fn text(&self, number: u8) -> Option<&str> {
        match self.field(number)? {
            IsoValue::Text(text) => Some(text),
            IsoValue::Bytes(_) | IsoValue::Composite(_) => None,
        }
    }

    /// Returns the value of the first part with a tag in a composite field. `None` if there is none.
    pub fn part(&self, number: u8, tag: &str) -> Option<&IsoValue> {
        match self.field(number)? {
            IsoValue::Composite(parts) => parts.iter().find(|part| part.tag == tag).map(|part| &part.value),
            IsoValue::Text(_) | IsoValue::Bytes(_) => None,
        }
    }

    /// Returns the fields in the order of their numbers.
    pub fn fields(&self) -> impl Iterator<Item = (u8, &IsoValue)> {
        self.fields.iter().map(|(number, value)| (*number, value))
    }

    /// Returns the number of the last field. `None` if there is no field.
    pub(super) fn last_number(&self) -> Option<u8> {
        self.fields.last_key_value().map(|(number, _)| *number)
    }
}

impl fmt::Debug for IsoMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "IsoMessage {} ", self.mti)?;
        f.debug_map().entries(&self.fields).finish()
    }
}
