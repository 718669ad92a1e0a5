//! The place of a datum: a field, or a part of a field.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;

use super::datum::Datum;
use crate::iso8583::error::{EncodeError, IsoFault};
use crate::iso8583::layout::{FieldLayout, IsoKind, PartLayout, ValueBody, ValueCoding, ValueLayout, ValueLength};
use crate::iso8583::message::{IsoMessage, IsoPart, IsoValue};
use crate::iso8583::value::encode_value;

/// The place of a datum.
#[derive(Debug, Clone)]
pub(in crate::iso8583) struct DatumPlace {
    field: FieldLayout,
    part: Option<PartLayout>,
}

impl DatumPlace {
    /// Makes the place of a field or part. `None` if the field has no such part.
    pub(in crate::iso8583) fn new(field: &FieldLayout, tag: Option<&str>) -> Option<Self> {
        let part = match tag {
            Some(tag) => Some(field.find_part(tag)?.clone()),
            None => None,
        };
        Some(Self { field: field.clone(), part })
    }

    /// Returns the number of the field.
    pub(in crate::iso8583) fn number(&self) -> u8 {
        self.field.number
    }

    /// Returns the layout of the value.
    pub(in crate::iso8583) fn layout(&self) -> &ValueLayout {
        self.part.as_ref().map_or(&self.field.value, |part| &part.value)
    }

    /// Returns the maximum number of digits, characters or bytes.
    pub(in crate::iso8583) fn max_length(&self) -> usize {
        match self.layout().length {
            ValueLength::Fixed(max) | ValueLength::Prefixed { max, .. } | ValueLength::Enclosed { max } => max,
        }
    }

    /// Returns the number of the field, and the tag of a part after a dot.
    pub(super) fn short_label(&self) -> String {
        match &self.part {
            Some(part) => format!("{}.{}", self.field.number, part.tag),
            None => self.field.number.to_string(),
        }
    }

    /// Returns the place for error texts.
    pub(in crate::iso8583) fn label(&self) -> String {
        match &self.part {
            Some(part) => format!("{}, part {} ({})", self.field.label(), part.tag, part.name),
            None => self.field.label(),
        }
    }

    /// Writes a text. The field is not changed if the text does not fit.
    pub(super) fn write(&self, message: &mut IsoMessage, datum: Datum, text: &str) -> Result<(), EncodeError> {
        let refuse = |fault| EncodeError { place: format!("data.{}, {}", datum.key(), self.label()), fault };
        let value = self.make_value(datum, text).map_err(refuse)?;
        encode_value(self.layout(), &value, &mut Vec::new()).map_err(|fault| refuse(fault.fault))?;
        let Some(part) = &self.part else {
            message.set_field(self.field.number, value);
            return Ok(());
        };
        let mut parts = match message.remove_field(self.field.number) {
            Some(IsoValue::Composite(parts)) => parts,
            _ => Vec::new(),
        };
        if let ValueBody::Positional(layouts) = &self.field.value.body {
            // A positional part can only stand behind all parts before it, so those without a datum get a filler.
            let missing = layouts.iter().skip(parts.len());
            parts.extend(missing.map(|layout| IsoPart { tag: layout.tag.clone(), value: make_filler(&layout.value) }));
        }
        match parts.iter_mut().find(|other| other.tag == part.tag) {
            Some(other) => other.value = value,
            None => parts.push(IsoPart { tag: part.tag.clone(), value }),
        }
        message.set_field(self.field.number, IsoValue::Composite(parts));
        Ok(())
    }

    /// Reads the text of the place. `None` if the message lacks it, or it is empty.
    pub(super) fn read<'a>(&self, message: &'a IsoMessage) -> Option<Cow<'a, str>> {
        let value = match &self.part {
            Some(part) => message.part(self.field.number, &part.tag)?,
            None => message.field(self.field.number)?,
        };
        let text = match value {
            IsoValue::Text(text) => Cow::Borrowed(text.as_str()),
            IsoValue::Bytes(bytes) => Cow::Owned(BASE64.encode(bytes)),
            IsoValue::Composite(parts) => Cow::Owned(parts.iter().filter_map(part_text).collect()),
        };
        Some(text).filter(|text| !text.is_empty())
    }

    /// Returns the text with other characters instead of those that the place cannot have, cut to its length.
    pub(super) fn fit_text(&self, text: &str) -> String {
        let ValueBody::Plain { kind, coding, padding } = &self.layout().body else { return text.to_owned() };
        let fits = |character: char| match coding {
            ValueCoding::Characters(charset) => charset.encode_char(character).is_some(),
            _ => true,
        };
        let fitting = text.chars().filter_map(|character| match character {
            _ if kind.allows_character(character) && fits(character) => Some(character),
            // A gap in a name is easier to read than a shorter name.
            _ if *kind == IsoKind::Ans => Some('?'),
            _ => None,
        });
        let cut: String = fitting.take(self.max_length()).collect();
        // A padded text that begins or ends with the filler would be refused.
        padding.map_or(cut.as_str(), |padding| cut.trim_matches(padding.filler)).to_owned()
    }

    fn make_value(&self, datum: Datum, text: &str) -> Result<IsoValue, IsoFault> {
        match (&self.layout().body, self.layout().length) {
            (ValueBody::Plain { kind: IsoKind::B, .. }, _) => {
                let refused = |_| IsoFault::ValueType { found: "a text", expected: "base64" };
                BASE64.decode(text).map(IsoValue::Bytes).map_err(refused)
            }
            (ValueBody::Plain { kind: IsoKind::N, .. }, ValueLength::Fixed(length)) if datum.is_number() => {
                Ok(IsoValue::Text(format!("{text:0>length$}")))
            }
            (ValueBody::Positional(layouts), _) => split_text(layouts, text),
            _ => Ok(IsoValue::Text(text.to_owned())),
        }
    }
}

/// Splits a text into the parts of a positional field.
fn split_text(layouts: &[PartLayout], text: &str) -> Result<IsoValue, IsoFault> {
    let mut rest = text;
    let mut parts = Vec::new();
    for layout in layouts {
        let ValueLength::Fixed(length) = layout.value.length else { return Err(IsoFault::PartOrder) };
        let wrong = IsoFault::WrongLength { found: rest.len(), expected: length, unit: "digits" };
        let (part, after) = rest.split_at_checked(length).ok_or(wrong)?;
        parts.push(IsoPart::text(&layout.tag, part));
        rest = after;
    }
    if rest.is_empty() { Ok(IsoValue::Composite(parts)) } else { Err(IsoFault::Trailing(rest.len())) }
}

/// Makes the value of a part that has no datum: zeros, spaces or nothing.
fn make_filler(layout: &ValueLayout) -> IsoValue {
    match (&layout.body, layout.length) {
        (ValueBody::Plain { kind: IsoKind::B, .. }, ValueLength::Fixed(length)) => IsoValue::Bytes(vec![0; length]),
        (ValueBody::Plain { kind: IsoKind::B, .. }, _) => IsoValue::Bytes(Vec::new()),
        (ValueBody::Plain { kind: IsoKind::XN, .. }, ValueLength::Fixed(length)) => {
            IsoValue::Text(format!("C{}", "0".repeat(length)))
        }
        (ValueBody::Plain { kind: IsoKind::N | IsoKind::An | IsoKind::Z, padding: None, .. }, length) => {
            let zeros = if let ValueLength::Fixed(length) = length { length } else { 0 };
            IsoValue::Text("0".repeat(zeros))
        }
        (ValueBody::Plain { kind: IsoKind::Ans, padding: None, .. }, ValueLength::Fixed(length)) => {
            IsoValue::Text(" ".repeat(length))
        }
        _ => IsoValue::Text(String::new()),
    }
}

fn part_text(part: &IsoPart) -> Option<&str> {
    match &part.value {
        IsoValue::Text(text) => Some(text),
        IsoValue::Bytes(_) | IsoValue::Composite(_) => None,
    }
}
