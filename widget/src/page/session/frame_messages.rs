//! Messages of the frames on the gateway's origin.

use std::rc::Rc;

use tillgate_shared::frame_messages::{Config, FieldReport, FrameField, RelayReport, Source as _, VERSION};
use wasm_bindgen::prelude::*;
use web_sys::HtmlIFrameElement;

use super::Session;
use crate::page::bridge::{Value, format_number};
use crate::page::callbacks::ErrorName;
use crate::page::engine::form_message::Message;
use crate::page::{payment_methods, wpwl};

impl Session {
    /// Receives a message of a frame on the gateway's origin.
    pub fn receive(self: &Rc<Self>, data: &Value, source: &JsValue) {
        let version = data.get("tillgate").map(|version| version.display()).unwrap_or_default();
        let own = format_number(VERSION);
        if version != own {
            let text = ["a frame speaks version ", &version, " of the protocol, not ", &own].concat();
            return self.raise(ErrorName::FrameCommunication, &text);
        }
        if data.get("relay").is_some() {
            let relay = self.loader.find_relay().filter(|frame| is_window_of(source, frame));
            if let (Some(frame), Some(report)) = (relay, RelayReport::read(data)) {
                self.receive_from_relay(&frame, report);
            }
            return;
        }
        let Some(field) = FrameField::parse(&data.text("field")) else { return };
        let nonce = data.text("form");
        let form = self.forms.borrow().iter().find(|form| form.nonce == nonce).cloned();
        let Some(form) = form.filter(|form| form.frame(field).is_some_and(|frame| is_window_of(source, &frame))) else {
            return;
        };
        let Some(report) = FieldReport::read(data) else { return };
        if let FieldReport::Ready(Some(config)) = &report {
            self.take_config(&Rc::new((**config).clone()));
            if config.has_registrations {
                self.open_relay();
            }
        }
        form.send(Message::Frame(field, report));
    }

    fn receive_from_relay(self: &Rc<Self>, frame: &HtmlIFrameElement, report: RelayReport<Value>) {
        match report {
            RelayReport::Ready(config) => {
                let config = Rc::new(*config);
                self.take_config(&config);
                self.relay.open(frame, &self.loader);
                self.with_later_parts(move |session| {
                    session.awaits_relay.set(false);
                    payment_methods::offer(session, &config);
                    session.announce_forms();
                    session.announce_wallets(&config);
                });
            }
            RelayReport::Answer { call, answer } => self.relay.receive_answer(call, *answer),
            RelayReport::Wallet { form, agreed } => self.sheets.close(&form, agreed),
        }
    }

    fn take_config(&self, config: &Rc<Config>) {
        wpwl::publish_config(config);
        self.is_paid.set(config.closed.as_ref().is_some_and(|closed| closed.paid));
        if config.closed.is_none() {
            self.config.replace(Some(config.clone()));
        }
    }
}

/// Returns true if `source` is the window of this frame at this moment. A frame that was moved has a new window, and
/// the frame of a copy is nobody's.
fn is_window_of(source: &JsValue, frame: &HtmlIFrameElement) -> bool {
    frame.content_window().is_some_and(|window| JsValue::from(window) == *source)
}
