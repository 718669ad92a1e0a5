//! Screening of payments: before the connector is asked and after it has approved. Currently this applies the velocity
//! limits against card testing; the fraud check accepts every payment.

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

    /// Screens a payment that its connector has approved, before the approval is written: immediately, or when a
    /// pending payment ends. Accepts every payment.
    #[allow(clippy::unused_self)]
    pub(super) fn screen_approval(&self, _payment: &Payment, _result: &ConnectorResult) {}
}
