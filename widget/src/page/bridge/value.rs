//! Values without a known shape, and objects that are being made.

use js_sys::{Array, Function, Object, Reflect};
use tillgate_shared::frame_messages::{Sink, Source};
use wasm_bindgen::prelude::*;

/// A JavaScript value without a known shape.
#[derive(Debug, Clone, PartialEq)]
pub struct Value(pub JsValue);

/// Greatest length of a chain of prototypes. Only a proxy can make an endless one.
const PROTOTYPES: u8 = 64;

impl Value {
    /// Returns the value of a property, without what every object inherits.
    fn property(&self, name: &str) -> JsValue {
        let key = JsValue::from_str(name);
        if !self.0.is_object() && !self.0.is_function() || self.inherits_from_every(&key) {
            return JsValue::UNDEFINED;
        }
        Reflect::get(&self.0, &key).unwrap_or_default()
    }

    /// Returns true if the value has a property only because every object has it.
    fn inherits_from_every(&self, key: &JsValue) -> bool {
        EVERY_OBJECT.with(|object| has_own(object, key) && !self.has_before(object, key))
    }

    /// Returns true if the value has a property itself, or inherits it from a prototype before `last`. Those of events
    /// and nodes are properties of their prototypes.
    fn has_before(&self, last: &JsValue, key: &JsValue) -> bool {
        let mut at = self.0.clone();
        for _ in 0..PROTOTYPES {
            if at == *last || at.is_null() {
                return false;
            }
            if has_own(&at, key) {
                return true;
            }
            let Ok(next) = Reflect::get_prototype_of(&at) else { return false };
            at = next.into();
        }
        false
    }

    /// Returns a property that can be called.
    pub fn function(&self, name: &str) -> Option<Function> {
        self.property(name).dyn_into().ok()
    }

    /// Returns true if it is neither undefined, null, false, 0 nor empty text.
    pub fn is_truthy(&self) -> bool {
        self.0.is_truthy()
    }

    /// Sets a property. Objects that refuse it stay as they are. A setter that every object has is not called.
    pub fn set(&self, name: &str, value: &JsValue) {
        let key = JsValue::from_str(name);
        if !self.inherits_from_every(&key) {
            let _ = Reflect::set(&self.0, &key, value);
            return;
        }
        let flags = ["writable", "enumerable", "configurable"];
        let own = flags.iter().fold(Data::empty(), |own, flag| own.with(flag, &JsValue::TRUE)).with("value", value);
        let _ = Reflect::define_property(self.0.unchecked_ref::<Object>(), &key, &own.0);
    }
}

#[wasm_bindgen]
extern "C" {
    /// The prototype of every object.
    #[wasm_bindgen(js_namespace = Object, js_name = prototype, thread_local_v2)]
    static EVERY_OBJECT: JsValue;
}

impl Source for Value {
    fn get(&self, name: &str) -> Option<Self> {
        let value = self.property(name);
        (!value.is_undefined() && !value.is_null()).then_some(Self(value))
    }

    fn as_text(&self) -> Option<String> {
        self.0.as_string()
    }

    fn as_number(&self) -> Option<f64> {
        self.0.as_f64()
    }

    fn as_flag(&self) -> Option<bool> {
        self.0.as_bool()
    }

    fn display(&self) -> String {
        let number: Option<&js_sys::Number> = self.0.dyn_ref();
        self.as_text().or_else(|| number?.to_string_with_radix(10).ok()?.as_string()).unwrap_or_default()
    }

    fn items(&self) -> Vec<Self> {
        let list: Option<&Array> = self.0.dyn_ref();
        list.map(|list| list.iter().map(Self).collect()).unwrap_or_default()
    }

    fn keys(&self) -> Vec<String> {
        let keys = Reflect::own_keys(&self.0).unwrap_or_default();
        keys.iter().filter_map(|key| key.as_string()).collect()
    }
}

/// Returns true if an object has a property itself, and does not inherit it.
pub(super) fn has_own(object: &JsValue, key: &JsValue) -> bool {
    Reflect::get_own_property_descriptor(object.unchecked_ref::<Object>(), key).is_ok_and(|found| !found.is_undefined())
}

/// A JavaScript object that is being made. It inherits nothing.
#[derive(Debug)]
pub struct Data(pub(super) Object);

impl Data {
    /// Sets a property to any value.
    pub fn with(self, name: &str, value: &JsValue) -> Self {
        let _ = Reflect::set(&self.0, &JsValue::from_str(name), value);
        self
    }

    /// Returns the object.
    pub fn finish(self) -> JsValue {
        self.0.into()
    }
}

impl Sink for Data {
    fn empty() -> Self {
        Self(Object::create(JsValue::NULL.unchecked_ref::<Object>()))
    }

    fn set_text(&mut self, name: &str, value: &str) {
        let _ = Reflect::set(&self.0, &JsValue::from_str(name), &JsValue::from_str(value));
    }

    fn set_number(&mut self, name: &str, value: f64) {
        let _ = Reflect::set(&self.0, &JsValue::from_str(name), &JsValue::from_f64(value));
    }

    fn set_flag(&mut self, name: &str, value: bool) {
        let _ = Reflect::set(&self.0, &JsValue::from_str(name), &JsValue::from_bool(value));
    }

    fn set_texts(&mut self, name: &str, values: &[String]) {
        let _ = Reflect::set(&self.0, &JsValue::from_str(name), &list_of(values));
    }

    fn set_pairs(&mut self, name: &str, values: &[(String, String)]) {
        let pair = |(name, value): &(String, String)| Array::of2(&JsValue::from_str(name), &JsValue::from_str(value));
        let pairs: Array = values.iter().map(pair).collect();
        let _ = Reflect::set(&self.0, &JsValue::from_str(name), &pairs);
    }

    fn set_object(&mut self, name: &str, value: Self) {
        let _ = Reflect::set(&self.0, &JsValue::from_str(name), &value.0);
    }
}

/// Makes an object that inherits from another, such as the merchant's options. One that inherits nothing if that is no
/// object.
pub fn inherit_from(parent: &JsValue) -> Value {
    let parent = if parent.is_object() { parent } else { &JsValue::NULL };
    Value(Object::create(parent.unchecked_ref::<Object>()).into())
}

/// Returns a JavaScript list of texts.
pub fn list_of(values: &[String]) -> Array {
    values.iter().map(|value| JsValue::from_str(value)).collect()
}

/// Returns a number as text. JavaScript formats it, so that the page module need not.
pub fn format_number(number: impl Into<f64>) -> String {
    Value(JsValue::from_f64(number.into())).display()
}
