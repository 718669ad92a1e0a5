//! The gateway's page that replaces an issuer's page during a challenge. Its content comes from the payment's
//! authenticator.

use tillgate_connector::three_ds::request::AuthType;
use tillgate_connector::three_ds::{ChallengePage, ChallengeResult};
use tillgate_domain::payment::Payment;

use crate::payment::asynchronous::page_not_found;
use crate::{Failure, Gateway};

impl Gateway {
    /// Returns the content of a payment's challenge page, for the kind of challenge in `threeDSecure.authType`.
    ///
    /// # Errors
    /// 404 if the payment's channel no longer has an authenticator.
    pub fn challenge_page(&self, payment: &Payment) -> Result<ChallengePage, Failure> {
        let authenticator = self.route_of(payment).and_then(|route| route.authenticator).ok_or_else(page_not_found)?;
        let auth_type = payment.parameters.get("threeDSecure.authType").and_then(AuthType::find);
        Ok(authenticator.challenge_page(auth_type))
    }

    /// Returns the result that belongs to a code posted on the page of a challenge. `None` if the challenge has no such
    /// code, or if the payment's channel no longer has an authenticator. Changes nothing.
    ///
    /// # Errors
    /// 404 if no payment has this page for 3-D Secure.
    pub fn challenge_result(&self, page: &str, code: &str) -> Result<Option<ChallengeResult>, Failure> {
        let payment = self.load_three_ds_payment(page)?;
        Ok(self.challenge_page(&payment).ok().and_then(|page| page.find_result(code)))
    }
}
