//! Helpers for nodes and events: listeners that end, visibility, timers.

use std::cell::RefCell;

use js_sys::{Function, Promise};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use web_sys::{Element, Event, HtmlElement};

use super::bridge::{Data, Target, document, find_global};
use tillgate_shared::frame_messages::Sink as _;

/// A listener, which is removed when it is dropped. Unlike yew's own, it stays with its node if the page moves that.
#[derive(Debug)]
pub struct Listener {
    target: Target,
    kind: &'static str,
    capture: bool,
    closure: Closure<dyn FnMut(Event)>,
}

impl Listener {
    /// Listens to an event of a node or a window.
    pub fn new(target: &JsValue, kind: &'static str, react: impl FnMut(Event) + 'static) -> Self {
        Self::with_capture(target, kind, false, react)
    }

    /// Same as [`Self::new`], before the listeners of nodes inside, if `capture` is true.
    pub fn with_capture(
        target: &JsValue,
        kind: &'static str,
        capture: bool,
        react: impl FnMut(Event) + 'static,
    ) -> Self {
        Self::attach(target, kind, capture, Box::new(react))
    }

    // Compiled once for all reactions.
    fn attach(target: &JsValue, kind: &'static str, capture: bool, react: Box<dyn FnMut(Event)>) -> Self {
        let closure = Closure::wrap(react);
        let target: Target = target.clone().unchecked_into();
        target.add_listener(kind, closure.as_ref().unchecked_ref(), &options(capture));
        Self { target, kind, capture, closure }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.target.remove_listener(self.kind, self.closure.as_ref().unchecked_ref(), &options(self.capture));
    }
}

/// A listener may prevent what the browser does by itself, so it is not passive.
fn options(capture: bool) -> JsValue {
    let mut data = Data::empty();
    data.set_flag("capture", capture);
    data.set_flag("passive", false);
    data.finish()
}

/// Fires an event that bubbles.
pub fn fire(target: &JsValue, kind: &str) {
    let init = web_sys::EventInit::new();
    init.set_bubbles(true);
    if let Ok(event) = Event::new_with_event_init_dict(kind, &init) {
        target.unchecked_ref::<Target>().fire_event(&event);
    }
}

/// Creates an element with classes, attributes and text.
pub fn make(tag: &str, classes: &str, attributes: &[(&str, &str)], text: &str) -> HtmlElement {
    let element = document::create(tag);
    if !classes.is_empty() {
        element.set_class_name(classes);
    }
    for (name, value) in attributes {
        let _ = element.set_attribute(name, value);
    }
    if !text.is_empty() {
        element.set_text_content(Some(text));
    }
    element
}

/// Adds or removes a class. Other classes stay, also those of the page.
pub fn toggle_class(element: &Element, class: &str, is: bool) {
    let _ = element.class_list().toggle_with_force(class, is);
}

/// Shows an element or hides it, whatever the page's style sheets say about its kind.
pub fn set_visible(element: &HtmlElement, is_visible: bool) {
    element.set_hidden(!is_visible);
    set_style(element, "display", if is_visible { "" } else { "none" });
}

/// Sets a property of an element's own style.
pub fn set_style(element: &HtmlElement, name: &str, value: &str) {
    let _ = element.style().set_property(name, value);
}

/// Takes an element off the screen. Screen readers still read it, whatever the style.
pub fn hide_visually(element: &HtmlElement) {
    for (name, value) in [
        ("position", "absolute"),
        ("width", "1px"),
        ("height", "1px"),
        ("overflow", "hidden"),
        ("clip-path", "inset(50%)"),
        ("white-space", "nowrap"),
    ] {
        set_style(element, name, value);
    }
}

/// Calls `work` after `milliseconds`. Returns the timer's number.
pub fn call_later(milliseconds: i32, work: impl FnOnce() + 'static) -> Option<i32> {
    let work = make_callback(work);
    web_sys::window()?.set_timeout_with_callback_and_timeout_and_arguments_0(work.unchecked_ref(), milliseconds).ok()
}

/// Makes a function that calls `work` once.
pub fn make_callback(work: impl FnOnce() + 'static) -> JsValue {
    // Compiled once for all kinds of work.
    let work: Box<dyn FnOnce()> = Box::new(work);
    Closure::once_into_js(work)
}

/// A pause that may end early.
#[derive(Debug, Default)]
pub struct Pause(RefCell<Option<Function>>);

impl Pause {
    /// Waits for `milliseconds`, or until the pause is ended.
    pub async fn wait(&self, milliseconds: i32) {
        let promise = Promise::new(&mut |done, _| {
            self.0.replace(Some(done.clone()));
            call_later(milliseconds, move || drop(done.call0(&JsValue::UNDEFINED)));
        });
        let _ = JsFuture::from(promise).await;
    }

    /// Ends the pause that is under way.
    pub fn end(&self) {
        if let Some(done) = self.0.take() {
            let _ = done.call0(&JsValue::UNDEFINED);
        }
    }
}

/// Stops a timer.
pub fn cancel_timer(timer: i32) {
    if let Some(window) = web_sys::window() {
        window.clear_timeout_with_handle(timer);
    }
}

/// Waits for `milliseconds`.
pub async fn sleep(milliseconds: i32) {
    let promise = js_sys::Promise::new(&mut |done, _| {
        if let Some(window) = web_sys::window() {
            let _ = window.set_timeout_with_callback_and_timeout_and_arguments_0(&done, milliseconds);
        }
    });
    let _ = wasm_bindgen_futures::JsFuture::from(promise).await;
}

/// Calls a function when an element changes its size.
#[derive(Debug)]
pub struct SizeObserver {
    observer: web_sys::ResizeObserver,
    _closure: Closure<dyn FnMut()>,
}

impl SizeObserver {
    /// Observes an element. `None` in a browser that cannot.
    pub fn new(element: &Element, react: impl FnMut() + 'static) -> Option<Self> {
        find_global("ResizeObserver")?;
        let closure = Closure::<dyn FnMut()>::new(react);
        let observer = web_sys::ResizeObserver::new(closure.as_ref().unchecked_ref()).ok()?;
        observer.observe(element);
        Some(Self { observer, _closure: closure })
    }
}

impl Drop for SizeObserver {
    fn drop(&mut self) {
        self.observer.disconnect();
    }
}
