//! The merchant's callbacks: looked up when they are called, their promises awaited, their errors theirs.

use std::rc::Rc;

use js_sys::{Array, Promise, Reflect};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{Event, EventInit};

use super::handle::Handle;
use super::{js, options};

/// Calls `wpwlOptions[name]` with these arguments, `this` being the options.
/// `undefined` where there is no such callback or it throws; what it throws is shown in the console.
pub fn call(name: &str, arguments: &[JsValue]) -> JsValue {
    let options = options::object();
    let Some(function) = js::function(&options, name) else {
        return JsValue::UNDEFINED;
    };
    let arguments: Array = arguments.iter().cloned().collect();
    match Reflect::apply(&function, &options, &arguments) {
        Ok(value) => value,
        Err(thrown) => {
            report(thrown);
            JsValue::UNDEFINED
        }
    }
}

/// Throws a merchant's own error where its console shows it, outside our work.
fn report(thrown: JsValue) {
    let _ = Promise::reject(&thrown);
}

/// `onReady`, with one entry a form.
pub fn ready(forms: &[Rc<Handle>]) {
    let list: Array = forms
        .iter()
        .map(|handle| {
            js::object(&[("containerKey", &JsValue::from_str("card")), ("ccMethods", &js::list(&handle.brands))])
        })
        .collect();
    call("onReady", &[list.into()]);
}

/// `onError`, with one of the contract's names.
pub fn error(name: &str, message: &str) {
    let error = js_sys::Error::new(message);
    error.set_name(name);
    call("onError", &[error.into()]);
}

/// Whether the merchant lets the submit go on: `false` stops it, a promise decides by its value,
/// nothing said means yes, and so does anything but `event.preventDefault()`.
pub async fn before_submit() -> bool {
    let init = EventInit::new();
    init.set_cancelable(true);
    let Ok(event) = Event::new_with_event_init_dict("submit", &init) else {
        return true;
    };
    let said = call("onBeforeSubmitCard", &[event.clone().into()]);
    let said = settle(said).await;
    let also = settle(call("onBeforeSubmitCardPromise", &[event.clone().into()])).await;
    said && also && !event.default_prevented()
}

/// False for `false` and for a promise that is rejected or brings `false`.
async fn settle(value: JsValue) -> bool {
    let is_promise = js::function(&value, "then").is_some();
    if !is_promise {
        return value.as_bool() != Some(false);
    }
    let promise: Promise = match value.dyn_into() {
        Ok(promise) => promise,
        // jQuery's promises are not the browser's.
        Err(other) => Promise::resolve(&other),
    };
    match JsFuture::from(promise).await {
        Ok(value) => value.as_bool() != Some(false),
        Err(_) => false,
    }
}
