//! Stages of a card's submit.

/// The part of a card's submit that the form waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SubmitStage {
    /// Nothing that a frame has.
    #[default]
    Idle,
    /// The answers of frames about the state of their fields.
    Asking {
        /// Questions that are not answered yet.
        unanswered: u32,
    },
    /// The frame of the card number has the request.
    InFrame {
        /// Questions that it has not answered.
        unanswered: u32,
    },
    /// The frame is gone. The gateway is asked for the state of the checkout.
    ReadingState,
}
