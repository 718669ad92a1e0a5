//! Lines: long-lived TCP connections to an acquirer's host that carry many requests at once, with answers in any order.
//!
//! A [`HostLine`] keeps one connection: it signs on, sends echoes, and connects again after faults. A [`LineGroup`]
//! chooses among the lines of a channel. Knows no message format: a [`LineProtocol`] frames and matches messages.
//!
//! A request without an answer is either certainly not sent ([`SendFault::NotSent`]) or unknown
//! ([`SendFault::Unknown`]). Only the former may be sent again. An answer that no request waits for goes to
//! [`LateAnswers`].

mod backoff;
mod circuit;
mod config;
mod connect;
mod connection;
mod fault;
mod group;
mod handle;
mod late_answers;
mod protocol;
mod request_table;
mod shared;
mod state;
mod task;
mod used_keys;
mod writer;

pub use config::{LineAddress, LineConfig, LineConfigError, LineLimits, LineSecurity};
pub use fault::{NotSentReason, SendFault, UnknownReason};
pub use group::{GroupAnswer, GroupFault, GroupLine, LineGroup};
pub use handle::{HostLine, shut_down_lines};
pub use late_answers::{LateAnswer, LateAnswers, LateReason};
pub use protocol::{ControlMessage, FrameDecoder, IncomingMessage, KeyUse, LineMessage, LineProtocol, RequestKey};
pub use state::{LinePhase, LineState};

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
