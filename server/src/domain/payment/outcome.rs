//! The part of a payment that tells whether it pays its order, read without the rest.

use serde::Deserialize;
use serde::de::IgnoredAny;
use tillgate_shared::result::ResultCode;

use crate::domain::id::PaymentId;

/// A stored payment without what the question of its order does not need.
#[derive(Debug, Deserialize)]
pub struct PaymentOutcome {
    /// Its id.
    pub id: PaymentId,
    result: String,
    referenced: Option<IgnoredAny>,
    redirect: Option<Page>,
}

#[derive(Debug, Deserialize)]
struct Page {
    #[serde(default)]
    abandoned: bool,
}

impl PaymentOutcome {
    /// Returns true if the payment is no follow-up, and it succeeded or may yet. One that its shopper gave up pays nothing.
    pub fn pays_order(&self) -> bool {
        let may_pay = ResultCode::find(&self.result).is_some_and(|code| code.is_success() || code.is_pending());
        let is_abandoned = self.redirect.as_ref().is_some_and(|page| page.abandoned);
        may_pay && !is_abandoned && self.referenced.is_none()
    }
}
