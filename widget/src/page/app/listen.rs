//! The form's own listeners: yew's delegated ones would be lost when the merchant moves a group out of the form.

use gloo_events::{EventListener, EventListenerOptions};
use wasm_bindgen::JsCast;
use web_sys::Event;
use yew::prelude::Context;

use super::{App, Message, focus_element, node};
use crate::page::fields::Field;
use crate::page::frames;

impl App {
    /// Our own listeners, dropped with the app.
    pub(super) fn listen(&mut self, context: &Context<Self>) {
        let mut on = |reference: &yew::NodeRef, kind: &'static str, message: fn() -> Message| {
            if let Some(node) = node::<web_sys::Element>(reference) {
                let link = context.link().clone();
                let listener = EventListener::new(&node, kind, move |_| link.send_message(message()));
                self.listeners.push(listener);
            }
        };
        on(&self.select, "change", || Message::Brand);
        on(&self.expiry, "input", || Message::Typed(Field::Expiry));
        on(&self.expiry, "blur", || Message::Left(Field::Expiry));
        on(&self.holder, "input", || Message::Typed(Field::Holder));
        on(&self.holder, "blur", || Message::Left(Field::Holder));
        // A click on a label goes to its control, as with every form.
        for (name, label) in self.handle.labels() {
            let (handle, base) = (self.handle.clone(), self.base.clone());
            let control = match name {
                "brand" => self.select.clone(),
                "expiry" => self.expiry.clone(),
                _ => self.holder.clone(),
            };
            let field = Field::ALL.into_iter().find(|f| f.class() == name);
            let focus = move |_: &Event| match field.and_then(|f| handle.frame(f)) {
                Some(frame) => frames::focus(frame, &base, &handle.nonce),
                None => focus_element(&control),
            };
            self.listeners.push(EventListener::new(label, "click", focus));
        }
        // The frame's padding belongs to the page.
        for frame in [&self.handle.number, &self.handle.code] {
            let (handle, base, own) = (self.handle.clone(), self.base.clone(), frame.clone());
            let focus = move |_: &Event| frames::focus(&own, &base, &handle.nonce);
            self.listeners.push(EventListener::new(frame, "click", focus));
        }
        // The press of the button must not leave the field first: a hint that appeared then would move the button away
        // from under the pointer, and the click would be lost.
        if let Some(button) = node::<web_sys::Element>(&self.button) {
            let loud = EventListenerOptions::enable_prevent_default();
            let stay = |event: &Event| event.prevent_default();
            self.listeners.push(EventListener::new_with_options(&button, "mousedown", loud, stay));
        }
        self.mark_brand("");
    }
}
