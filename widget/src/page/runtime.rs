//! Start and stop: meets the loader's state (the one internal global, `__tillgate`), mounts an app in
//! every form, passes on what frames say and shoppers do, and takes everything back at `unload()`.

use std::cell::RefCell;
use std::rc::Rc;

use js_sys::Reflect;
use wasm_bindgen::prelude::*;
use web_sys::MessageEvent;
use yew::AppHandle;
use yew::html::Scope;

use super::app::{App, Message, Properties};
use super::fields::Field;
use super::handle::Handle;
use super::js;

const STATE: &str = "__tillgate";

struct Mounted {
    handle: Rc<Handle>,
    app: AppHandle<App>,
}

#[derive(Default)]
struct Runtime {
    forms: Vec<Mounted>,
    /// Held as long as the forms live.
    callbacks: Vec<JsValue>,
}

thread_local! {
    static RUNTIME: RefCell<Runtime> = RefCell::default();
}

/// Offers the page part to the loader, whichever of the two comes first.
#[wasm_bindgen(start)]
pub fn offer() {
    let global = js_sys::global();
    let mut state = js::get(&global, STATE);
    if !state.is_object() {
        state = js::object(&[]);
        js::set(&global, STATE, &state);
    }
    let start = Closure::<dyn Fn(JsValue)>::new(start).into_js_value();
    js::set(&state, "start", &start);
    call(&state, "go");
}

fn call(object: &JsValue, name: &str) {
    if let Some(function) = js::function(object, name) {
        let _ = function.call0(object);
    }
}

/// Mounts an app in every form of the loader that has none yet. What frames have said meanwhile, the loader passes on.
fn start(state: JsValue) {
    if RUNTIME.with_borrow(|r| r.callbacks.is_empty()) {
        connect(&state);
    }
    // Cards' forms that stand; others come later, and those of other brands are nobody's here.
    for object in js::items(&state, "forms").into_iter().filter(|form| js::flag(form, "up")) {
        mount(&state, object);
    }
}

fn mount(state: &JsValue, object: JsValue) {
    let nonce = js::text(&object, "nonce");
    if RUNTIME.with_borrow(|r| r.forms.iter().any(|m| m.handle.nonce == nonce)) {
        return;
    }
    let handle = Rc::new(Handle::new(object));
    let properties = Properties { handle: handle.clone(), frames_base: js::text(state, "framesBase") };
    let root = handle.slot.clone();
    let app = yew::Renderer::<App>::with_root_and_props(root, properties).render();
    let heard = app.clone();
    let line =
        Closure::<dyn Fn(String, String)>::new(move |what: String, brand| act(&heard, &what, brand)).into_js_value();
    js::set(&handle.object, "act", &line);
    RUNTIME.with_borrow_mut(|r| {
        r.callbacks.push(line);
        r.forms.push(Mounted { handle, app });
    });
}

/// What the shopper has done in a form, by the loader's names, and the brand that was chosen then.
fn act(app: &Scope<App>, what: &str, brand: String) {
    app.send_message(match what {
        "brand" => Message::Brand(brand),
        "expiry" => Message::Typed(Field::Expiry),
        "expiryLeft" => Message::Left(Field::Expiry),
        "holder" => Message::Typed(Field::Holder),
        "holderLeft" => Message::Left(Field::Holder),
        _ => Message::Pay,
    });
}

/// Takes the loader's three lines: messages, nothing under way any more, the end.
fn connect(state: &JsValue) {
    let lines = [
        ("receive", Closure::<dyn Fn(MessageEvent)>::new(receive).into_js_value()),
        ("idle", Closure::<dyn Fn()>::new(idle).into_js_value()),
        ("stop", Closure::<dyn Fn()>::new(stop).into_js_value()),
    ];
    let mut callbacks = Vec::new();
    for (name, line) in lines {
        js::set(state, name, &line);
        callbacks.push(line);
    }
    RUNTIME.with_borrow_mut(|r| r.callbacks = callbacks);
}

fn idle() {
    let apps: Vec<_> = RUNTIME.with_borrow(|r| r.forms.iter().map(|m| m.app.clone()).collect());
    for app in apps {
        app.send_message(Message::Idle);
    }
}

/// A frame's message goes to the form whose frame element it came from, at this moment: frames that
/// were moved have a new window, and clones of frames are nobody's. No other frame is asked for its window, which browsers
/// would make first where it is still loading.
fn receive(event: MessageEvent) {
    let data = event.data();
    let nonce = js::text(&data, "form");
    let is_number = js::text(&data, "field") == "card.number";
    let app = RUNTIME.with_borrow(|r| {
        let mounted = r.forms.iter().find(|mounted| mounted.handle.nonce == nonce)?;
        let frame = if is_number { &mounted.handle.number } else { &mounted.handle.code };
        let window: JsValue = frame.content_window()?.into();
        (window == js::get(&event, "source")).then(|| mounted.app.clone())
    });
    if let Some(app) = app {
        app.send_message(Message::Frame { is_number, data });
    }
}

/// Ends every app. The nodes are the loader's to remove.
fn stop() {
    let forms = RUNTIME.with_borrow_mut(|r| std::mem::take(&mut r.forms));
    for mounted in forms {
        mounted.app.destroy();
    }
    // The loader may be in the middle of calling one of these; they go with the next start.
    RUNTIME.with_borrow_mut(|r| r.callbacks.clear());
}

/// Calls a function that the loader holds for us.
pub fn loader(name: &str, arguments: &[JsValue]) -> JsValue {
    let state = js::get(&js_sys::global(), STATE);
    let arguments = arguments.iter().cloned().collect();
    let function = js::function(&state, name);
    function.and_then(|function| Reflect::apply(&function, &state, &arguments).ok()).unwrap_or_default()
}

/// What the form says under a key: in the merchant's words, the page's language, or English.
pub fn word(key: &str) -> String {
    loader("word", &[key.into()]).as_string().unwrap_or_default()
}
