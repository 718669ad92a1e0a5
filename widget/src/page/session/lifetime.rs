//! The beginning and the end of the forms.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use tillgate_shared::frame_messages::Source as _;
use wasm_bindgen::prelude::*;

use super::{CURRENT, Session};
use crate::page::bridge::{Loader, PlacedForm, Value};
use crate::page::challenge::Challenges;
use crate::page::dom::{self, Listener};
use crate::page::engine::form_message::Message;
use crate::page::handle::{FormHandle, HandleKind};
use crate::page::popup::Windows;
use crate::page::relay::Relay;
use crate::page::start::page_functions;
use crate::page::wallet::Sheets;
use crate::page::{payment_methods, wpwl};

impl Session {
    /// Takes over the forms of a loader, and listens to their frames.
    pub fn start(loader: Loader) {
        let session = Rc::new(Self {
            has_ended: Cell::default(),
            awaits_relay: Cell::default(),
            loader,
            relay: Relay::default(),
            forms: RefCell::default(),
            away: RefCell::default(),
            config: RefCell::default(),
            last_amount: RefCell::default(),
            is_paid: Cell::default(),
            submitting: RefCell::default(),
            uncertain_checkout: RefCell::default(),
            challenges: Challenges::default(),
            windows: Windows::default(),
            sheets: Sheets::default(),
            known_options: RefCell::default(),
            pressed_logo: RefCell::default(),
            nodes: RefCell::default(),
            listeners: RefCell::default(),
            is_announced: Cell::default(),
            late: RefCell::default(),
            wallets_announced: Cell::default(),
            timers: RefCell::default(),
        });
        CURRENT.replace(Some(session.clone()));
        wpwl::publish_functions(&session);
        session.listen();
        session.take_forms();
        session.loader.connect(&page_functions());
    }

    /// Ends all forms and removes what the page module has added to the page.
    pub fn stop() {
        let Some(session) = CURRENT.take() else { return };
        session.has_ended.set(true);
        session.windows.close();
        session.challenges.abandon();
        session.relay.close();
        session.timers.take().into_iter().for_each(dom::cancel_timer);
        session.listeners.borrow_mut().clear();
        let forms: Vec<_> = session.forms.take().into_iter().chain(session.away.take()).collect();
        for form in forms {
            form.destroy();
        }
        for node in session.nodes.take() {
            node.remove();
        }
    }

    fn listen(self: &Rc<Self>) {
        // A page that comes back from the browser's memory still shows what was under way.
        let session = Rc::downgrade(self);
        let window: JsValue = js_sys::global().into();
        let restore = Listener::new(&window, "pageshow", move |event| {
            let event = Value(event.into());
            if let Some(session) = session.upgrade().filter(|_| event.flag("persisted")) {
                session.challenges.restore(&session);
                session.each_form(|form| form.send(Message::Idle));
            }
        });
        self.listeners.borrow_mut().extend([restore, Challenges::listen(self)]);
    }

    /// Takes over forms that the loader has placed since the last time, and ends forms that have left the page.
    pub fn take_forms(self: &Rc<Self>) {
        let all = self.loader.list_forms();
        self.drop_lost_forms(&all);
        for placed in all {
            let nonce = placed.nonce();
            let is_known = |form: &Rc<FormHandle>| form.nonce == nonce;
            if self.forms.borrow().iter().any(is_known) || self.away.borrow().iter().any(is_known) {
                continue;
            }
            let form = FormHandle::for_placed(placed);
            self.forms.borrow_mut().push(form.clone());
            if form.kind.get() == HandleKind::Card {
                payment_methods::card::mount(self, &form);
            }
        }
        let has_others = self.forms.borrow().iter().any(|form| form.kind.get() == HandleKind::Unknown);
        if has_others || payment_methods::wants_relay(&self.options()) {
            self.open_relay();
        }
    }

    /// Ends the forms that the loader does not list any more: one that never became ready would hold up `onReady`. A
    /// form that was submitted still waits for its result.
    fn drop_lost_forms(&self, listed: &[PlacedForm]) {
        let is_lost = |form: &Rc<FormHandle>| match &form.placed {
            _ if self.submitting.borrow().as_ref() == Some(form) => false,
            Some(_) => !listed.iter().any(|placed| placed.nonce() == form.nonce),
            None => !form.is_in_page(),
        };
        for list in [&self.forms, &self.away] {
            let lost: Vec<_> = list.borrow().iter().filter(|form| is_lost(form)).cloned().collect();
            list.borrow_mut().retain(|form| !lost.contains(form));
            lost.iter().for_each(|form| form.destroy());
        }
    }
}
