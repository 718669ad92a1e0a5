//! JSON in the place of JavaScript values, for tests on the host.

use serde_json::Value;
use tillgate_shared::wire::Source;

/// A JSON value as the source of a message.
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
