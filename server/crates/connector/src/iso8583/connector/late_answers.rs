//! Answers that no request waits for.

use crate::iso8583::connector::connection::HostMessages;
use crate::line::{LateAnswer, LateAnswers};

/// A sink that logs late answers. A late answer approves nothing: the payment has an intent, and the gateway reverses
/// it.
#[derive(Debug)]
pub(super) struct LateAnswerLog {
    messages: HostMessages,
}

impl LateAnswerLog {
    /// Makes the sink of a connector's lines.
    pub(super) fn new(messages: HostMessages) -> Self {
        Self { messages }
    }
}

impl LateAnswers for LateAnswerLog {
    fn take_late_answer(&self, answer: LateAnswer) {
        let message = self.messages.decode(&answer.message).ok();
        let code = message.as_ref().and_then(|message| message.text(self.messages.dialect().response_field()));
        tracing::warn!(
            line = %answer.line,
            key = %answer.key,
            reason = ?answer.reason,
            code,
            "an answer of the acquirer's host failed to arrive in time"
        );
    }
}
