//! The steps of 3-D Secure on the page of `redirect.url`: the issuer's method page, its challenge, and the effect of
//! the result on the payment.

mod authorization;
mod result;

use std::sync::Arc;

use tillgate_connector::three_ds::request::ThreeDsMessage;
use tillgate_connector::three_ds::{ChallengeResult, ThreeDsAnswer, ThreeDsPages, ThreeDsRequest};
use tillgate_connector::{CardSource, FullAccount, FullCard};
use tillgate_domain::id::PageId;
use tillgate_domain::payment::Payment;
use tillgate_domain::three_ds::{
    AuthenticationDecision, AuthenticationResult, ChallengeRejection, Proof, ThreeDsPolicy, ThreeDsSession,
    apply_policy,
};
use tillgate_shared::brand::Brand;
use tillgate_shared::result::{ResultCode, codes};
use tillgate_store::{Changes, DeferredEffects, RecordKeys};
use tillgate_vault::record_name;
use zeroize::Zeroizing;

use super::super::{Failure, Gateway};
use super::risk_challenge::{demands_challenge, find_challenge_refusal};
use super::three_ds::effective_policy;
use crate::payment::asynchronous::page_not_found;
use authorization::AfterThreeDs;
pub use result::{ResultReply, ResultRequest};

impl Gateway {
    /// Loads the payment that sent its shopper to a page for 3-D Secure, of any entity, pending or ended.
    ///
    /// # Errors
    /// 404 if there is none.
    pub fn load_three_ds_payment(&self, page: &str) -> Result<Payment, Failure> {
        let payment = match PageId::parse(page) {
            Some(page) => self.store.load_payment_of_page(&page)?,
            None => None,
        };
        payment.filter(|payment| payment.three_ds_session().is_some()).ok_or_else(|| page_not_found().into())
    }

    /// Records that the issuer's method page has run. Does nothing if the payment does not wait for it.
    ///
    /// # Errors
    /// 404 if no payment has this page.
    pub async fn record_method_completion(&self, page: &str) -> Result<(), Failure> {
        let payment = self.load_three_ds_payment(page)?;
        self.advance_stage(&payment, ThreeDsSession::record_method_completion).await?;
        Ok(())
    }

    /// Advances the 3-D Secure of a payment until shopper input is needed, and returns the step that the page has to
    /// show. Ends a payment whose shopper is too late as timed out. `skip_method`: do not wait for the method page any
    /// longer.
    ///
    /// # Errors
    /// 404 if no payment has this page.
    pub async fn advance_three_ds(&self, page: &str, skip_method: bool) -> Result<ChallengeStep, Failure> {
        let payment = Arc::new(self.load_three_ds_payment(page)?);
        let now = self.now_of_id(&payment.entity);
        // Shoppers reload this page, also after their payment has ended.
        let Some(session) = payment.three_ds_session().filter(|_| payment.awaits_shopper()) else {
            return Ok(ChallengeStep::Ended(payment));
        };
        if now >= self.shopper_deadline(&payment) {
            let ended =
                self.complete_payment(&payment, codes::TIMED_OUT.into(), |payment| payment.awaits_shopper()).await?;
            return Ok(ChallengeStep::Ended(ended.payment));
        }
        if session.awaits_challenge() {
            return self.continue_after_challenge(payment).await;
        }
        if !skip_method && !session.can_send_request(payment.created, now) {
            return Ok(ChallengeStep::Method(payment));
        }
        self.request_after_method(payment).await
    }

    /// Asks the issuer for its decision, after the method page has run or its time has passed. Begins the challenge if
    /// the issuer demands one, and otherwise authorizes or declines the payment.
    async fn request_after_method(&self, payment: Arc<Payment>) -> Result<ChallengeStep, Failure> {
        // One visit asks. A second request about the same transaction would be refused, and a refusal must not count as
        // the issuer's answer.
        let asking = self.authentications_in_flight.mark_payment(&payment.id);
        if asking.is_none() {
            self.authentications_in_flight.wait_for_end(&payment.id).await;
        }
        // Another visit may have asked since this payment was loaded.
        let payment = self.store.load_payment(&payment.entity, &payment.id)?.map_or(payment, Arc::new);
        let Some(session) = payment.three_ds_session().filter(|_| payment.awaits_shopper()).cloned() else {
            return Ok(ChallengeStep::Ended(payment));
        };
        if session.awaits_challenge() {
            return Ok(ChallengeStep::Challenge(payment));
        }
        if asking.is_none() {
            return Ok(ChallengeStep::Method(payment));
        }
        let account = self.held_account(&payment)?;
        let has_code = matches!(&account, Some(FullAccount::Card(card)) if card.security_code.is_some());
        let policy = effective_policy(self.three_ds_policy(&payment), &payment.parameters, has_code);
        let answer = match &account {
            Some(FullAccount::Card(card)) => self.request_three_ds(&payment, card, &session, policy).await?,
            _ => None,
        };
        let (proof, challenge) = answer.map_or((None, None), |answer| (Some(answer.proof), answer.challenge));
        let result = proof.as_ref().map_or(AuthenticationResult::NotSupported, |proof| proof.result);
        let next_step = match apply_policy(result, policy) {
            AuthenticationDecision::Challenge => {
                let begin = move |session: &mut ThreeDsSession| {
                    let begins = session.begin_challenge();
                    // Another visit may have asked the issuer at the same time. The first challenge counts.
                    if let (true, Some(server)) = (begins, &mut session.server) {
                        server.challenge = challenge;
                    }
                    begins
                };
                let payment = self.advance_stage(&payment, begin).await?;
                return Ok(if payment.awaits_shopper() {
                    ChallengeStep::Challenge(payment)
                } else {
                    ChallengeStep::Ended(payment)
                });
            }
            AuthenticationDecision::Decline(code) => AfterThreeDs::Ended(code.into()),
            AuthenticationDecision::Authorize => match find_challenge_refusal(&payment, proof.as_ref()) {
                Some(code) => AfterThreeDs::Ended(code.into()),
                None => self.authorize_authenticated(&payment, account, proof.clone()).await,
            },
        };
        // The issuer is asked without a lock. If the stage has changed meanwhile, another request has continued the
        // payment.
        let stage = session.stage;
        let ended = self
            .finish_three_ds(payment, next_step, move |payment| {
                let is_current = payment.three_ds_session().is_some_and(|session| session.stage == stage);
                if let (true, Some(proof)) = (is_current, &proof) {
                    proof.write_to(&mut payment.parameters);
                }
                is_current
            })
            .await?;
        Ok(ChallengeStep::Ended(ended.payment))
    }

    /// Asks the issuer of a card, and returns its result. Returns `None`, without a request, if no directory knows the
    /// card, or if its brand or authenticator no longer exists.
    async fn request_three_ds(
        &self,
        payment: &Payment,
        card: &FullCard,
        session: &ThreeDsSession,
        policy: ThreeDsPolicy,
    ) -> Result<Option<ThreeDsAnswer>, Failure> {
        let authenticator = self.route_of(payment).and_then(|route| route.authenticator);
        let (Some(authenticator), Some(brand)) = (authenticator, Brand::find(&payment.brand)) else { return Ok(None) };
        if authenticator.look_up_card(&card.number, &payment.parameters).await.is_none() {
            return Ok(None);
        }
        let mut message = ThreeDsMessage::from_parameters(&payment.parameters, payment.amount, policy)?;
        if demands_challenge(payment) {
            message.demand_challenge();
        }
        let page_url = payment.redirect.as_ref().map_or("", |redirect| redirect.url.as_str());
        let entity = self.directory.find_entity(&payment.entity);
        let request = ThreeDsRequest {
            brand,
            number: &card.number,
            expiry: card.expiry,
            merchant_id: payment.acquirer_merchant_id(),
            merchant_name: entity.as_ref().map_or("", |entity| entity.name.as_str()),
            pages: &ThreeDsPages::of_page(page_url),
            method_completion: session.method_completion(),
            version: Some(session.version),
            transaction_id: Some(&session.transaction),
            message: &message,
            parameters: &payment.parameters,
        };
        Ok(Some(authenticator.authenticate(&request).await))
    }

    /// Processes the result of a challenge: authorizes the payment if the cardholder is authenticated, and otherwise
    /// ends it with the code of the result. A result after the shopper's time limit ends the payment as timed out. A
    /// result of another transaction, or for a payment that does not wait for one, changes nothing.
    ///
    /// # Errors
    /// 404 if no payment has this page.
    pub async fn process_challenge_result(
        &self,
        page: &str,
        transaction: &str,
        result: ChallengeResult,
    ) -> Result<ProcessedChallenge, Failure> {
        let payment = Arc::new(self.load_three_ds_payment(page)?);
        let now = self.now_of_id(&payment.entity);
        let Some(session) = payment.three_ds_session().filter(|_| payment.awaits_shopper()).cloned() else {
            return Ok(ProcessedChallenge { payment, accepted: false });
        };
        // The browser posts this answer, so it may come twice, too late, or from the page of another payment.
        match session.check_challenge_answer(transaction, self.shopper_deadline(&payment), now) {
            Ok(()) => {}
            Err(ChallengeRejection::TooLate) => {
                let ended = self
                    .complete_payment(&payment, codes::TIMED_OUT.into(), |payment| payment.awaits_shopper())
                    .await?;
                return Ok(ProcessedChallenge { payment: ended.payment, accepted: false });
            }
            Err(ChallengeRejection::NoChallenge | ChallengeRejection::OtherTransaction) => {
                return Ok(ProcessedChallenge { payment, accepted: false });
            }
        }
        let authenticator = self.route_of(&payment).and_then(|route| route.authenticator);
        // With a 3DS server, only its own verified result counts, and never one that a browser posts.
        let authenticator = authenticator.filter(|_| session.server.is_none());
        let (Some(authenticator), Some(brand)) = (authenticator, Brand::find(&payment.brand)) else {
            return Ok(ProcessedChallenge { payment, accepted: false });
        };
        let proof = authenticator.challenge_proof(brand, &session, &result);
        self.finish_challenge(payment, proof, result.code).await
    }

    /// Authorizes a payment whose cardholder is authenticated after a challenge, and otherwise ends it with `code`.
    async fn finish_challenge(
        &self,
        payment: Arc<Payment>,
        proof: Proof,
        code: ResultCode,
    ) -> Result<ProcessedChallenge, Failure> {
        let next_step = if proof.is_authenticated() {
            let account = self.held_account(&payment)?;
            self.authorize_authenticated(&payment, account, Some(proof.clone())).await
        } else {
            AfterThreeDs::Ended(code.into())
        };
        let ended = self
            .finish_three_ds(payment, next_step, move |payment| {
                proof.write_to(&mut payment.parameters);
                true
            })
            .await?;
        Ok(ProcessedChallenge { payment: ended.payment, accepted: ended.changed })
    }

    /// Returns the held card of a payment, with its security code if that is still cached. `None` if the payment holds
    /// none.
    pub(crate) fn held_account(&self, payment: &Payment) -> Result<Option<FullAccount>, Failure> {
        let Some(DeferredEffects { card: Some(sealed), .. }) = self.store.load_deferred_effects(payment)? else {
            return Ok(None);
        };
        let record = record_name::payment_card(payment.entity.as_str(), payment.id.as_str());
        let secret = self.vault.open(&record, &sealed)?;
        // The text is an account number, so it is zeroed after the account is built from it.
        let secret = Zeroizing::new(String::from_utf8_lossy(&secret).into_owned());
        let mut account = FullAccount::from_stored(&payment.account, Some(&secret));
        if let Some(FullAccount::Card(card)) = &mut account {
            card.security_code = self.security_codes.find_code(&payment.id);
            // Without a cached security code the card is treated like a stored one, for which no code is expected.
            let is_keyed = payment.registration.is_none() && card.security_code.is_some();
            card.source = if is_keyed { CardSource::Keyed } else { CardSource::Stored };
        }
        Ok(account)
    }

    /// Returns the 3-D Secure policy of the entity that processes a payment, or `WhenEnrolled` if that entity is gone.
    fn three_ds_policy(&self, payment: &Payment) -> ThreeDsPolicy {
        self.directory
            .find_entity(&payment.entity)
            .map_or(ThreeDsPolicy::WhenEnrolled, |entity| entity.settings.channel.three_d)
    }

    /// Applies `step` to the 3-D Secure session of a payment under the write lock, and returns the payment with its
    /// current state. Writes nothing if `step` returns false or the payment does not await its shopper.
    ///
    /// # Errors
    /// 404 if the payment is gone.
    async fn advance_stage(
        &self,
        payment: &Payment,
        step: impl FnOnce(&mut ThreeDsSession) -> bool + Clone + Send + 'static,
    ) -> Result<Arc<Payment>, Failure> {
        let keys = RecordKeys::for_payment(&payment.entity, &payment.id);
        let advanced = self.store.update(keys, move |loaded| {
            let mut payment = loaded.payment.ok_or_else(page_not_found)?;
            let pending = payment.awaits_shopper();
            let session = payment.redirect.as_mut().and_then(|redirect| redirect.authentication.as_mut());
            let changed = session.filter(|_| pending).is_some_and(step);
            let payment = Arc::new(payment);
            let changes =
                if changed { Changes::default().with_payment(Arc::clone(&payment)) } else { Changes::default() };
            Ok((changes, payment))
        });
        Ok(advanced.await??)
    }
}

/// Next step of 3-D Secure, which the page has to show.
#[derive(Debug)]
pub enum ChallengeStep {
    /// The issuer's method page has to run first.
    Method(Arc<Payment>),
    /// The issuer awaits the shopper's answer.
    Challenge(Arc<Payment>),
    /// The payment has ended.
    Ended(Arc<Payment>),
}

/// Effect of a challenge result.
#[derive(Debug)]
pub struct ProcessedChallenge {
    /// The payment.
    pub payment: Arc<Payment>,
    /// True if the result was accepted. Otherwise it changed nothing, or it came too late and the payment timed out.
    pub accepted: bool,
}
