//! Answers that no request waits for. They may be approvals, so a connector has to see each of them.

use std::sync::Arc;

use super::protocol::{LineMessage, RequestKey};

/// An answer that no request waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LateAnswer {
    /// Name of the line that has received the answer.
    pub line: Arc<str>,
    /// Key of the answer.
    pub key: RequestKey,
    /// The answer.
    pub message: LineMessage,
    /// The reason why no request waits for the answer.
    pub reason: LateReason,
}

/// The reason why no request waits for an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LateReason {
    /// The request has ended without an answer: by its time limit, with an earlier connection, or by its caller.
    GivenUp,
    /// The request has already been answered.
    Duplicate,
    /// No recent request of this process has this key.
    Unmatched,
}

/// A receiver of late answers.
pub trait LateAnswers: Send + Sync {
    /// Takes an answer. It is called by the task of the connection, or by a caller that stops waiting, so it must not
    /// block. A host can send any number of answers, so the receiver needs a limit.
    fn take_late_answer(&self, answer: LateAnswer);
}
