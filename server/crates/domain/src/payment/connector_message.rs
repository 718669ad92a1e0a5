//! Messages between the gateway and an external connector about a payment: one request with its answer, without any
//! secret of the account.

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use super::ConnectorTxIds;

/// Number of the first messages of a payment that are kept.
pub const FIRST_MESSAGES: u32 = 20;
/// Number of the latest messages of a payment that are kept besides the first ones.
pub const LATEST_MESSAGES: u32 = 30;

/// A request to an external connector with its answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ConnectorMessage {
    /// Time of the request. By the machine's clock until it is recorded, then by the clock of the payment's entity.
    pub sent: Timestamp,
    /// Time from the request to its answer, or to the end of the wait, in milliseconds.
    pub milliseconds: u64,
    /// The operation.
    pub operation: ConnectorOperation,
    /// The idempotency key.
    pub reference: String,
    /// The outcome.
    pub outcome: MessageOutcome,
    /// The reason for a request without a valid answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<MessageFault>,
    /// The acquirer's own response code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_code: Option<String>,
    /// Result of the address check, a letter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub avs: Option<char>,
    /// Result of the check of the security code, a letter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cvv: Option<char>,
    /// The connector's ids of the transaction.
    #[serde(default, skip_serializing_if = "ConnectorTxIds::is_empty")]
    pub connector_tx_ids: ConnectorTxIds,
    /// Names and masked values of the request, in the order of the protocol.
    pub request: Vec<(String, String)>,
    /// Names and masked values of the answer. Empty if there is no valid one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub answer: Vec<(String, String)>,
}

/// Operation of a request to a connector.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ConnectorOperation {
    /// An authorization or a debit.
    Authorization,
    /// A payout to the account.
    Credit,
    /// An authorization without an amount, which verifies the account.
    Verification,
    /// A capture.
    Capture,
    /// An increment of a preauthorization.
    Increment,
    /// A refund.
    Refund,
    /// A reversal.
    Reversal,
    /// An inquiry about the outcome of an earlier request.
    Inquiry,
}

/// Outcome of a request to a connector.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum MessageOutcome {
    /// The request was executed.
    Approved,
    /// The request was declined.
    Declined,
    /// The connector does not know the outcome yet.
    Pending,
    /// The shopper has to visit a page first.
    Redirect,
    /// The connector does not know the request that the inquiry is about.
    NotFound,
    /// The request that the inquiry is about was reversed.
    Reversed,
    /// The request was not sent, or the connector refused it: it was not executed.
    NotExecuted,
    /// There is no answer, or none that can be trusted.
    NoAnswer,
    /// The answer contradicts itself.
    Contradictory,
}

/// Reason for a request without a valid answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MessageFault {
    /// The kind.
    pub kind: FaultKind,
    /// Number, code or cause that belongs to the kind. May be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub detail: String,
}

/// Kind of a fault. The detail is in parentheses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum FaultKind {
    /// There is no connection (the cause).
    Connection,
    /// The request cannot be written (the cause).
    Request,
    /// Too many requests are in progress (their maximum).
    Busy,
    /// A time limit has passed (milliseconds).
    Late,
    /// The connection broke (the cause).
    Broken,
    /// The answer is too long.
    TooLong,
    /// The answer is not signed (the HTTP status).
    Unsigned,
    /// The answer cannot be read (the HTTP status).
    Unreadable,
    /// The answer does not repeat the request (the part that differs).
    Mismatch,
    /// The connector refuses the request (its reason, as a code).
    Refused,
    /// The connector does not know the outcome (its response code).
    Undecided,
}

impl ConnectorMessage {
    /// Moves the time of the request from the machine's clock to the clock of an entity that is ahead of it.
    #[must_use]
    pub fn moved_by(self, ahead: SignedDuration) -> Self {
        Self { sent: self.sent.checked_add(ahead).unwrap_or(self.sent), ..self }
    }
}

impl ConnectorOperation {
    /// Returns the name, in camel case.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Authorization => "authorization",
            Self::Credit => "credit",
            Self::Verification => "verification",
            Self::Capture => "capture",
            Self::Increment => "increment",
            Self::Refund => "refund",
            Self::Reversal => "reversal",
            Self::Inquiry => "inquiry",
        }
    }
}

impl MessageOutcome {
    /// Returns the name, in camel case.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Approved => "approved",
            Self::Declined => "declined",
            Self::Pending => "pending",
            Self::Redirect => "redirect",
            Self::NotFound => "notFound",
            Self::Reversed => "reversed",
            Self::NotExecuted => "notExecuted",
            Self::NoAnswer => "noAnswer",
            Self::Contradictory => "contradictory",
        }
    }
}

impl FaultKind {
    /// Returns the name, in camel case.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Connection => "connection",
            Self::Request => "request",
            Self::Busy => "busy",
            Self::Late => "late",
            Self::Broken => "broken",
            Self::TooLong => "tooLong",
            Self::Unsigned => "unsigned",
            Self::Unreadable => "unreadable",
            Self::Mismatch => "mismatch",
            Self::Refused => "refused",
            Self::Undecided => "undecided",
        }
    }
}

/// Returns the first and the last number of the messages that are dropped when `last` is the number of the latest one.
/// `None` if all are kept.
pub fn dropped_numbers(last: u32) -> Option<(u32, u32)> {
    let end = last.saturating_sub(LATEST_MESSAGES);
    (end > FIRST_MESSAGES).then_some((FIRST_MESSAGES + 1, end))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn the_first_twenty_and_the_latest_thirty_messages_are_kept() {
        assert_eq!(dropped_numbers(0), None);
        assert_eq!(dropped_numbers(50), None);
        assert_eq!(dropped_numbers(51), Some((21, 21)));
        assert_eq!(dropped_numbers(1000), Some((21, 970)));
    }

    #[test]
    fn a_name_is_the_stored_one() {
        let name = |value: serde_json::Value| value.as_str().unwrap().to_owned();
        for operation in [ConnectorOperation::Authorization, ConnectorOperation::Verification] {
            assert_eq!(name(serde_json::to_value(operation).unwrap()), operation.as_str());
        }
        for outcome in [MessageOutcome::NotFound, MessageOutcome::NoAnswer, MessageOutcome::NotExecuted] {
            assert_eq!(name(serde_json::to_value(outcome).unwrap()), outcome.as_str());
        }
        for kind in [FaultKind::Late, FaultKind::TooLong, FaultKind::Unsigned] {
            assert_eq!(name(serde_json::to_value(kind).unwrap()), kind.as_str());
        }
    }

    #[test]
    fn a_message_without_an_answer_is_stored_with_its_reason_alone() {
        let message = ConnectorMessage {
            sent: Timestamp::UNIX_EPOCH,
            milliseconds: 8000,
            operation: ConnectorOperation::Authorization,
            reference: "p1".to_owned(),
            outcome: MessageOutcome::NoAnswer,
            fault: Some(MessageFault { kind: FaultKind::Late, detail: "8000".to_owned() }),
            response_code: None,
            avs: None,
            cvv: None,
            connector_tx_ids: ConnectorTxIds::default(),
            request: vec![("amount".to_owned(), "9200".to_owned())],
            answer: Vec::new(),
        };
        let stored = serde_json::to_string(&message).unwrap();
        assert!(!stored.contains("answer\":"), "{stored}");
        assert_eq!(serde_json::from_str::<ConnectorMessage>(&stored).unwrap(), message);
        let moved = message.moved_by(SignedDuration::from_secs(60));
        assert_eq!(moved.sent.as_second(), 60);
    }
}
