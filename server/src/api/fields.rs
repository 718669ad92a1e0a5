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

/// Objects by their index.
#[derive(Debug)]
pub(super) struct Indexed<'a> {
    items: BTreeMap<u16, Fields<'a>>,
    /// True if an index that was left out is written as `null`, so that each object is at its own index.
    in_place: bool,
}

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
    /// Objects by their index, written as a list.
    Indexed(Indexed<'a>),
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

    /// The object with an index in the list with a name, both made when absent; `None` when that field is something else. In
    /// a list that is made `in_place`, an index that was left out is `null`; in another it takes no place.
    pub(super) fn item(&mut self, name: &'a str, index: u16, in_place: bool) -> Option<&mut Self> {
        let made = || Field::Indexed(Indexed { items: BTreeMap::new(), in_place });
        match self.0.entry(name).or_insert_with(made) {
            Field::Indexed(list) => Some(list.items.entry(index).or_default()),
            _ => None,
        }
    }
}

impl Serialize for Indexed<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if !self.in_place {
            return serializer.collect_seq(self.items.values());
        }
        let length = self.items.last_key_value().map_or(0, |(last, _)| last + 1);
        serializer.collect_seq((0..length).map(|index| self.items.get(&index)))
    }
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
