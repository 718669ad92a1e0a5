//! Decisions about payments that the fraud check holds for review.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::id::{EntityId, PaymentId};
use super::payment::Payment;

/// Type of a review decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum DecisionType {
    /// The payment is accepted.
    Approve,
    /// The payment is cancelled.
    Cancel,
    /// The payment stays held.
    Pending,
}

impl DecisionType {
    /// Every type.
    pub const ALL: [Self; 3] = [Self::Approve, Self::Cancel, Self::Pending];

    /// Returns the name in a callback, such as `APPROVE`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Approve => "APPROVE",
            Self::Cancel => "CANCEL",
            Self::Pending => "PENDING",
        }
    }

    /// Parses the name in a callback, in any case. Returns `None` for any other text.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|decision| decision.as_str().eq_ignore_ascii_case(text))
    }
}

/// A decision about a payment, as it is reported to the merchant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReviewDecision {
    /// The payment.
    pub payment: PaymentId,
    /// The entity that owns the payment.
    pub entity: EntityId,
    /// The id by which both systems know the transaction, see [`review_transaction_id`].
    pub transaction_id: String,
    /// The decision.
    pub decision: DecisionType,
    /// The id of the analyst, or of the system that decided.
    pub user_id: String,
    /// The numeric reason of a cancellation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cancel_reason: Option<u32>,
    /// The analyst's note.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The time of the decision, by the clock of the entity.
    pub processed: Timestamp,
    /// True if nobody has decided in time.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_expiry: bool,
}

/// A decision that an outside review system asks for. Its payment is found by the transaction id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestedDecision {
    /// The id by which both systems know the transaction, see [`review_transaction_id`].
    pub transaction_id: String,
    /// The decision.
    pub decision: DecisionType,
    /// The id of the analyst, or of the system that decided.
    pub user_id: String,
    /// The numeric reason of a cancellation. `None` for other decisions.
    pub cancel_reason: Option<u32>,
    /// The analyst's note. It contains no card number.
    pub note: Option<String>,
    /// The time of the decision by the clock of the outside system, if it was sent.
    pub processed: Option<Timestamp>,
}

/// Returns the id by which the merchant's system and this one know a transaction: its `merchantTransactionId`, or else
/// the payment's id.
pub fn review_transaction_id(payment: &Payment) -> &str {
    payment.merchant_transaction_id().unwrap_or(payment.id.as_str())
}
