//! Announcements to the merchant: forms, frames and wallets that are ready.

use std::rc::Rc;

use tillgate_shared::frame_messages::{Config, FrameField};

use super::Session;
use crate::page::callbacks::{self, Callback, ReadyForm};
use crate::page::engine::form_message::Message;
use crate::page::handle::{FormHandle, HandleKind};
use crate::page::readiness::{self, ReadinessOfForm};
use crate::page::{dom, payment_methods};

/// The time after `onReady` at which the empty frames for issuers' pages are created, in milliseconds.
const TARGET_DELAY: i32 = 3000;

impl Session {
    /// Calls `work` at once, or after `onReady`.
    pub fn after_ready(&self, work: impl FnOnce() + 'static) {
        if self.is_announced.get() {
            return work();
        }
        self.late.borrow_mut().push(Box::new(work));
    }

    /// Calls `onReady` if all forms are ready now and it has not told them.
    pub fn announce_forms(self: &Rc<Self>) {
        let forms = self.forms.borrow().clone();
        let readiness = |form: &Rc<FormHandle>| ReadinessOfForm {
            progress: form.progress.get(),
            is_announced: form.is_announced.get(),
        };
        let told =
            readiness::select_announced(&forms.iter().map(readiness).collect::<Vec<_>>(), self.awaits_relay.get());
        let fresh: Vec<Rc<FormHandle>> = told.iter().filter_map(|at| forms.get(*at).cloned()).collect();
        let Some(first) = fresh.first() else { return };
        self.is_announced.set(true);
        fresh.iter().for_each(|form| form.is_announced.set(true));
        let list: Vec<_> =
            fresh.iter().map(|form| ReadyForm { kind: form.kind.get().name(), brands: form.brands.clone() }).collect();
        callbacks::notify(self, &Callback::Ready(&list), None);
        for form in &fresh {
            self.announce_frames(form);
        }
        first.send(Message::Autofocus);
        for work in self.late.take() {
            work();
        }
        self.each_form(|form| form.send(Message::Restyle));
    }

    /// Tells the frames of a card form, and creates the frame for its issuer's page once there is time.
    fn announce_frames(&self, form: &Rc<FormHandle>) {
        if form.kind.get() != HandleKind::Card {
            return;
        }
        for field in [FrameField::Number, FrameField::Code] {
            if let Some(frame) = form.frame(field) {
                callbacks::notify(self, &Callback::FrameReady(&frame), form.form_node().as_ref());
            }
        }
        let form = form.clone();
        self.timers.borrow_mut().extend(dom::call_later(TARGET_DELAY, move || drop(form.target_frame())));
    }

    /// Tells the merchant once that the buttons of wallets are ready.
    pub(super) fn announce_wallets(self: &Rc<Self>, config: &Config) {
        let is_wallet = |form: &Rc<FormHandle>| payment_methods::is_wallet(config, form);
        if self.wallets_announced.get() || !self.forms.borrow().iter().any(is_wallet) {
            return;
        }
        self.wallets_announced.set(true);
        let session = self.clone();
        self.after_ready(move || callbacks::notify(&session, &Callback::ReadyExternal, None));
    }
}
