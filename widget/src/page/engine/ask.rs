//! Questions to frames before a fault stops the shopper. A frame reports what is typed by messages, and a press of the
//! button overtakes them where the page is busy: the page would call a code missing that the shopper has just typed. So
//! a frame whose field seems wrong is asked, and its answer comes after everything that it has reported.

use tillgate_shared::frame_messages::FieldMessage;
use yew::prelude::Context;

use super::form::Form;
use super::form_message::Message;
use super::lost::PAUSE;
use super::submit_stage::SubmitStage;

impl Form {
    /// Asks the frames whose fields seem wrong for their state. Returns true if there are any: the submit goes on once
    /// they have answered, or after a moment.
    pub(super) fn ask_doubted_frames(&mut self, context: &Context<Self>) -> bool {
        let mut unanswered = 0;
        for (at, field) in self.fields.iter().enumerate() {
            if field.listening_frame().is_some() && self.find_fault(at).is_some() {
                self.send_to_frame(field, &FieldMessage::Ask);
                unanswered += 1;
            }
        }
        if unanswered > 0 {
            self.stage = SubmitStage::Asking { unanswered };
            self.start_timer(context, PAUSE, || Message::FrameCheckDue);
        }
        unanswered > 0
    }

    /// Returns true while a submit waits for answers of frames.
    pub(super) fn is_asking(&self) -> bool {
        matches!(self.stage, SubmitStage::Asking { .. })
    }

    /// A frame has answered.
    pub(super) fn frame_answered(&mut self, context: &Context<Self>) {
        let SubmitStage::Asking { unanswered } = &mut self.stage else { return };
        *unanswered = unanswered.saturating_sub(1);
        if *unanswered == 0 {
            self.stop_asking(context);
        }
    }

    /// Judges the form if it still waits for answers.
    pub(super) fn stop_asking(&mut self, context: &Context<Self>) {
        if self.is_asking() {
            self.stage = SubmitStage::Idle;
            if !self.handle.has_ended() {
                self.decide_submit(context);
            }
        }
    }
}
