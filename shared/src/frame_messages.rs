//! Messages between the page module of the form, the frames of its fields and the relay frame. The scripts of the
//! frames are JavaScript and repeat the names of types and parts.

mod answer;
mod config;
mod field;
#[cfg(any(test, feature = "json"))]
mod json;
mod relay;

pub use answer::{GatewayAnswer, NextStep, Page, PageMethod};
pub use config::{ClosedReason, Config, OfferedBrand, StoredAccount};
pub use field::{FieldMessage, FieldReport, FieldState, FrameField, FrameLook, Submit};
#[cfg(any(test, feature = "json"))]
pub use json::Json;
pub use relay::{RelayCall, RelayReport};

/// Version of the messages. A frame with another version comes from another build, and is not understood.
pub const VERSION: u32 = 1;

/// A structured value that a message is read from: a JavaScript value in the browser, JSON in tests. Nothing is known
/// about its shape, so a missing part and a part of the wrong type read the same.
pub trait Source: Clone {
    /// Returns a property. `None` if there is none, or if it is null or undefined.
    fn get(&self, name: &str) -> Option<Self>;
    /// Returns the value if it is text.
    fn as_text(&self) -> Option<String>;
    /// Returns the value if it is a number.
    fn as_number(&self) -> Option<f64>;
    /// Returns the value if it is true or false.
    fn as_flag(&self) -> Option<bool>;
    /// Returns text or a number as text. Empty for another value.
    fn display(&self) -> String;
    /// Returns the items of a list. Empty if the value is no list.
    fn items(&self) -> Vec<Self>;
    /// Returns the names of the properties. Empty if the value is no object.
    fn keys(&self) -> Vec<String>;

    /// Returns a property that is text, or else empty text.
    fn text(&self, name: &str) -> String {
        self.get(name).and_then(|value| value.as_text()).unwrap_or_default()
    }

    /// Returns a property that is text, if it is not empty.
    fn filled_text(&self, name: &str) -> Option<String> {
        Some(self.text(name)).filter(|text| !text.is_empty())
    }

    /// Returns true if a property is true.
    fn flag(&self, name: &str) -> bool {
        self.get(name).and_then(|value| value.as_flag()).unwrap_or_default()
    }

    /// Returns the texts of a property that is a list.
    fn texts(&self, name: &str) -> Vec<String> {
        self.list(name).iter().filter_map(Self::as_text).collect()
    }

    /// Returns the items of a property that is a list.
    fn list(&self, name: &str) -> Vec<Self> {
        self.get(name).map(|value| value.items()).unwrap_or_default()
    }
}

/// A structured value that a message is written to.
pub trait Sink: Sized {
    /// Creates an object without properties.
    fn empty() -> Self;
    /// Sets a property to text.
    fn set_text(&mut self, name: &str, value: &str);
    /// Sets a property to a number.
    fn set_number(&mut self, name: &str, value: f64);
    /// Sets a property to true or false.
    fn set_flag(&mut self, name: &str, value: bool);
    /// Sets a property to a list of texts.
    fn set_texts(&mut self, name: &str, values: &[String]);
    /// Sets a property to a list of pairs of texts.
    fn set_pairs(&mut self, name: &str, values: &[(String, String)]);
    /// Sets a property to an object.
    fn set_object(&mut self, name: &str, value: Self);
}

#[cfg(test)]
mod tests;
