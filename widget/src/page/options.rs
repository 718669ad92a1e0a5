//! `wpwlOptions`: read when it is needed, as merchants assign and change it late. Unknown keys are fine.

use wasm_bindgen::JsValue;

use super::js;
use super::runtime::loader;

/// The merchant's options, as the loader reads them: without what markup or Object.prototype puts in their place.
pub fn object() -> JsValue {
    loader("options", &[])
}

/// An option that is on unless it is set to false.
pub fn on_by_default(name: &str) -> bool {
    let value = js::get(&object(), name);
    value.as_bool() != Some(false) && value.as_string().as_deref() != Some("false")
}

/// An option that is off unless it is set to true.
pub fn is_on(name: &str) -> bool {
    js::flag(&object(), name)
}

/// An option that lists texts.
pub fn texts(name: &str) -> Vec<String> {
    js::texts(&object(), name)
}
