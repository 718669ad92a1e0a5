//! The part of a response whose names are not known before: texts and groups of texts. Names and texts are borrowed
//! from their sources, so that a response is copied only once, into the bytes that are sent.

use std::borrow::Cow;
use std::collections::BTreeMap;

use foldhash::fast::RandomState;
use indexmap::IndexMap;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};

/// A JSON object; its fields keep the order in which they were set. Merchants choose some of the names. The hash has a
/// random seed, so they cannot choose many names with the same hash.
#[derive(Debug, Default, Serialize)]
#[serde(transparent)]
pub struct JsonObject<'a>(IndexMap<&'a str, FieldValue<'a>, RandomState>);

/// Objects by index.
#[derive(Debug)]
pub struct IndexedObjects<'a> {
    items: BTreeMap<u16, JsonObject<'a>>,
    /// True if a missing index is written as `null`, so that each object is at its own index.
    in_place: bool,
}

/// The value of a field.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum FieldValue<'a> {
    /// A text.
    Text(&'a str),
    /// An object inside the object.
    Object(JsonObject<'a>),
    /// Objects by their index, written as a list.
    Indexed(IndexedObjects<'a>),
}

impl<'a> JsonObject<'a> {
    /// Creates an object without fields, with capacity for the longest responses.
    pub fn new() -> Self {
        Self(IndexMap::with_capacity_and_hasher(24, RandomState::default()))
    }

    /// Sets a text.
    #[must_use]
    pub fn with(mut self, name: &'a str, value: &'a str) -> Self {
        self.set(name, value);
        self
    }

    /// Sets a text. A field that exists keeps its position and gets the new value.
    pub fn set(&mut self, name: &'a str, value: &'a str) {
        self.0.insert(name, FieldValue::Text(value));
    }

    /// Removes the fields with these names.
    pub fn remove_all(&mut self, names: &[&'static str]) {
        for name in names {
            self.0.shift_remove(*name);
        }
    }

    /// Removes the inner object with this name and returns it. A field that is something else is removed, too. The
    /// result is empty if there is none.
    pub fn take_object(&mut self, name: &'static str) -> Self {
        match self.0.shift_remove(name) {
            Some(FieldValue::Object(object)) => object,
            _ => Self::default(),
        }
    }

    /// Returns the inner object with this name, and creates it if absent. Returns `None` if the field is something
    /// else.
    pub fn nested_object(&mut self, name: &'a str) -> Option<&mut Self> {
        match self.0.entry(name).or_insert_with(|| FieldValue::Object(JsonObject::default())) {
            FieldValue::Object(group) => Some(group),
            _ => None,
        }
    }

    /// Returns the object at an index of the list with this name, and creates both if absent. Returns `None` if the
    /// field is something else. If the list is created with `in_place`, a missing index is written as `null`, otherwise
    /// it is left out; later calls do not change that.
    pub fn list_item(&mut self, name: &'a str, index: u16, in_place: bool) -> Option<&mut Self> {
        let empty_list = || FieldValue::Indexed(IndexedObjects { items: BTreeMap::new(), in_place });
        match self.0.entry(name).or_insert_with(empty_list) {
            FieldValue::Indexed(list) => Some(list.items.entry(index).or_default()),
            _ => None,
        }
    }
}

/// An object with any fields.
impl JsonSchema for JsonObject<'_> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "JsonObject".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "object" })
    }
}

impl Serialize for IndexedObjects<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if !self.in_place {
            return serializer.collect_seq(self.items.values());
        }
        let length = self.items.last_key_value().map_or(0, |(last, _)| last + 1);
        serializer.collect_seq((0..length).map(|index| self.items.get(&index)))
    }
}
