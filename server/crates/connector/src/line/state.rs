//! The state of a line, for operators.

use std::sync::Arc;

use jiff::Timestamp;

/// The phase of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinePhase {
    /// The line waits before it connects again.
    Waiting,
    /// The line connects: name resolution, TCP and TLS.
    Connecting,
    /// The connection waits for the answer to its sign-on.
    SigningOn,
    /// The line takes requests.
    Connected,
    /// The line takes no requests, because too many in a row had no answer. The connection itself is signed on.
    CircuitOpen,
    /// The line is being taken out: it finishes its requests, and signs off.
    Leaving,
    /// The line is taken out.
    TakenOut,
    /// The line is shut down for good.
    Stopped,
}

impl LinePhase {
    /// Returns the phase in words, for operators.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Connecting => "connecting",
            Self::SigningOn => "signing on",
            Self::Connected => "connected",
            Self::CircuitOpen => "circuit open",
            Self::Leaving => "leaving",
            Self::TakenOut => "taken out",
            Self::Stopped => "stopped",
        }
    }
}

/// A snapshot of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineState {
    /// Name of the line.
    pub name: Arc<str>,
    /// Address of the host.
    pub address: String,
    /// Phase of the line.
    pub phase: LinePhase,
    /// Time of the latest change of the phase.
    pub since: Timestamp,
    /// Number of requests in flight.
    pub in_flight: usize,
    /// Latest error in plain words, also if the line has recovered since.
    pub last_error: Option<String>,
    /// Number of requests of which a byte was sent, since the start.
    pub sent: u64,
    /// Number of requests that were answered in time.
    pub answered: u64,
    /// Number of answers that no request waited for.
    pub late: u64,
    /// Number of requests whose outcome is unknown to their callers.
    pub failed: u64,
    /// Time of the latest answer to a request.
    pub last_answer: Option<Timestamp>,
}
