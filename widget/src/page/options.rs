//! `wpwlOptions`: read when it is needed, as merchants assign and change it late. Unknown keys are fine.

use wasm_bindgen::JsValue;

use super::js;

/// The merchant's options object; an empty stand-in where there is none.
pub fn object() -> JsValue {
    let global = js_sys::global();
    let options = js::get(&global, "wpwlOptions");
    if options.is_object() { options } else { js_sys::Object::new().into() }
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
