//! The global `wpwl` that merchants know. The loader creates it; the page module adds what only the configuration
//! tells, and its functions.

use std::rc::Rc;

use tillgate_shared::frame_messages::{Config, Source as _};
use wasm_bindgen::prelude::*;

use super::bridge::{self, Value};
use super::session::Session;

fn object() -> Option<Value> {
    bridge::find_global("wpwl").filter(|value| value.0.is_object())
}

fn checkout() -> Option<Value> {
    object()?.get("checkout")
}

/// Returns the id of the checkout, also of one that the merchant created for the submit.
pub fn checkout_id() -> String {
    checkout().map(|checkout| checkout.text("id")).unwrap_or_default()
}

/// Sets the id of the checkout that the merchant has created.
pub fn set_checkout_id(id: &str) {
    if let Some(checkout) = checkout() {
        checkout.set("id", &id.into());
    }
}

/// Adds what the configuration of the checkout tells.
pub fn publish_config(config: &Config) {
    let (Some(wpwl), Some(checkout)) = (object(), checkout()) else { return };
    wpwl.set("ndc", &config.ndc.as_str().into());
    wpwl.set("timestamp", &config.timestamp.as_str().into());
    wpwl.set("isTestSystem", &config.test.into());
    for (name, value) in &config.checkout {
        checkout.set(name, &value.as_str().into());
    }
}

/// Adds the functions: `executePayment` submits the form whose container has a class, and `refresh` reads again what
/// the checkout offers.
pub fn publish_functions(session: &Rc<Session>) {
    let Some(wpwl) = object() else { return };
    let weak = Rc::downgrade(session);
    let execute = Closure::<dyn Fn(String) -> Result<(), JsValue>>::new(move |name: String| {
        // Either one class, or all of a container's, joined by dots or spaces.
        let selector = [".", &name.split_whitespace().collect::<Vec<_>>().join(".")].concat();
        let session = weak.upgrade();
        let forms = session.map(|session| session.forms.borrow().clone()).unwrap_or_default();
        let found = forms.iter().find(|form| form.container.matches(&selector).unwrap_or_default());
        match found.and_then(|form| form.form_node()) {
            Some(form) => form.request_submit(),
            None => Err(js_sys::Error::new(&["wpwl.executePayment: there is no ", &selector].concat()).into()),
        }
    });
    wpwl.set("executePayment", &execute.into_js_value());
    let weak = Rc::downgrade(session);
    let refresh = Closure::<dyn Fn()>::new(move || {
        if let Some(session) = weak.upgrade() {
            session.refresh();
        }
    });
    wpwl.set("refresh", &refresh.into_js_value());
}
