//! Challenges that risk rules demand: the issuer is asked for one before it decides about the cardholder.
//!
//! The check of a payment is decided under the write lock, when 3-D Secure has been decided already. So the rules are
//! evaluated here first, with the counters as they are stored now plus this payment, and nothing is written. The
//! decision under the lock stays the authoritative one. It may differ, because other payments are counted meanwhile: if
//! it demands a challenge that nobody has asked for, the payment continues only if its cardholder is authenticated or
//! about to be, and is declined otherwise. If it demands none, the issuer has challenged without need.

use tillgate_connector::PaymentRoute;
use tillgate_domain::payment::Payment;
use tillgate_domain::risk::{RiskDecision, RiskOutcome};
use tillgate_domain::three_ds::Proof;
use tillgate_shared::result::{ResultCode, codes};

use super::super::Gateway;
use super::three_ds::ThreeDsContext;
use super::{Intake, PaymentContext, PaymentIdentity};

impl Gateway {
    /// Adds to the 3-D Secure context of a payment that its risk rules demand a challenge, if they do. The rules are
    /// evaluated only if they can demand one and the card is enrolled, so other payments do no work here.
    pub(super) fn demand_challenge(
        &self,
        three_ds: Option<ThreeDsContext>,
        intake: &Intake,
        route: &PaymentRoute,
        identity: &PaymentIdentity,
        context: PaymentContext<'_>,
    ) -> Option<ThreeDsContext> {
        let three_ds = three_ds?;
        let payer = &intake.payer;
        let can_be_challenged = payer.settings.channel.risk && three_ds.enrolled_version().is_some();
        if !can_be_challenged || !self.can_rules_challenge(&payer.id) {
            return Some(three_ds);
        }
        let payment = self.draft_for_check(intake, codes::PENDING, identity.clone(), context);
        let settings = payer.settings.channel.risk_settings;
        match self.preview_risk_decision(&payment, payer, route) {
            Some(decision) if decision.demands_challenge(settings) => Some(three_ds.with_demanded_challenge()),
            _ => Some(three_ds),
        }
    }
}

/// Returns true if the issuer of a pending payment is asked for a challenge: the rules demanded one before the payment
/// was written, or in its check.
pub(super) fn demands_challenge(payment: &Payment) -> bool {
    let is_reviewed_after = find_decision(payment).is_some_and(|decision| decision.challenge);
    payment.three_ds_session().is_some_and(|session| session.challenge_demanded)
        || is_challenged_by_check(payment)
        || is_reviewed_after
}

/// Returns the code that declines a payment whose check demands a challenge, if the result of 3-D Secure does not
/// fulfil it. A payment that is checked after its approval has no decision yet.
pub(super) fn find_challenge_refusal(payment: &Payment, proof: Option<&Proof>) -> Option<ResultCode> {
    let is_refused = is_challenged_by_check(payment) && !proof.is_some_and(Proof::is_authenticated);
    let decision = find_decision(payment).filter(|_| is_refused)?;
    Some(decision.code.unwrap_or(codes::RISK_CHALLENGE))
}

fn is_challenged_by_check(payment: &Payment) -> bool {
    find_decision(payment).is_some_and(|decision| decision.outcome == RiskOutcome::Challenge)
}

/// Returns the decision of a payment's check. `None` if it was not checked.
fn find_decision(payment: &Payment) -> Option<&RiskDecision> {
    payment.risk.as_ref()?.decision.as_ref()
}
