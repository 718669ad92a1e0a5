//! Decisions that the command line requests. A running gateway carries them out, because it has the connectors and the
//! vault.

use serde::{Deserialize, Serialize};

use crate::payment::Payment;
use crate::review::decision::review_transaction_id;
use crate::review::decision::{DecisionType, RequestedDecision};
use crate::review::queue::{ReviewAction, ReviewActionKind};

/// A requested decision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReviewRequest {
    /// The decision.
    pub decision: DecisionType,
    /// The name of the analyst.
    pub analyst: String,
    /// The numeric reason of a cancellation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<u32>,
    /// The analyst's note.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Number of the latest row in the audit of the payment at the time of the request.
    pub after: i64,
}

/// The answer to a requested decision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReviewAnswer {
    /// True if the decision is carried out.
    pub done: bool,
    /// The result of the payment if it is, otherwise the reason why not.
    pub message: String,
    /// The result code of the payment, if the decision is carried out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
}

impl ReviewRequest {
    /// Returns true if a later row of the audit is the one that the decision writes. It was carried out then, and only
    /// its answer is missing.
    pub fn has_written(&self, action: &ReviewAction) -> bool {
        action.kind == ReviewActionKind::from(self.decision)
            && action.analyst == self.analyst
            && action.reason == self.reason
            && action.note == self.note
    }

    /// Returns the decision about a payment.
    pub fn to_decision(&self, payment: &Payment) -> RequestedDecision {
        RequestedDecision {
            transaction_id: review_transaction_id(payment).to_owned(),
            decision: self.decision,
            user_id: self.analyst.clone(),
            cancel_reason: self.reason,
            note: self.note.clone(),
            processed: None,
        }
    }
}

impl ReviewAnswer {
    /// Makes the answer of a decision that is carried out.
    pub fn done(payment: &Payment) -> Self {
        let message = payment.result.description().to_owned();
        Self { done: true, message, result: Some(payment.result.code().to_owned()) }
    }

    /// Makes the answer of a decision that is not carried out.
    pub fn refused(message: String) -> Self {
        Self { done: false, message, result: None }
    }
}
