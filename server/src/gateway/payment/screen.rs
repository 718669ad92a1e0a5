//! Screening of payments: the velocity limits against card testing before everything else, and the risk check of a
//! payment that its connector approves later. The risk check of a new payment is part of [`super::record`].

use super::super::risk_check::RiskCheck;
use super::super::velocity::{AttemptGuard, ShopperAddress};
use super::super::{Failure, Gateway};
use super::{Intake, PaymentContext};
use crate::connector::ConnectorResult;
use crate::domain::payment::Payment;

impl Gateway {
    /// Screens a payment before any request to a connector, and counts it as an attempt for the velocity limits. Stored
    /// accounts are exempt and count nothing: they cannot be used for card testing.
    ///
    /// # Errors
    /// 429 if a velocity limit is reached.
    pub(super) fn screen_request(&self, intake: &Intake, context: PaymentContext<'_>) -> Result<AttemptGuard, Failure> {
        if context.has_stored_account() {
            return Ok(AttemptGuard::default());
        }
        let shopper = ShopperAddress::from_request(context.addresses.shopper, &intake.parameters);
        Ok(self.velocity.begin_attempt(&intake.payer, shopper, &intake.order.account, self.now())?)
    }

    /// Prepares the risk check of a pending payment that its connector has approved, before the approval is written.
    /// `None` if its channel has none, or the payment was checked before.
    pub(super) fn screen_approval(&self, payment: &Payment, result: &ConnectorResult) -> Option<RiskCheck> {
        payment.risk.as_ref().filter(|risk| risk.decision.is_none())?;
        let payer = self.directory.find_entity(&payment.entity)?;
        let route = self.route_of(payment)?;
        let approved = Payment { result: result.code, avs: result.avs, cvv: result.cvv, ..payment.clone() };
        self.prepare_risk_check(&approved, &payer, &route)
    }
}
