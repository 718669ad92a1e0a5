//! The parameters of a request: names and values in the order of arrival.

use std::fmt;

use foldhash::fast::RandomState;
use indexmap::IndexMap;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use zeroize::Zeroize as _;

use super::catalogue::{find_parameter, is_secret};
use crate::format::mask::mask_card_numbers;

/// Largest number of parameters that are searched one after the other.
const SCANNED: usize = 32;

/// Names and values in order, each name once.
///
/// Senders choose the names. The hash has a random seed, so they cannot choose many names with the same hash.
///
/// `Debug` masks secrets and card numbers. Values of secret parameters are zeroed when they are replaced or dropped.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Parameters(IndexMap<String, String, RandomState>);

impl Parameters {
    /// Creates an empty set with room for `capacity` parameters.
    pub(crate) fn with_capacity(capacity: usize) -> Self {
        Self(IndexMap::with_capacity_and_hasher(capacity, RandomState::default()))
    }

    /// Returns the value of a parameter.
    pub fn get(&self, name: &str) -> Option<&str> {
        // Most requests have some twenty parameters and many look-ups: comparing names costs less than hashing one.
        if self.0.len() <= SCANNED {
            return self.0.iter().find(|(known, _)| *known == name).map(|(_, value)| value.as_str());
        }
        self.0.get(name).map(String::as_str)
    }

    /// Sets a parameter. An existing one keeps its place, and its value is zeroed if it is secret.
    pub fn set(&mut self, name: impl Into<String>, value: impl Into<String>) {
        let (index, old) = self.0.insert_full(name.into(), value.into());
        if let Some(mut old) = old
            && self.0.get_index(index).is_some_and(|(name, _)| is_secret(name))
        {
            old.zeroize();
        }
    }

    /// Removes a parameter. The others keep their order. The caller is responsible for protecting a secret value.
    pub fn remove(&mut self, name: &str) -> Option<String> {
        self.0.shift_remove(name)
    }

    /// Returns true if there is such a parameter.
    pub fn contains(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// Returns names and values in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// Returns the number of parameters.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns true if there are no parameters.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Keeps the parameters for which the function returns true, in order. The values of removed secret parameters are
    /// zeroed.
    pub fn retain(&mut self, mut keep: impl FnMut(&str, &str) -> bool) {
        self.retain_changed(|name, value| keep(name, value));
    }

    /// Same as [`Self::retain`]; the function may also change the value. It zeroes a secret value before replacing it.
    pub(crate) fn retain_changed(&mut self, mut keep: impl FnMut(&str, &mut String) -> bool) {
        self.0.retain(|name, value| {
            let stays = keep(name, value);
            if !stays && is_secret(name) {
                value.zeroize();
            }
            stays
        });
    }

    /// Returns the parameters whose names begin with a prefix, in order.
    pub fn with_prefix(&self, prefix: &str) -> impl Iterator<Item = (&str, &str)> {
        self.iter().filter(move |(name, _)| name.starts_with(prefix))
    }

    /// Copies parameters from another set that this one lacks. Existing ones stay unchanged.
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
            if find_parameter(name).is_some_and(|row| row.secret) {
                map.entry(&name, &"***");
            } else {
                map.entry(&mask_card_numbers(name), &mask_card_numbers(value));
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
        struct ParametersVisitor;

        impl<'de> Visitor<'de> for ParametersVisitor {
            type Value = Parameters;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of strings")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Parameters, A::Error> {
                // JSON does not say how many follow; most payments have some twenty.
                let mut parameters = Parameters::with_capacity(SCANNED);
                while let Some((name, value)) = map.next_entry::<String, String>()? {
                    parameters.set(name, value);
                }
                Ok(parameters)
            }
        }

        deserializer.deserialize_map(ParametersVisitor)
    }
}
