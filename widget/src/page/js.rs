//! Reading and calling JavaScript values whose shape nobody guarantees.

use js_sys::{Array, Function, Object, Reflect};
use wasm_bindgen::{JsCast, JsValue};

/// Texts one behind the other. The standard library's way is generic, and heavy for what it does here.
pub fn cat(parts: &[&str]) -> String {
    let mut text = String::new();
    for part in parts {
        text.push_str(part);
    }
    text
}

/// A property, `undefined` where there is none.
pub fn get(object: &JsValue, name: &str) -> JsValue {
    Reflect::get(object, &JsValue::from_str(name)).unwrap_or(JsValue::UNDEFINED)
}

/// A property that is a text, empty where it is none.
pub fn text(object: &JsValue, name: &str) -> String {
    get(object, name).as_string().unwrap_or_default()
}

/// The items of a property that is a list; none where it is not.
pub fn items(object: &JsValue, name: &str) -> Vec<JsValue> {
    get(object, name).dyn_into::<Array>().map(|list| list.to_vec()).unwrap_or_default()
}

/// The texts of a property that is a list.
pub fn texts(object: &JsValue, name: &str) -> Vec<String> {
    items(object, name).iter().filter_map(JsValue::as_string).collect()
}

/// A property that is true or the text "true".
pub fn flag(object: &JsValue, name: &str) -> bool {
    let value = get(object, name);
    value.as_bool() == Some(true) || value.as_string().as_deref() == Some("true")
}

/// Sets a property; objects that refuse it stay as they are.
pub fn set(object: &JsValue, name: &str, value: &JsValue) {
    let _ = Reflect::set(object, &JsValue::from_str(name), value);
}

/// A property that can be called.
pub fn function(object: &JsValue, name: &str) -> Option<Function> {
    get(object, name).dyn_into().ok()
}

/// An object of these properties.
pub fn object(properties: &[(&str, &JsValue)]) -> JsValue {
    let object = Object::new().into();
    for (name, value) in properties {
        set(&object, name, value);
    }
    object
}

/// A list of texts.
pub fn list(items: &[String]) -> JsValue {
    items.iter().map(|item| JsValue::from_str(item)).collect::<Array>().into()
}
