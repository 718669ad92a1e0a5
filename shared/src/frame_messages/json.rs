//! JSON in the place of JavaScript values, for tests outside of a browser.

use serde_json::{Map, Value, json};

use super::{Sink, Source};

/// A JSON value as source or sink of a message.
#[derive(Debug, Clone, PartialEq)]
pub struct Json(pub Value);

impl Source for Json {
    fn get(&self, name: &str) -> Option<Self> {
        self.0.get(name).filter(|value| !value.is_null()).cloned().map(Self)
    }

    fn as_text(&self) -> Option<String> {
        self.0.as_str().map(str::to_owned)
    }

    fn as_number(&self) -> Option<f64> {
        self.0.as_f64()
    }

    fn as_flag(&self) -> Option<bool> {
        self.0.as_bool()
    }

    fn display(&self) -> String {
        self.as_text().or_else(|| self.as_number().map(|number| number.to_string())).unwrap_or_default()
    }

    fn items(&self) -> Vec<Self> {
        self.0.as_array().map(|items| items.iter().cloned().map(Self).collect()).unwrap_or_default()
    }

    fn keys(&self) -> Vec<String> {
        self.0.as_object().map(|object| object.keys().cloned().collect()).unwrap_or_default()
    }
}

impl Sink for Json {
    fn empty() -> Self {
        Self(Value::Object(Map::new()))
    }

    fn set_text(&mut self, name: &str, value: &str) {
        self.0[name] = value.into();
    }

    fn set_number(&mut self, name: &str, value: f64) {
        self.0[name] = value.into();
    }

    fn set_flag(&mut self, name: &str, value: bool) {
        self.0[name] = value.into();
    }

    fn set_texts(&mut self, name: &str, values: &[String]) {
        self.0[name] = values.into();
    }

    fn set_pairs(&mut self, name: &str, values: &[(String, String)]) {
        self.0[name] = json!(values);
    }

    fn set_object(&mut self, name: &str, value: Self) {
        self.0[name] = value.0;
    }
}
