//! A submit under way: nothing can be changed meanwhile, and the shopper hears of it as time passes.

use wasm_bindgen::JsCast as _;
use yew::prelude::Context;

use super::form::{Form, Message};
use crate::page::bridge::{document, find_all};
use crate::page::dom;
use crate::page::text::keys;

/// Times after which something new is said, in milliseconds, and the keys of the texts.
const STEPS: [(i32, &str); 3] =
    [(1000, keys::PROCESSING), (8000, keys::PROCESSING_LONG), (20_000, keys::PROCESSING_LONGER)];

impl Form {
    /// Begins to tell the shopper how the submit goes.
    pub(super) fn begin_progress(&mut self, context: &Context<Self>) {
        self.submits += 1;
        let submit = self.submits;
        for (time, key) in STEPS {
            let link = context.link().clone();
            dom::call_later(time, move || link.send_message(Message::StillBusy { submit, key }));
        }
    }

    /// Says that the submit is still under way, unless it has ended.
    pub(super) fn tell_progress(&mut self, submit: u32, key: &str) {
        if self.is_busy && submit == self.submits {
            self.announcement = self.session.text(key);
        }
    }

    /// Locks all fields while a submit is under way, and unlocks them afterwards. What had the focus gets it again:
    /// browsers take it away from a control that is locked.
    pub(super) fn lock_controls(&mut self) {
        if self.is_busy == self.is_locked {
            return;
        }
        self.is_locked = self.is_busy;
        let active = document::active_element();
        if self.is_busy {
            let own = active.filter(|active| self.handle.container.contains(Some(active)));
            self.focused = own.and_then(|own| own.dyn_into().ok());
        }
        let Some(form) = self.node() else { return };
        form.set_attribute("aria-busy", if self.is_busy { "true" } else { "false" });
        let button = self.button();
        if let Some(button) = button.as_ref().filter(|_| self.is_busy) {
            button.set_disabled(true);
        }
        for group in find_all(&self.handle.container, ".wpwl-group") {
            let has_button = button.as_ref().is_some_and(|button| group.contains(Some(button)));
            let _ = group.toggle_attribute_with_force("inert", self.is_busy && !has_button);
        }
        if let Some(focused) = self.focused.take_if(|_| !self.is_busy)
            && document::active_element().is_none_or(|active| active.tag_name() == "BODY")
        {
            let _ = focused.focus();
        }
    }
}
