//! A submit whose frame is gone. The page may remove the frame of the card number, reload it or show another document
//! in it, and the answer of the gateway goes with it. The payment may have been made, so the gateway is asked for the
//! state of the checkout. A shopper who has paid goes to the result page. Everyone else reads that the result is
//! unknown, and may pay again: the gateway charges a checkout once.

use tillgate_shared::brand::Flow;
use tillgate_shared::frame_messages::{FieldMessage, FrameField, NextStep, RelayCall};
use wasm_bindgen_futures::spawn_local;
use yew::prelude::Context;

use super::form::Form;
use super::form_message::Message;
use super::submit_stage::SubmitStage;
use crate::page::relay::RelayAnswer;
use crate::page::text::keys;
use crate::page::{dom, leave};

/// Time between two questions to the frame, in milliseconds.
pub(super) const PAUSE: i32 = 1000;
/// Number of questions in a row that a frame on a busy machine may leave unanswered.
const PATIENCE: u32 = 5;
/// Time to wait for the state of the checkout, in milliseconds: a little longer than the relay frame waits for it.
const STATE_TIME: i32 = 32_000;

impl Form {
    /// Begins to watch the frame that has the request.
    pub(super) fn watch_frame(&mut self, context: &Context<Self>) {
        self.stage = SubmitStage::InFrame { unanswered: 0 };
        self.start_timer(context, PAUSE, || Message::FrameCheckDue);
    }

    /// The frame of the card number is there.
    pub(super) fn note_sign_of_life(&mut self, field: FrameField) {
        if field == FrameField::Number && matches!(self.stage, SubmitStage::InFrame { .. }) {
            self.stage = SubmitStage::InFrame { unanswered: 0 };
        }
    }

    /// Looks after the frames. The one that has the request answers a message about the brand by the state of its
    /// field.
    pub(super) fn check_frame(&mut self, context: &Context<Self>) {
        let SubmitStage::InFrame { unanswered } = self.stage else { return self.stop_asking(context) };
        let number = self.fields.iter().find(|field| field.is_frame(FrameField::Number));
        let is_in_page = number.and_then(|field| field.frame()).is_some_and(|frame| frame.is_connected());
        if !is_in_page || unanswered >= PATIENCE {
            return self.follow_lost_frame(context);
        }
        if let Some(number) = number {
            self.send_to_frame(number, &FieldMessage::Brand(self.brand.clone()));
        }
        self.stage = SubmitStage::InFrame { unanswered: unanswered + 1 };
        self.start_timer(context, PAUSE, || Message::FrameCheckDue);
    }

    /// Sends a message later, in the place of one that another submit may have left.
    pub(super) fn start_timer(&mut self, context: &Context<Self>, milliseconds: i32, message: fn() -> Message) {
        let link = context.link().clone();
        if let Some(timer) = self.stage_timer.take() {
            dom::cancel_timer(timer);
        }
        self.stage_timer = dom::call_later(milliseconds, move || link.send_message(message()));
    }

    /// The frame is gone, and the request or its answer with it.
    pub(in crate::page) fn follow_lost_frame(&mut self, context: &Context<Self>) {
        if !matches!(self.stage, SubmitStage::InFrame { .. }) {
            return;
        }
        self.stage = SubmitStage::ReadingState;
        let text = "Tillgate: the page removed or reloaded the frame of the card number during a payment";
        web_sys::console::warn_1(&text.into());
        let (link, session, checkout) = (context.link().clone(), self.session.clone(), self.paid_checkout.clone());
        self.start_timer(context, STATE_TIME, || Message::StateRead(None));
        spawn_local(async move {
            let answer = session.relay.call(&session.loader, RelayCall::ReadState, &checkout).await;
            link.send_message(Message::StateRead(Some(Box::new(answer))));
        });
    }

    /// The gateway told the state of the checkout, or did not in time.
    pub(super) fn state_read(&mut self, answer: Option<&RelayAnswer>) {
        if self.stage != SubmitStage::ReadingState {
            return;
        }
        self.stage = SubmitStage::Idle;
        match answer.map_or("", |answer| answer.checkout_state.as_str()) {
            // A relay frame that loads now has the same to say about a paid checkout, and refuses to ask.
            state if matches!(state, "PAID" | "REGISTERED") || self.session.is_paid.get() => {
                let page = leave::result_page(&self.session, &self.paid_checkout);
                let step = Some(NextStep::Flow(Flow::Now));
                self.is_busy = leave::leave_page(&self.session, &self.handle, step, &page);
            }
            "EXPIRED" => self.end(keys::CHECKOUT_ERROR),
            // A payment that is pending continues at the next submit.
            _ => self.unsent(keys::COMMUNICATION_ERROR),
        }
        if !self.is_busy {
            self.announcement.clear();
        }
    }
}
