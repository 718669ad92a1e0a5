//! Calls to the relay frame, which sends the forms without a card number and reads the state of checkouts.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;

use js_sys::Promise;
use tillgate_shared::frame_messages::{GatewayAnswer, RelayCall};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::{JsFuture, spawn_local};
use web_sys::HtmlIFrameElement;

use super::bridge::{Data, Loader, Value};
use super::dom;
use super::session::Session;

/// Time between two looks at the frame that has a call, in milliseconds.
const PAUSE: i32 = 1000;
/// Number of looks. The frame itself gives up a submit and the questions about it after a minute and a half.
const LOOKS: u32 = 100;

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
    /// Calls the relay frame, which is opened if necessary. Returns the gateway's answer, or the lost
    /// one if the page took the frame away.
    pub async fn call(&self, loader: &Loader, call: RelayCall, checkout: &str) -> RelayAnswer {
        // It would open the frame again.
        if self.is_closed.get() {
            return lost_answer();
        }
        let number = self.last.get() + 1;
        self.last.set(number);
        let message = call.write::<Data>(number, checkout).finish();
        let frame = loader.open_relay(false);
        let has_loaded = self.has_loaded(&frame);
        if has_loaded {
            post(&frame, &message, loader);
        } else {
            self.queue.borrow_mut().push_back(message);
        }
        let frame = has_loaded.then_some(frame);
        let promise = Promise::new(&mut |done, _| {
            self.pending.borrow_mut().push(PendingCall { number, frame: frame.clone(), done });
        });
        spawn_local(watch(number));
        let _ = JsFuture::from(promise).await;
        let mut answers = self.answers.borrow_mut();
        let at = answers.iter().position(|(known, _)| *known == number);
        at.map(|at| answers.swap_remove(at).1).unwrap_or_else(lost_answer)
    }

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

/// Looks after the frame of a call until the call has its answer.
async fn watch(number: u32) {
    for look in 1..=LOOKS {
        dom::sleep(PAUSE).await;
        let Some(session) = Session::current() else { return };
        let relay = &session.relay;
        if !relay.pending.borrow().iter().any(|call| call.number == number) {
            return;
        }
        let is_gone = |call: &PendingCall| call.frame.as_ref().is_some_and(|frame| !frame.is_connected());
        relay.drop_calls(|call| call.number == number && (is_gone(call) || look == LOOKS));
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
