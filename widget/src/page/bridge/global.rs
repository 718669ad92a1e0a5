//! Globals of the browser and of the page's scripts.

use js_sys::{Object, Reflect};
use wasm_bindgen::prelude::*;

use super::value::{Value, has_own};

/// Returns a global of the browser or of the page's scripts. `None` for an element that only shadows the name.
pub fn find_global(name: &str) -> Option<Value> {
    let global: JsValue = js_sys::global().into();
    let key = JsValue::from_str(name);
    let prototype: JsValue = Object::get_prototype_of(&global).into();
    (has_own(&global, &key) || has_own(&prototype, &key))
        .then(|| Value(Reflect::get(&global, &key).unwrap_or_default()))
}

/// Sets a global.
pub fn set_global(name: &str, value: &JsValue) {
    Value(js_sys::global().into()).set(name, value);
}
