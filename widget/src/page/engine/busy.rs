//! A submit under way: nothing can be changed meanwhile, and the shopper hears of it as time passes.

use yew::prelude::Context;

use super::form::Form;
use super::form_message::Message;
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

    /// The gateway has answered: nothing more is said about the time.
    pub(super) fn end_progress(&mut self) {
        self.submits += 1;
        self.announcement.clear();
    }

    /// Says that the submit is still under way, unless it has ended.
    pub(super) fn tell_progress(&mut self, submit: u32, key: &str) {
        if self.is_busy && submit == self.submits {
            self.announcement = self.session.text(key);
        }
    }

    /// Locks all fields from the time at which the merchant has let a submit continue, and unlocks them afterwards.
    /// Then the focus is placed: browsers take it away from a control that is locked.
    pub(super) fn update_lock(&mut self) {
        self.is_sent &= self.is_busy;
        if self.is_sent != self.is_locked {
            self.lock_controls();
        }
        if !self.is_locked && std::mem::take(&mut self.wants_focus) {
            self.handle.return_focus();
        }
    }

    /// Locks or unlocks all fields. A field with a fault gets the focus, or the button, unless it is placed already or
    /// returns to where it was.
    fn lock_controls(&mut self) {
        self.is_locked = self.is_sent;
        let Some(button) = self.button() else { return };
        button.set_disabled(self.is_locked || (self.is_halted && self.has_fault()));
        let _ = button.set_attribute("aria-busy", if self.is_locked { "true" } else { "false" });
        for group in find_all(&self.handle.container, ".wpwl-group") {
            let _ = group.toggle_attribute_with_force("inert", self.is_locked && !group.contains(Some(&button)));
        }
        let is_placed = document::active_element().is_some_and(|active| active.tag_name() != "BODY");
        if self.is_locked || self.wants_focus || is_placed {
            return;
        }
        match self.fields.iter().position(|field| field.fault.is_some()) {
            Some(at) => self.focus_field(at),
            None => drop(button.focus()),
        }
    }
}
