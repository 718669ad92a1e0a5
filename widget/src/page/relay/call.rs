//! A call to the relay frame, until its answer.

use js_sys::Promise;
use tillgate_shared::frame_messages::RelayCall;
use wasm_bindgen_futures::{JsFuture, spawn_local};

use super::{PendingCall, Relay, RelayAnswer, lost_answer, post};
use crate::page::bridge::{Data, Loader};
use crate::page::dom;
use crate::page::session::Session;

/// Time between two looks at the frame that has a call, in milliseconds.
const PAUSE: i32 = 1000;
/// Number of looks. The frame itself gives up a submit and the questions about it after a minute and a half.
const LOOKS: u32 = 100;

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
