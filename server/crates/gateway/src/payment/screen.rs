//! Checks before a payment: the card-testing limits before everything else, and the risk check of a
//! payment that its connector approves later. The risk check of a new payment is part of [`super::record`].

use tillgate_connector::ConnectorResult;
use tillgate_domain::id::log_tag;
use tillgate_domain::payment::Payment;

use super::super::{Failure, Gateway};
use super::{Intake, PaymentContext};
use crate::risk::check::RiskCheck;
use crate::risk::velocity::{AttemptGuard, ShopperAddress};

impl Gateway {
    /// Screens a payment before any request to a connector, and counts it for the card-testing limits. Stored
    /// accounts are exempt and count nothing: they cannot be used for card testing.
    ///
    /// # Errors
    /// 429 if a card-testing limit is reached.
    pub(super) fn screen_request(&self, intake: &Intake, context: PaymentContext<'_>) -> Result<AttemptGuard, Failure> {
        if context.has_stored_account() {
            return Ok(AttemptGuard::default());
        }
        let shopper = ShopperAddress::from_request(context.addresses.shopper, &intake.parameters);
        Ok(self.velocity.begin_attempt(&intake.payer, shopper, &intake.order.account, self.now())?)
    }

    /// Prepares the risk check of a pending payment that its connector has approved, before the approval is written. It
    /// is a check after the approval, also if the channel's payments are checked before it by now. A check without the
    /// entity or the connector of the payment has failed. `None` if its channel has none, or the payment was checked
    /// before.
    pub(super) fn screen_approval(&self, payment: &Payment, result: &ConnectorResult) -> Option<RiskCheck> {
        // A payment is checked once, because its check counts it in the velocity counters.
        payment.risk.as_ref().filter(|risk| risk.decision.is_none())?;
        let payer = self.directory.find_entity(&payment.entity);
        let (Some(payer), Some(route)) = (&payer, self.route_of(payment)) else {
            tracing::error!(
                payment = log_tag(payment.id.as_str()),
                "the entity or the connector of a payment is not set up, so its risk check has failed"
            );
            let settings = payer.map(|payer| payer.settings.channel.risk_settings).unwrap_or_default();
            return Some(RiskCheck::failed_after_approval(settings, payment.entity.clone()));
        };
        let approved = Payment { result: result.code, avs: result.avs, cvv: result.cvv, ..payment.clone() };
        self.make_risk_check(&approved, payer, &route, true)
    }
}
