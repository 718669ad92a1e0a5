//! What the frames say of their fields.

use wasm_bindgen::JsValue;
use yew::prelude::Context;

use super::{App, empty_frame};
use crate::page::fields::{Field, FrameState};
use crate::page::{callbacks, js, options};

impl App {
    /// What a frame said.
    pub(super) fn heard(&mut self, context: &Context<Self>, is_number: bool, data: &JsValue) {
        let field = if is_number { Field::Number } else { Field::Code };
        match js::text(data, "type").as_str() {
            "ready" => self.frame_ready(is_number),
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
    pub(super) fn frame_ready(&mut self, is_number: bool) {
        let state = if is_number { &mut self.number } else { &mut self.code };
        *state = FrameState { ready: true, ..empty_frame() };
        let field = if is_number { Field::Number } else { Field::Code };
        self.told[field as usize] = None;
        if is_number && self.busy {
            // What was to be sent, or its answer, went with the frame that the page has moved.
            self.unsent("communicationError");
        }
    }

    /// Whether it differs from before is the answer.
    pub(super) fn take_state(&mut self, is_number: bool, data: &JsValue) -> bool {
        let now = FrameState {
            ready: true,
            empty: js::flag(data, "empty"),
            known: js::flag(data, "known"),
            fresh: js::text(data, "brand") == self.brand,
            complete: js::flag(data, "complete"),
            valid: js::flag(data, "valid"),
            optional: js::flag(data, "optional"),
            brands: js::texts(data, "brands"),
        };
        let state = if is_number { &mut self.number } else { &mut self.code };
        std::mem::replace(state, now.clone()) != now
    }

    pub(super) fn focused(&self, field: Field, is: bool) {
        if let Some(frame) = self.handle.frame(field) {
            let _ = frame.class_list().toggle_with_force("wpwl-focus", is);
            let name = if is { "onFocusIframeCommunication" } else { "onBlurIframeCommunication" };
            callbacks::of_frame(name, &self.handle, frame);
        }
    }
}
