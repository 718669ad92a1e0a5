//! The review of a payment in its stored form.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use tillgate_shared::result::ResultCode;

use crate::payment::optional_result_code;

/// State of a reviewed payment at its connector.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReviewStage {
    /// It is not sent. Its connector is asked when an analyst has approved it.
    NotExecuted,
    /// Its amount is reserved by a preauthorization. It is captured when an analyst has approved it.
    Authorized,
    /// It is executed. An approval changes nothing at its connector.
    Executed,
    /// It was approved, and its preauthorization is captured.
    Captured,
}

/// The review of a payment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PaymentReview {
    /// State of the payment at its connector. While it is not yet held: the state in which it will be held.
    pub stage: ReviewStage,
    /// The beginning of the review's lifetime, by the entity's clock. `None` until the payment is held.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<Timestamp>,
    /// The connector's result code of a payment that was executed before it was held.
    #[serde(default, with = "optional_result_code", skip_serializing_if = "Option::is_none")]
    pub approval: Option<ResultCode>,
    /// The time, by the entity's clock, at which its connector was asked after an analyst had approved it. `None` if it
    /// was not asked then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked: Option<Timestamp>,
}

impl PaymentReview {
    /// Makes the review of a payment that is not yet held.
    pub fn new(stage: ReviewStage) -> Self {
        Self { stage, since: None, approval: None, asked: None }
    }
}
