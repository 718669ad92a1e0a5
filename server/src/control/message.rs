//! Requests of commands to the running server, and its answers.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use tillgate_connector::line::LineState;
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
    /// Lists the lines to acquirers.
    ListLines,
    /// Takes a line out: it finishes its requests, signs off, and gets no more requests.
    TakeLineOut {
        /// Name of the line.
        line: String,
    },
    /// Puts a line back that was taken out.
    PutLineBack {
        /// Name of the line.
        line: String,
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
    /// The state of lines to acquirers: of all, or of the one that the request names.
    Lines {
        /// The lines, in the order of the configuration.
        lines: Vec<LineOutput>,
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

/// The state of a line.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LineOutput {
    /// Its name.
    pub name: String,
    /// Address of the host.
    pub address: String,
    /// Its phase, such as `connected`.
    pub phase: String,
    /// Time of the latest change of the phase.
    pub since: Timestamp,
    /// Number of requests in flight.
    pub in_flight: usize,
    /// Number of requests that were sent since the start of the server.
    pub sent: u64,
    /// Number of requests that were answered in time.
    pub answered: u64,
    /// Number of answers that came too late.
    pub late: u64,
    /// Number of requests whose outcome is unknown.
    pub failed: u64,
    /// Time of the latest answer to a request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_answer: Option<Timestamp>,
    /// The latest error, also if the line has recovered since.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_error: Option<String>,
}

impl From<LineState> for LineOutput {
    fn from(state: LineState) -> Self {
        Self {
            name: state.name.to_string(),
            address: state.address,
            phase: state.phase.as_str().to_owned(),
            since: state.since,
            in_flight: state.in_flight,
            sent: state.sent,
            answered: state.answered,
            late: state.late,
            failed: state.failed,
            last_answer: state.last_answer,
            last_error: state.last_error,
        }
    }
}

impl ControlAnswer {
    /// Refuses a request because of one of its inputs.
    pub(super) fn refuse(parameter: &str, message: impl Into<String>) -> Self {
        Self::Refused { parameter: parameter.to_owned(), message: message.into() }
    }
}
