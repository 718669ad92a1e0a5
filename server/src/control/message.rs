//! Requests of commands to the running server, and its answers.

use serde::{Deserialize, Serialize};
use tillgate_domain::review::decision::DecisionType;

/// A request of a command.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "command", rename_all = "kebab-case", deny_unknown_fields)]
pub enum ControlRequest {
    /// Decides a held payment.
    DecideReview {
        /// The payment's id.
        payment: String,
        /// The decision.
        decision: DecisionType,
        /// The name of the analyst.
        analyst: String,
        /// The numeric reason of a cancellation.
        reason: Option<u32>,
        /// The analyst's note.
        note: Option<String>,
        /// The name of the user who runs the command. The number of the user comes from the socket.
        user: String,
    },
}

/// The answer to a request.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "kebab-case")]
pub enum ControlAnswer {
    /// The request is carried out.
    Done {
        /// The result code of the payment.
        result: String,
        /// The description of the result.
        message: String,
    },
    /// The request is refused, and nothing was changed.
    Refused {
        /// Name of the input at fault.
        parameter: String,
        /// Description of the fault.
        message: String,
    },
    /// The server failed.
    Failed {
        /// Description of the failure.
        message: String,
    },
}

impl ControlAnswer {
    /// Refuses a request because of one of its inputs.
    pub(super) fn refuse(parameter: &str, message: impl Into<String>) -> Self {
        Self::Refused { parameter: parameter.to_owned(), message: message.into() }
    }
}
