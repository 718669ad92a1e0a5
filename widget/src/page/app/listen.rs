//! The form's own listeners: yew's delegated ones would be lost when the merchant moves a group out of the form.

use gloo_events::EventListener;
use yew::prelude::Context;

use super::{App, Message, node};
use crate::page::fields::Field;
use crate::page::runtime::loader;

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
        loader("handy", &[self.handle.object.clone()]);
        self.mark_brand("");
    }
}
