//! Decisions about payments that the fraud check holds for review.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::id::{EntityId, PaymentId};
use crate::payment::Payment;
use crate::refusal::Refusal;
use crate::review::queue::{ReviewAction, ReviewActionKind, ReviewActor, ReviewClock, ReviewStatus};

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
    /// The process date in the callback: the time that a review system sent, or else `at`.
    pub processed: Timestamp,
    /// The time of the decision in the audit, by the clock of the entity. A stored callback does not have it.
    #[serde(skip)]
    pub at: Timestamp,
    /// True if nobody has decided in time.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_expiry: bool,
    /// The person who acted, for the audit log. `None` if `user_id` says it. A stored callback does not have it.
    #[serde(skip)]
    pub actor: Option<ReviewActor>,
}

/// A decision that an analyst or an outside review system asks for. A review system finds the payment by the
/// transaction id.
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
    /// The person who acts, for the audit log. `None` if `user_id` says it.
    pub actor: Option<ReviewActor>,
}

impl ReviewDecision {
    /// Checks, under the write lock, that nobody else has claimed the payment meanwhile. The end of a review is
    /// stronger than a claim.
    ///
    /// # Errors
    /// 409 with the analyst who has.
    pub fn check_claim(&self, status: Option<&ReviewStatus>, clock: ReviewClock) -> Result<(), Refusal> {
        match status.filter(|_| !self.is_expiry) {
            Some(status) => status.review.check_claim(&self.user_id, clock),
            None => Ok(()),
        }
    }
}

impl ReviewAction {
    /// Returns the process date that a review system sent. `None` if it is the time of the action.
    pub fn sent_process_date(&self) -> Option<Timestamp> {
        self.processed.filter(|date| *date != self.at)
    }
}

impl RequestedDecision {
    /// Makes a decision about a payment, without remarks.
    pub fn about(payment: &Payment, decision: DecisionType, user_id: impl Into<String>) -> Self {
        Self {
            transaction_id: review_transaction_id(payment).to_owned(),
            decision,
            user_id: user_id.into(),
            cancel_reason: None,
            note: None,
            processed: None,
            actor: None,
        }
    }

    /// Returns true if a row of the audit is a decision of this kind by the same analyst, with the same process date if
    /// one was sent.
    pub fn is_same_decision(&self, action: &ReviewAction) -> bool {
        let has_same_date = |sent: Timestamp| {
            // Rows of an earlier version have the process date as their time.
            let date = action.processed.unwrap_or(action.at);
            date.as_millisecond() == sent.as_millisecond()
        };
        action.kind == ReviewActionKind::from(self.decision)
            && action.analyst == self.user_id
            && self.processed.is_none_or(has_same_date)
    }

    /// Returns true if the latest decision about a held payment is this one, so that it is already pended as requested.
    pub fn is_pended(&self, status: &ReviewStatus) -> bool {
        let latest = status.latest.as_ref().filter(|latest| latest.kind == ReviewActionKind::Pend);
        latest.is_some_and(|latest| self.is_same_decision(latest) && latest.note == self.note)
    }
}

/// Returns the id by which the merchant's system and this one know a transaction: its `merchantTransactionId`, or else
/// the payment's id.
pub fn review_transaction_id(payment: &Payment) -> &str {
    payment.merchant_transaction_id().unwrap_or(payment.id.as_str())
}
