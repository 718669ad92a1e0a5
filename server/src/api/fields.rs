//! A JSON answer while it is put together. Names and texts are borrowed from what they describe, so that an answer
//! is copied once, into the bytes that leave.

use std::borrow::Cow;
use std::collections::BTreeMap;

use indexmap::IndexMap;
use serde::{Serialize, Serializer};
use serde_json::Value;

/// A JSON object; its fields keep the order in which they were set.
#[derive(Debug, Default, Serialize)]
#[serde(transparent)]
pub(super) struct Fields<'a>(IndexMap<&'a str, Field<'a>>);

/// The value of a field.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum Field<'a> {
    /// A text.
    Text(Cow<'a, str>),
    /// An object inside the object.
    Group(Fields<'a>),
    /// Objects in order.
    List(Vec<Fields<'a>>),
    /// Objects by their index. They are written in its order, as a list: what was left out takes no place.
    #[serde(serialize_with = "in_order")]
    Indexed(BTreeMap<u16, Fields<'a>>),
    /// Anything else.
    Value(Value),
}

impl<'a> Fields<'a> {
    /// No fields, with room for as many as the longest answers have.
    pub(super) fn new() -> Self {
        Self(IndexMap::with_capacity(24))
    }

    /// Adds a field.
    #[must_use]
    pub(super) fn with(mut self, name: &'a str, value: impl Into<Field<'a>>) -> Self {
        self.set(name, value);
        self
    }

    /// Sets a field; one that exists keeps its place.
    pub(super) fn set(&mut self, name: &'a str, value: impl Into<Field<'a>>) {
        self.0.insert(name, value.into());
    }

    /// The object inside this one with a name, made when absent; `None` when that field is something else.
    pub(super) fn group(&mut self, name: &'a str) -> Option<&mut Self> {
        match self.0.entry(name).or_insert_with(|| Field::Group(Fields::default())) {
            Field::Group(group) => Some(group),
            _ => None,
        }
    }

    /// The object with an index in the list with a name, both made when absent; `None` when that field is something else.
    pub(super) fn item(&mut self, name: &'a str, index: u16) -> Option<&mut Self> {
        match self.0.entry(name).or_insert_with(|| Field::Indexed(BTreeMap::new())) {
            Field::Indexed(items) => Some(items.entry(index).or_default()),
            _ => None,
        }
    }
}

fn in_order<S: Serializer>(items: &BTreeMap<u16, Fields<'_>>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(items.values())
}

impl<'a> From<&'a str> for Field<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(Cow::Borrowed(text))
    }
}

impl From<String> for Field<'_> {
    fn from(text: String) -> Self {
        Self::Text(Cow::Owned(text))
    }
}

impl<'a> From<Fields<'a>> for Field<'a> {
    fn from(group: Fields<'a>) -> Self {
        Self::Group(group)
    }
}

impl<'a> From<Vec<Fields<'a>>> for Field<'a> {
    fn from(list: Vec<Fields<'a>>) -> Self {
        Self::List(list)
    }
}

impl From<Value> for Field<'_> {
    fn from(value: Value) -> Self {
        Self::Value(value)
    }
}
