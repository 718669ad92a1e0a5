//! The talk with the frames: what they say of their fields, and how they are told to look.

use wasm_bindgen::JsValue;
use yew::prelude::Context;

use super::{App, Message, empty_frame, node};
use crate::page::fields::{Field, FrameState};
use crate::page::{callbacks, frames, js, options, runtime};

impl App {
    /// What a frame said.
    pub(super) fn heard(&mut self, context: &Context<Self>, is_number: bool, data: &JsValue) {
        let field = if is_number { Field::Number } else { Field::Code };
        match js::text(data, "type").as_str() {
            "ready" => self.frame_ready(context, is_number, data),
            "state" => {
                if self.take_state(is_number, data) {
                    self.halted = false;
                }
                self.corrected(field);
                if is_number {
                    self.detect();
                }
            }
            "focus" => self.focused(field, true),
            "blur" => {
                self.take_state(is_number, data);
                self.focused(field, false);
                self.left(field);
            }
            "enter" if !options::is_on("disableSubmitOnEnter") && !self.halted => self.pay(context),
            "invalid" => self.refused(&js::texts(data, "wrong")),
            "answer" => self.answered(data),
            "failed" => self.unsent("unsentError"),
            _ => {}
        }
    }

    /// A frame has loaded: for the first time, or again because the merchant moved it.
    pub(super) fn frame_ready(&mut self, context: &Context<Self>, is_number: bool, data: &JsValue) {
        let state = if is_number { &mut self.number } else { &mut self.code };
        *state = FrameState { ready: true, ..empty_frame() };
        let field = if is_number { Field::Number } else { Field::Code };
        self.told[field as usize] = None;
        if is_number && self.configured && self.busy {
            // What was to be sent, or its answer, went with the frame that the page has moved.
            self.unsent("communicationError");
        }
        if is_number && !self.configured {
            self.configure(&js::get(data, "config"));
        }
        if self.shown {
            self.instruct();
        } else if self.number.ready && self.code.ready && self.configured && !self.ended {
            self.shown = true;
            self.reveal();
            let (nonce, link) = (self.handle.nonce.clone(), context.link().clone());
            wasm_bindgen_futures::spawn_local(async move {
                runtime::form_is_ready(&nonce);
                // The look is computed once, with what the merchant has just changed.
                link.send_message(Message::Restyle);
            });
        }
    }

    /// Whether it differs from before is the answer.
    pub(super) fn take_state(&mut self, is_number: bool, data: &JsValue) -> bool {
        let state = if is_number { &mut self.number } else { &mut self.code };
        let now = FrameState {
            ready: true,
            empty: js::flag(data, "empty"),
            known: js::flag(data, "known"),
            complete: js::flag(data, "complete"),
            valid: js::flag(data, "valid"),
            optional: js::flag(data, "optional"),
            brands: js::texts(data, "brands"),
        };
        std::mem::replace(state, now.clone()) != now
    }

    /// The checkout's data, from the number frame's document.
    pub(super) fn configure(&mut self, config: &JsValue) {
        self.configured = true;
        let error = js::get(config, "error");
        if error.is_object() {
            self.end(if js::flag(&error, "paid") { "paidError" } else { "checkoutError" });
            callbacks::error(&js::text(&error, "name"), &js::text(&error, "message"));
            return;
        }
        let known = js::get(config, "brands");
        self.known_brands = known.clone();
        if known.is_object() {
            let kind = |brand: &String| js::text(&js::get(&known, brand), "kind");
            self.brands.retain(|brand| kind(brand) == "card");
            if self.brands.is_empty() && runtime::loader("drop", &[self.handle.object.clone()]).is_truthy() {
                self.ended = true;
                let nonce = self.handle.nonce.clone();
                wasm_bindgen_futures::spawn_local(async move { runtime::form_is_ready(&nonce) });
            } else if self.brands.is_empty() {
                self.end("checkoutError");
                callbacks::error("WidgetError", "none of the brands is a card of this channel");
            } else if !self.brands.contains(&self.brand) {
                self.choose(self.brands[0].clone());
            }
        }
    }

    /// Tells both frames how to look and what to say.
    pub(super) fn instruct(&self) {
        let container = &self.handle.container;
        let _ = container.class_list().toggle_with_force("wpwl-dark", frames::is_on_dark(container));
        let help = if options::is_on("showCVVHint") {
            self.words.get(match self.brand.as_str() {
                "AMEX" => "cvvHintAmex",
                "MAESTRO" => "cvvHintMaestro",
                _ => "cvvHint",
            })
        } else {
            ""
        };
        let help = JsValue::from_str(help);
        runtime::loader("hint", &[self.handle.object.clone(), help.clone()]);
        let placeholders = options::on_by_default("showPlaceholders");
        let input = node::<web_sys::Element>(&self.holder);
        for (field, state) in [(Field::Number, &self.number), (Field::Code, &self.code)] {
            let Some(frame) = self.handle.frame(field).filter(|_| state.ready) else {
                continue;
            };
            let label = self.words.get(field.class());
            let message = js::object(&[
                ("style", &frames::look(frame, input.as_ref())),
                ("label", &JsValue::from_str(label)),
                ("placeholder", &JsValue::from_str(if placeholders { label } else { "" })),
                ("lang", &JsValue::from_str(&self.locale)),
                ("dir", &JsValue::from_str(&self.direction)),
                ("brand", &JsValue::from_str(&self.brand)),
                ("help", &help),
                ("brands", &js::list(&self.brands)),
                ("formatting", &JsValue::from_bool(options::on_by_default("numberFormatting"))),
            ]);
            frames::say(frame, &self.base, &self.handle.nonce, "options", &message);
        }
    }

    pub(super) fn focused(&self, field: Field, is: bool) {
        if let Some(frame) = self.handle.frame(field) {
            let _ = frame.class_list().toggle_with_force("wpwl-focus", is);
            let name = if is { "onFocusIframeCommunication" } else { "onBlurIframeCommunication" };
            callbacks::of_frame(name, &self.handle, frame);
        }
    }
}
