//! The relay frame, which sends the forms without a card number and reads the state of checkouts: its calls that wait
//! for an answer.

mod call;

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;

use tillgate_shared::frame_messages::GatewayAnswer;
use wasm_bindgen::prelude::*;
use web_sys::HtmlIFrameElement;

use super::bridge::{Loader, Value};

/// Answer of the gateway to a call.
pub type RelayAnswer = GatewayAnswer<Value>;

/// A call that waits for its answer.
struct PendingCall {
    number: u32,
    /// The frame that has the message. `None` while the message waits for a frame.
    frame: Option<HtmlIFrameElement>,
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
    /// True once the forms have ended.
    is_closed: Cell<bool>,
}

impl Relay {
    /// The frame has loaded. If it had calls, the page has loaded it again, and they are lost.
    pub fn open(&self, frame: &HtmlIFrameElement, loader: &Loader) {
        self.loaded.replace(Some(frame.clone()));
        self.drop_calls(|call| call.frame.as_ref() == Some(frame));
        for call in self.pending.borrow_mut().iter_mut().filter(|call| call.frame.is_none()) {
            call.frame = Some(frame.clone());
        }
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

    /// Gives all calls the lost answer, also those that follow.
    pub fn close(&self) {
        self.is_closed.set(true);
        self.queue.take();
        self.drop_calls(|_| true);
    }

    /// Gives these calls the lost answer.
    fn drop_calls(&self, is_lost: impl Fn(&PendingCall) -> bool) {
        let pending = self.pending.borrow();
        let lost: Vec<u32> = pending.iter().filter(|call| is_lost(call)).map(|call| call.number).collect();
        drop(pending);
        for number in lost {
            self.receive_answer(number, lost_answer());
        }
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
        advice: String::new(),
        redirect: None,
        three_ds: false,
        saved: None,
        checkout_state: String::new(),
        description: String::new(),
        wrong: Vec::new(),
        ignored: Vec::new(),
    }
}
