//! The steps that a cardholder's authentication takes on the page that `redirect.url` leads to: the issuer's method page, its
//! challenge, and what the answer makes of the payment.

use tillgate_shared::brand::Brand;
use tillgate_shared::result::codes;
use zeroize::Zeroizing;

use super::super::asynchronous::no_page;
use super::super::{Failure, Gateway, order};
use super::Identity;
use super::three_ds::policy_of_first;
use crate::connector::three_ds::request::AuthenticationMessage;
use crate::connector::three_ds::{AuthenticationRequest, ChallengeResult};
use crate::connector::{ConnectorResult, Entry, FullAccount, FullCard};
use crate::domain::authentication::{Authentication, Next, NotTaken, Proof, Said, next};
use crate::domain::channel::ThreeD;
use crate::domain::id::PageId;
use crate::domain::payment::Payment;
use crate::store::{Changes, Keys, Promise};

impl Gateway {
    /// The payment whose shopper is authenticated on a page.
    ///
    /// # Errors
    /// 404 when there is none.
    pub fn payment_to_authenticate(&self, page: &str) -> Result<Payment, Failure> {
        let payment = match PageId::parse(page) {
            Some(page) => self.store.payment_of_page(&page)?,
            None => None,
        };
        payment.filter(|payment| payment.authentication().is_some()).ok_or_else(|| no_page().into())
    }

    /// Notes that the issuer's method page has run.
    ///
    /// # Errors
    /// 404 when no payment waits for a method page.
    pub async fn method_completed(&self, page: &str) -> Result<(), Failure> {
        let payment = self.payment_to_authenticate(page)?;
        self.step(&payment, Authentication::method_completed).await?;
        Ok(())
    }

    /// Takes a payment as far as it goes without the shopper's answer. `goes_on` says that the method page has had its time.
    ///
    /// # Errors
    /// 404 when nobody is authenticated on this page.
    pub async fn visit_authentication(&self, page: &str, goes_on: bool) -> Result<Visit, Failure> {
        let payment = self.payment_to_authenticate(page)?;
        let now = self.now_of_id(&payment.entity);
        let Some(authentication) = payment.authentication().filter(|_| payment.result.is_pending()) else {
            return Ok(Visit::Ended(payment));
        };
        if now >= self.waits_until(&payment) {
            let ended = self.complete(payment, codes::TIMED_OUT.into(), |_| true).await?;
            return Ok(Visit::Ended(ended.payment));
        }
        if authentication.waits_for_answer() {
            return Ok(Visit::Challenge(payment));
        }
        if !goes_on && !authentication.may_ask(payment.created, now) {
            return Ok(Visit::Method(payment));
        }
        self.ask_issuer(payment).await
    }

    /// Asks the issuer, once its method page has run or has had its time.
    async fn ask_issuer(&self, payment: Payment) -> Result<Visit, Failure> {
        let Some(authentication) = payment.authentication().cloned() else { return Ok(Visit::Ended(payment)) };
        let account = self.waiting_account(&payment)?;
        let has_code = matches!(&account, Some(FullAccount::Card(card)) if card.code.is_some());
        let when = policy_of_first(self.three_d_of(&payment), &payment.parameters, has_code);
        let proof = match &account {
            Some(FullAccount::Card(card)) => self.ask_about(&payment, card, &authentication, when).await?,
            _ => None,
        };
        let said = proof.as_ref().map_or(Said::Outside, |proof| proof.said);
        let answer = match next(said, when) {
            Next::Challenge => {
                let payment = self.step(&payment, Authentication::challenged).await?;
                return Ok(if payment.result.is_pending() { Visit::Challenge(payment) } else { Visit::Ended(payment) });
            }
            Next::Decline(code) => code.into(),
            Next::Authorise => self.authorise(&payment, account, proof.clone()).await,
        };
        let asked = authentication.stage;
        let ended = self
            .complete(payment, answer, move |payment| {
                let still = payment.authentication().is_some_and(|authentication| authentication.stage == asked);
                if let (true, Some(proof)) = (still, &proof) {
                    proof.tell(&mut payment.parameters);
                }
                still
            })
            .await?;
        Ok(Visit::Ended(ended.payment))
    }

    /// Asks the issuer of a card. Returns `None` if no directory knows the card.
    async fn ask_about(
        &self,
        payment: &Payment,
        card: &FullCard,
        authentication: &Authentication,
        when: ThreeD,
    ) -> Result<Option<Proof>, Failure> {
        let authenticator = self.route_of(payment).and_then(|route| route.authenticator);
        let (Some(authenticator), Some(brand)) = (authenticator, Brand::find(&payment.brand)) else { return Ok(None) };
        if authenticator.look_up(&card.number, &payment.parameters).await.is_none() {
            return Ok(None);
        }
        let message = AuthenticationMessage::read(&payment.parameters, payment.amount, when)?;
        let request = AuthenticationRequest {
            brand,
            number: &card.number,
            version: Some(authentication.version),
            transaction: Some(&authentication.transaction),
            message: &message,
            parameters: &payment.parameters,
        };
        Ok(Some(authenticator.authenticate(&request).await))
    }

    /// Takes the answer to a challenge: that of its own transaction, once and in time. Any other changes nothing.
    ///
    /// # Errors
    /// 404 when nobody is authenticated on this page.
    pub async fn answer_challenge(
        &self,
        page: &str,
        transaction: &str,
        result: ChallengeResult,
    ) -> Result<Answered, Failure> {
        let payment = self.payment_to_authenticate(page)?;
        let now = self.now_of_id(&payment.entity);
        let Some(authentication) = payment.authentication().filter(|_| payment.result.is_pending()).cloned() else {
            return Ok(Answered { payment, taken: false });
        };
        match authentication.answered(transaction, self.waits_until(&payment), now) {
            Ok(()) => {}
            Err(NotTaken::TooLate) => {
                let ended = self.complete(payment, codes::TIMED_OUT.into(), |_| true).await?;
                return Ok(Answered { payment: ended.payment, taken: false });
            }
            Err(NotTaken::NoChallenge | NotTaken::OtherTransaction) => return Ok(Answered { payment, taken: false }),
        }
        let authenticator = self.route_of(&payment).and_then(|route| route.authenticator);
        let (Some(authenticator), Some(brand)) = (authenticator, Brand::find(&payment.brand)) else {
            return Ok(Answered { payment, taken: false });
        };
        let proof = authenticator.challenge_proof(brand, &authentication, &result);
        let outcome = if proof.is_authenticated() {
            let account = self.waiting_account(&payment)?;
            self.authorise(&payment, account, Some(proof.clone())).await
        } else {
            result.code.into()
        };
        let ended = self
            .complete(payment, outcome, move |payment| {
                proof.tell(&mut payment.parameters);
                true
            })
            .await?;
        Ok(Answered { payment: ended.payment, taken: ended.changed })
    }

    /// Sends a payment on to its connector, now that its cardholder is authenticated. One whose card no longer waits, because
    /// the shopper has gone on with another way to pay, ends without being authorised.
    async fn authorise(
        &self,
        payment: &Payment,
        account: Option<FullAccount>,
        proof: Option<Proof>,
    ) -> ConnectorResult {
        if self.has_lost_code(payment, account.as_ref()) {
            return codes::CODE_MISSING.into();
        }
        let order = account.and_then(|account| order::of_payment(payment, account, proof));
        let (Some(order), Some(route), false) = (order, self.route_of(payment), payment.is_abandoned()) else {
            return codes::THREEDS_ABANDONED.into();
        };
        let now = self.now_of_id(&payment.entity);
        let identity = Identity { id: payment.id.clone(), descriptor: payment.descriptor.clone(), now };
        let outcome = route.connector.authorize(&identity.request(&order)).await;
        outcome.result().cloned().unwrap_or_else(|| codes::PENDING.into())
    }

    /// The card that waits for its cardholder, with its code where that is still known.
    fn waiting_account(&self, payment: &Payment) -> Result<Option<FullAccount>, Failure> {
        let Some(Promise { card: Some(sealed), .. }) = self.store.promise(payment)? else { return Ok(None) };
        let secret = self.vault.open(payment.id.as_str(), &sealed)?;
        let secret = Zeroizing::new(String::from_utf8_lossy(&secret).into_owned());
        let mut account = FullAccount::restored(&payment.account, Some(&secret));
        if let Some(FullAccount::Card(card)) = &mut account {
            card.code = self.codes.get(&payment.id);
            // Where the code is not there any more, it cannot be expected either.
            let keyed = payment.registration.is_none() && card.code.is_some();
            card.entry = if keyed { Entry::Keyed } else { Entry::Stored };
        }
        Ok(account)
    }

    fn three_d_of(&self, payment: &Payment) -> ThreeD {
        self.directory.entity(&payment.entity).map_or(ThreeD::WhenEnrolled, |entity| entity.settings.channel.three_d)
    }

    /// Moves the authentication of a pending payment on, where `step` says that there is something to move.
    async fn step(
        &self,
        payment: &Payment,
        step: impl FnOnce(&mut Authentication) -> bool + Send + 'static,
    ) -> Result<Payment, Failure> {
        let keys = Keys::payment(&payment.entity, &payment.id);
        let moved = self.store.update(keys, move |loaded| {
            let mut payment = loaded.payment.ok_or_else(no_page)?;
            let pending = payment.result.is_pending();
            let authentication = payment.redirect.as_mut().and_then(|redirect| redirect.authentication.as_mut());
            let moved = authentication.filter(|_| pending).is_some_and(step);
            let changes = if moved { Changes::default().payment(&payment) } else { Changes::default() };
            Ok((changes, payment))
        });
        Ok(moved.await??)
    }
}

/// What a visit of the page comes to.
#[derive(Debug)]
pub enum Visit {
    /// The issuer's method page has to run first.
    Method(Payment),
    /// The issuer waits for the shopper's answer.
    Challenge(Payment),
    /// The payment has ended.
    Ended(Payment),
}

/// What came of an answer to a challenge.
#[derive(Debug)]
pub struct Answered {
    /// The payment.
    pub payment: Payment,
    /// Whether the answer was taken. Otherwise it changed nothing.
    pub taken: bool,
}
