//! Parts of a stored payment, read without the rest: whether it pays its order, and the state that a later write
//! changes.

use serde::Deserialize;
use serde::de::IgnoredAny;
use tillgate_shared::result::{ResultCode, ResultGroup, codes};

use super::{Payment, result_code};
use crate::id::PaymentId;

/// The fields of a stored payment that decide whether it pays its order.
#[derive(Debug, Deserialize)]
pub struct PaymentOutcome {
    /// Its id.
    pub id: PaymentId,
    result: String,
    referenced: Option<IgnoredAny>,
    redirect: Option<StoredRedirect>,
}

/// The fields of the stored version of a payment that the effects of its next write depend on.
#[derive(Debug, Deserialize)]
pub struct EarlierState {
    /// Its result.
    #[serde(with = "result_code")]
    pub result: ResultCode,
    /// True if no event has reported the payment.
    #[serde(default)]
    pub unannounced: bool,
    connector: Option<IgnoredAny>,
    redirect: Option<StoredRedirect>,
    risk: Option<StoredRisk>,
}

#[derive(Debug, Deserialize)]
struct StoredRisk {
    decision: Option<IgnoredAny>,
}

#[derive(Debug, Deserialize)]
struct StoredRedirect {
    #[serde(default)]
    abandoned: bool,
    asked: Option<IgnoredAny>,
    authentication: Option<IgnoredAny>,
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

impl EarlierState {
    /// Returns true if the payment was pending until its shopper returned, as [`Payment::awaits_shopper`].
    pub fn awaits_shopper(&self) -> bool {
        let has_page = self.redirect.as_ref().is_some_and(|page| page.asked.is_none());
        self.result.is_pending() && !self.was_held() && has_page
    }

    /// Returns true if its connector owed an outcome, as [`Payment::can_be_inquired`].
    pub fn could_be_inquired(&self) -> bool {
        let has_session = self.redirect.as_ref().is_some_and(|page| page.authentication.is_some());
        let awaited_authentication = self.awaits_shopper() && has_session;
        self.result.is_pending() && !self.was_held() && self.connector.is_some() && !awaited_authentication
    }

    /// Returns true if the payment was approved, as [`Payment::is_approved`]. Only chargebacks have results of their
    /// group.
    pub fn was_approved(&self) -> bool {
        self.result.is_success() || self.result.group() == ResultGroup::Chargeback
    }

    /// Returns true if the payment was held, as [`Payment::is_held`].
    pub fn was_held(&self) -> bool {
        self.result == codes::RISK_HELD
    }

    /// Returns true if the payment was checked for risk.
    pub fn has_risk_decision(&self) -> bool {
        self.risk.as_ref().is_some_and(|risk| risk.decision.is_some())
    }
}

impl From<&Payment> for EarlierState {
    fn from(payment: &Payment) -> Self {
        let redirect = payment.redirect.as_ref().map(|page| StoredRedirect {
            abandoned: page.abandoned,
            asked: page.asked.map(|_| IgnoredAny),
            authentication: page.authentication.as_ref().map(|_| IgnoredAny),
        });
        let connector = payment.connector.as_ref().map(|_| IgnoredAny);
        let risk =
            payment.risk.as_ref().map(|risk| StoredRisk { decision: risk.decision.as_ref().map(|_| IgnoredAny) });
        Self { result: payment.result, unannounced: payment.unannounced, connector, redirect, risk }
    }
}
