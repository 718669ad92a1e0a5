//! The parameters of a request: names and values in the order they came.

use std::fmt;

use indexmap::IndexMap;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use zeroize::Zeroize as _;

use super::catalogue::{find, is_secret};
use crate::format::mask::mask_numbers;

/// Names and values, in order, each name once.
///
/// `Debug` masks secrets and card numbers; values of secret parameters are zeroed when they are replaced or dropped.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Parameters(IndexMap<String, String>);

impl Parameters {
    /// An empty set with room for some.
    pub(crate) fn with_capacity(capacity: usize) -> Self {
        Self(IndexMap::with_capacity(capacity))
    }

    /// The value of a parameter.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// Sets a parameter; one that exists keeps its place.
    pub fn set(&mut self, name: impl Into<String>, value: impl Into<String>) {
        let name = name.into();
        let secret = is_secret(&name);
        if let Some(mut old) = self.0.insert(name, value.into())
            && secret
        {
            old.zeroize();
        }
    }

    /// Takes a parameter out; the others keep their order. Whoever takes a secret is responsible for it.
    pub fn remove(&mut self, name: &str) -> Option<String> {
        self.0.shift_remove(name)
    }

    /// Whether there is such a parameter.
    pub fn contains(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// Names and values in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = (&str, &mut String)> {
        self.0.iter_mut().map(|(name, value)| (name.as_str(), value))
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Keeps what the function says yes to, in order.
    pub fn retain(&mut self, mut keep: impl FnMut(&str, &str) -> bool) {
        self.0.retain(|name, value| {
            let kept = keep(name, value);
            if !kept && is_secret(name) {
                value.zeroize();
            }
            kept
        });
    }

    /// Those whose name begins like this.
    pub fn with_prefix(&self, prefix: &str) -> impl Iterator<Item = (&str, &str)> {
        self.iter().filter(move |(name, _)| name.starts_with(prefix))
    }

    /// Takes over from another set what this one lacks; what it has stays as it is.
    pub fn extend_missing(&mut self, other: &Self) {
        for (name, value) in other.iter() {
            if !self.contains(name) {
                self.set(name, value);
            }
        }
    }
}

impl Drop for Parameters {
    fn drop(&mut self) {
        for (name, value) in &mut self.0 {
            if is_secret(name) {
                value.zeroize();
            }
        }
    }
}

impl<N: Into<String>, V: Into<String>> FromIterator<(N, V)> for Parameters {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(pairs: I) -> Self {
        let mut parameters = Self::default();
        for (name, value) in pairs {
            parameters.set(name, value);
        }
        parameters
    }
}

impl fmt::Debug for Parameters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut map = f.debug_map();
        for (name, value) in self.iter() {
            if find(name).is_some_and(|row| row.secret) {
                map.entry(&name, &"***");
            } else {
                map.entry(&mask_numbers(name), &mask_numbers(value));
            }
        }
        map.finish()
    }
}

impl Serialize for Parameters {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(&self.0)
    }
}

impl<'de> Deserialize<'de> for Parameters {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;

        impl<'de> Visitor<'de> for InOrder {
            type Value = Parameters;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of strings")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Parameters, A::Error> {
                let mut parameters = Parameters::default();
                while let Some((name, value)) = map.next_entry::<String, String>()? {
                    parameters.set(name, value);
                }
                Ok(parameters)
            }
        }

        deserializer.deserialize_map(InOrder)
    }
}
