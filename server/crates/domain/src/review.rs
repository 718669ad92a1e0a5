//! Reviews: payments that the risk check holds until an analyst has decided. A held payment is pending.

pub mod decision;
pub mod filter;
pub mod outcome;
pub mod queue;
mod record;

use jiff::Timestamp;
use tillgate_shared::result::{ResultCode, codes};

use super::payment::{ConnectorTxIds, Payment, PaymentType};
use super::risk::{PaymentRisk, ReviewPolicy};

pub use record::{PaymentReview, ReviewStage};

/// Facts about a payment on which the first stage of its review depends.
#[derive(Debug, Clone, Copy)]
pub struct ReviewFacts {
    /// The setting of the channel.
    pub policy: ReviewPolicy,
    /// True if the payment is checked after its connector's approval.
    pub is_executed: bool,
    /// True if that approval is one of a preauthorization, which is captured after the check.
    pub is_preauthorized: bool,
    /// True if the payment needs its shopper, or data that cannot be kept: it cannot be executed later.
    pub is_bound_to_shopper: bool,
    /// True if the connector can preauthorize and capture the payment.
    pub can_be_captured: bool,
    /// The payment type.
    pub payment_type: PaymentType,
}

impl ReviewFacts {
    /// Returns the stage in which a payment is held. A payout is never executed before its approval, and a debit in two
    /// steps waits between them.
    pub fn first_stage(self) -> ReviewStage {
        match (self.policy, self.payment_type) {
            _ if self.is_executed && self.is_preauthorized => ReviewStage::Authorized,
            _ if self.is_executed || self.is_bound_to_shopper => ReviewStage::Executed,
            (ReviewPolicy::Decline | ReviewPolicy::Hold, _) | (_, PaymentType::Credit) => ReviewStage::NotExecuted,
            (ReviewPolicy::Authorize, PaymentType::Debit) if self.can_be_captured => ReviewStage::Authorized,
            (ReviewPolicy::Authorize, _) => ReviewStage::Executed,
        }
    }
}

impl Payment {
    /// Returns true if it is held until an analyst has decided.
    pub fn is_held(&self) -> bool {
        self.result == codes::RISK_HELD
    }

    /// Returns its review, if it is or was held, or will be.
    pub fn review(&self) -> Option<&PaymentReview> {
        self.risk.as_ref()?.review.as_ref()
    }

    /// Returns the stage of its review, if it has to be held as soon as it can be: before its connector is asked, or
    /// after the approval.
    pub fn stage_to_hold(&self) -> Option<ReviewStage> {
        self.review().filter(|review| review.since.is_none()).map(|review| review.stage)
    }

    /// Returns this payment, held since a time of the entity's clock. A payment that is not executed loses its
    /// connector's answer: an in-process connector has answered already, but the payment counts as not sent.
    #[must_use]
    pub fn into_held(self, since: Timestamp) -> Self {
        let mut held = Self { unannounced: false, ..self };
        let approval = Some(held.result).filter(|code| code.is_success());
        if let Some(review) = held.risk.as_mut().and_then(|risk| risk.review.as_mut()) {
            review.since = Some(since);
            if review.stage == ReviewStage::NotExecuted {
                (held.avs, held.cvv, held.pay_to) = (None, None, None);
                held.details.clear();
                held.connector_tx_ids = ConnectorTxIds::default();
            } else {
                review.approval = approval;
            }
        }
        Self { result: codes::RISK_HELD, ..held }
    }

    /// Returns true if its connector has approved it, so that it must be reversed if it is declined after its review.
    pub fn is_executed_in_review(&self) -> bool {
        let stage = self.review().filter(|review| review.since.is_some()).map(|review| review.stage);
        stage.is_some_and(|stage| stage != ReviewStage::NotExecuted)
    }
}

impl PaymentRisk {
    /// Returns the code with which the payment ends if an analyst cancels it, or if nobody decides in time.
    pub fn cancellation_code(&self) -> ResultCode {
        match self.review.as_ref().map(|review| review.stage) {
            None | Some(ReviewStage::NotExecuted) => codes::RISK_DENY,
            Some(_) => codes::RISK_DENY_VOID,
        }
    }
}
