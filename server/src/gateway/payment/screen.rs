//! Screening: whether a payment may be tried, and whether one that was authorised is good. The velocity limits against card
//! testing are kept here; the fraud engine accepts everything so far.

use super::super::velocity::{AttemptGuard, Shopper};
use super::super::{Failure, Gateway};
use super::{Authorized, Circumstances, Intake};

impl Gateway {
    /// Screens a payment before anything is asked of anybody. A stored account is exempt from the velocity limits: it cannot be
    /// used to find out which numbers work.
    ///
    /// # Errors
    /// 429 if a velocity limit is reached.
    pub(super) fn screen_before(
        &self,
        intake: &Intake,
        circumstances: Circumstances<'_>,
    ) -> Result<AttemptGuard, Failure> {
        if circumstances.is_stored() {
            return Ok(AttemptGuard::default());
        }
        let shopper = Shopper::of(circumstances.addresses.shopper, &intake.parameters);
        Ok(self.velocity.begin(&intake.payer, shopper, &intake.order.account, self.now())?)
    }

    /// Screens a payment that was authorised. Accepts every payment.
    #[allow(clippy::unused_self)]
    pub(super) fn screen_after(&self, _intake: &Intake, _authorized: &Authorized) {}
}
