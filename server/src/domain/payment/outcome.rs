//! Outcome of a payment, read without the rest to check whether the payment pays its order.

use serde::Deserialize;
use serde::de::IgnoredAny;
use tillgate_shared::result::ResultCode;

use crate::domain::id::PaymentId;

/// The fields of a stored payment that decide whether it pays its order.
#[derive(Debug, Deserialize)]
pub struct PaymentOutcome {
    /// Its id.
    pub id: PaymentId,
    result: String,
    referenced: Option<IgnoredAny>,
    redirect: Option<StoredRedirect>,
}

#[derive(Debug, Deserialize)]
struct StoredRedirect {
    #[serde(default)]
    abandoned: bool,
}

impl PaymentOutcome {
    /// Returns true if the payment is not a follow-up payment, and succeeded or may still succeed (pending). A payment
    /// that its shopper abandoned does not pay the order, nor does one with an unknown result code.
    pub fn pays_order(&self) -> bool {
        let may_pay = ResultCode::find(&self.result).is_some_and(|code| code.is_success() || code.is_pending());
        let is_abandoned = self.redirect.as_ref().is_some_and(|page| page.abandoned);
        may_pay && !is_abandoned && self.referenced.is_none()
    }
}
