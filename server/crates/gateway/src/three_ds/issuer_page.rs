//! The gateway's page that replaces an issuer's page during a challenge. Its content comes from the payment's
//! authenticator.

use tillgate_connector::three_ds::request::AuthType;
use tillgate_connector::three_ds::{ChallengePage, ChallengeResult};
use tillgate_domain::payment::Payment;
use tillgate_domain::refusal::Refusal;

use crate::payment::asynchronous::page_not_found;
use crate::{Failure, Gateway};

impl Gateway {
    /// Returns the content of a payment's challenge page, for the kind of challenge in `threeDSecure.authType`.
    ///
    /// # Errors
    /// 404 if the payment's channel no longer has an authenticator, or the challenge is on a page of the issuer.
    pub fn challenge_page(&self, payment: &Payment) -> Result<ChallengePage, Failure> {
        // With a 3DS server the issuer's own page asks, also if the gateway has no server any more.
        let has_own_page = payment.three_ds_session().is_some_and(|session| session.server.is_none());
        let authenticator = self.route_of(payment).and_then(|route| route.authenticator).filter(|_| has_own_page);
        let authenticator = authenticator.ok_or_else(page_not_found)?;
        let auth_type = payment.parameters.get("threeDSecure.authType").and_then(AuthType::find);
        let transaction = payment.three_ds_session().map_or("", |session| session.transaction.as_str());
        Ok(authenticator.challenge_page(auth_type, &payment.parameters, transaction))
    }

    /// Checks a passkey's answer on the page of a challenge, which is on this origin, such as `https://pay.example`.
    /// Returns the result of the challenge. Changes nothing.
    ///
    /// # Errors
    /// 404 if no payment has this page for 3-D Secure; 400 if the answer is wrong, or if the page asks for no passkey.
    pub fn passkey_result(&self, page: &str, origin: &str, answer: &str) -> Result<ChallengeResult, Failure> {
        let payment = self.load_three_ds_payment(page)?;
        let authenticator = self.route_of(&payment).and_then(|route| route.authenticator).ok_or_else(page_not_found)?;
        let refuse = |text: &str| Failure::from(Refusal::invalid_parameter("passkey", None, text));
        let challenge = self.challenge_page(&payment)?;
        let session = payment.three_ds_session().filter(|_| challenge.passkey.is_some());
        let session = session.ok_or_else(|| refuse("this page asks for no passkey"))?;
        authenticator.check_passkey(&session.transaction, origin, answer).map_err(refuse)?;
        challenge.find_success().ok_or_else(|| refuse("this page authenticates nobody"))
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
