//! Calls to the relay frame, which sends the forms without a card number and reads the state of checkouts.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;

use js_sys::Promise;
use tillgate_shared::wire::{GatewayAnswer, RelayCall};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use web_sys::HtmlIFrameElement;

use super::bridge::{Data, Loader, Value};

/// Answer of the gateway to a call.
pub type RelayAnswer = GatewayAnswer<Value>;

/// A call that waits for its answer.
struct PendingCall {
    number: u32,
    done: js_sys::Function,
}

/// The calls to the relay frame.
#[derive(Default)]
pub struct Relay {
    last: Cell<u32>,
    /// The frame that has loaded. Another frame may have replaced it since.
    loaded: RefCell<Option<HtmlIFrameElement>>,
    /// Calls without an answer. A frame with such calls is not replaced.
    pending: RefCell<Vec<PendingCall>>,
    /// Messages that wait until the frame has loaded.
    queue: RefCell<VecDeque<JsValue>>,
    /// Answers that were received, by their numbers.
    answers: RefCell<Vec<(u32, RelayAnswer)>>,
}

impl Relay {
    /// Calls the relay frame, which is opened if necessary. Returns the gateway's answer. A call whose frame is gone
    /// never returns.
    pub async fn call(&self, loader: &Loader, call: RelayCall, checkout: &str) -> RelayAnswer {
        let number = self.last.get() + 1;
        self.last.set(number);
        let message = call.write::<Data>(number, checkout).finish();
        let frame = loader.open_relay(false);
        if self.has_loaded(&frame) {
            post(&frame, &message, loader);
        } else {
            self.queue.borrow_mut().push_back(message);
        }
        let promise = Promise::new(&mut |done, _| self.pending.borrow_mut().push(PendingCall { number, done }));
        let _ = JsFuture::from(promise).await;
        let mut answers = self.answers.borrow_mut();
        let at = answers.iter().position(|(known, _)| *known == number);
        at.map(|at| answers.swap_remove(at).1).unwrap_or_else(lost_answer)
    }

    /// The frame has loaded.
    pub fn open(&self, frame: &HtmlIFrameElement, loader: &Loader) {
        self.loaded.replace(Some(frame.clone()));
        for message in self.queue.borrow_mut().drain(..) {
            post(frame, &message, loader);
        }
    }

    /// Returns true if this frame has loaded.
    pub fn has_loaded(&self, frame: &HtmlIFrameElement) -> bool {
        self.loaded.borrow().as_ref() == Some(frame)
    }

    /// Returns true if a call waits for its answer.
    pub fn is_waiting(&self) -> bool {
        !self.pending.borrow().is_empty()
    }

    /// Hands an answer to its call.
    pub fn receive_answer(&self, number: u32, answer: RelayAnswer) {
        let mut pending = self.pending.borrow_mut();
        let Some(at) = pending.iter().position(|call| call.number == number) else { return };
        let call = pending.swap_remove(at);
        self.answers.borrow_mut().push((number, answer));
        let _ = call.done.call0(&JsValue::UNDEFINED);
    }
}

fn post(frame: &HtmlIFrameElement, message: &JsValue, loader: &Loader) {
    if let Some(window) = frame.content_window() {
        // Only the origin of the frames may receive it.
        let _ = window.post_message(message, &loader.frames_base());
    }
}

/// The answer if nobody knows what happened.
fn lost_answer() -> RelayAnswer {
    GatewayAnswer {
        status: 0,
        id: String::new(),
        flow: None,
        redirect: None,
        three_ds: false,
        saved: None,
        checkout_state: String::new(),
        description: String::new(),
        wrong: Vec::new(),
    }
}
