//! The merchant's callbacks. How one is called, and what `this` is there, the loader knows.

use js_sys::{Array, Promise};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::HtmlIFrameElement;

use super::handle::Handle;
use super::runtime::loader;

/// Calls `wpwlOptions[name]` with these arguments, if there is such a callback; its `this` has `$form`.
pub fn of_form(name: &str, arguments: &[JsValue], handle: &Handle) {
    let arguments: Array = arguments.iter().cloned().collect();
    loader("notify", &[name.into(), arguments.into(), handle.object.clone()]);
}

/// The same, with `this.$iframe`, which is the argument too.
pub fn of_frame(name: &str, handle: &Handle, frame: &HtmlIFrameElement) {
    loader("notify", &[name.into(), JsValue::UNDEFINED, handle.object.clone(), frame.into()]);
}

/// `onError`, with one of the contract's names.
pub fn error(name: &str, message: &str) {
    loader("raise", &[name.into(), message.into()]);
}

/// The checkout to pay, once the merchant lets the submit go on; empty where it could not be made, and `None` where
/// the merchant stops it.
pub async fn before_submit(handle: &Handle, brand: &str) -> Option<String> {
    let promise = loader("allow", &[handle.object.clone(), brand.into()]).dyn_into::<Promise>().ok()?;
    JsFuture::from(promise).await.ok()?.as_string()
}
