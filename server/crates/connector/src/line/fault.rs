//! The reasons why a request has no answer. They separate certainty from doubt: only a request that was certainly not
//! sent may use another line.

use super::protocol::RequestKey;

/// A request without an answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SendFault {
    /// No byte of the request was sent, so the host cannot have executed it.
    #[error("the request was not sent: {0}")]
    NotSent(#[from] NotSentReason),
    /// At least one byte may have reached the host. It is unknown if the host executed the request.
    #[error("the outcome of the request is unknown: {0}")]
    Unknown(#[from] UnknownReason),
}

/// The reason why no byte of a request was sent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotSentReason {
    /// The line has no connection that is signed on.
    #[error("the line is not connected")]
    NotConnected,
    /// The maximum number of requests is in flight.
    #[error("the line has no free place, with {0} requests in flight")]
    QueueFull(usize),
    /// Too many requests in a row had no answer, so the line is not used for a while.
    #[error("the line is not used for a while, because requests had no answer")]
    CircuitOpen,
    /// An operator has taken the line out.
    #[error("the line is taken out")]
    TakenOut,
    /// The line has been shut down.
    #[error("the line is shut down")]
    Stopped,
    /// A request with this key is in flight, or was a short while ago, so its answer could be taken for the new one's.
    #[error("the key {0} is in use, or was a short while ago")]
    KeyInUse(RequestKey),
    /// Too many keys wait for late answers.
    #[error("{0} requests without an answer are remembered, which is the limit")]
    TooManyUnanswered(usize),
    /// The host has not taken earlier messages in time, so the request's turn did not come.
    #[error("earlier messages were not written within {0} ms")]
    NotWritten(u128),
    /// The connection ended before the request's turn came. The text is the reason.
    #[error("the connection ended first: {0}")]
    ConnectionEnded(String),
    /// The protocol cannot frame the message. The text is the reason.
    #[error("the message cannot be framed: {0}")]
    InvalidMessage(String),
    /// The group has no line.
    #[error("no line is configured")]
    NoLine,
}

/// The reason why the outcome of a request is unknown.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnknownReason {
    /// The host has not answered in time.
    #[error("no answer within {0} ms")]
    Timeout(u128),
    /// The connection ended after a part of the request was written. The text is the reason.
    #[error("the connection ended: {0}")]
    ConnectionEnded(String),
    /// The line has been shut down before the answer arrived.
    #[error("the line was shut down")]
    Stopped,
}
