//! Start of the page module: it offers itself to the loader, whichever of the two comes first.

use wasm_bindgen::prelude::*;

use super::bridge::{self, Data, Loader, Value};
use super::engine::form_message::Message;
use super::session::Session;
use tillgate_shared::frame_messages::{Sink as _, Source as _};

/// The global in which loader and page module meet.
const MEETING_PLACE: &str = "__tillgate";

/// Offers the page module to the loader.
#[wasm_bindgen(start)]
pub fn offer_module() {
    let found = bridge::find_global(MEETING_PLACE).filter(|value| value.0.is_object());
    let place = found.unwrap_or_else(|| {
        let place = Value(Data::empty().finish());
        bridge::set_global(MEETING_PLACE, &place.0);
        place
    });
    let start = Closure::<dyn Fn(Loader)>::new(Session::start).into_js_value();
    place.set("start", &start);
    if let Some(go) = place.function("go") {
        let _ = bridge::call(&go, &place.0, &[]);
    }
}

/// Returns the functions that the loader calls.
pub fn page_functions() -> JsValue {
    let receive = Closure::<dyn Fn(JsValue)>::new(|event: JsValue| {
        let event = Value(event);
        if let (Some(session), Some(data)) = (Session::current(), event.get("data")) {
            let source = event.get("source").map(|source| source.0).unwrap_or_default();
            session.receive(&data, &source);
        }
    });
    let take_forms = Closure::<dyn Fn()>::new(|| {
        if let Some(session) = Session::current() {
            session.take_forms();
        }
    });
    let restyle = Closure::<dyn Fn()>::new(|| {
        if let Some(session) = Session::current() {
            session.each_form(|form| form.send(Message::Restyle));
        }
    });
    let mistake = Closure::<dyn Fn(String)>::new(|message: String| {
        if let Some(session) = Session::current() {
            session.report_mistake(&message);
        }
    });
    Data::empty()
        .with("receive", &receive.into_js_value())
        .with("takeForms", &take_forms.into_js_value())
        .with("restyle", &restyle.into_js_value())
        .with("reportMistake", &mistake.into_js_value())
        .with("stop", &Closure::<dyn Fn()>::new(Session::stop).into_js_value())
        .finish()
}
