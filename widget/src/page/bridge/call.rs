//! Calls of functions, and the results of promises.

use js_sys::{Function, Promise, Reflect};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;

use super::value::Value;

/// Waits for a value if it is a promise, or has a `then` that not every object has. A function of that name that the
/// page gives every object would be called for any value, and never answer.
///
/// # Errors
/// The reason of the promise's rejection.
pub async fn settle(value: JsValue) -> Result<JsValue, JsValue> {
    match Value(value.clone()).function("then") {
        Some(_) => JsFuture::from(Promise::resolve(&value)).await,
        None => Ok(value),
    }
}

/// Calls a function with these arguments.
///
/// # Errors
/// The exception that the function throws.
pub fn call(function: &Function, this: &JsValue, arguments: &[JsValue]) -> Result<JsValue, JsValue> {
    Reflect::apply(function, this, &arguments.iter().cloned().collect())
}

/// Shows an error in the merchant's console, outside of the form's work.
pub fn report_thrown(thrown: &JsValue) {
    let _ = Promise::reject(thrown);
}
