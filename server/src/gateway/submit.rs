//! The form's submit: one charge per checkout, whatever the browser sends and however often.

use std::net::IpAddr;
use std::sync::Arc;

use jiff::Timestamp;
use tillgate_shared::parameter::{Parameters, check_formats, normalize};

use super::checkout::{check_path, unknown};
use super::on_file::File;
use super::pay::Addresses;
use super::{Failure, Gateway};
use crate::domain::checkout::{Checkout, State};
use crate::domain::entity::Entity;
use crate::domain::payment::Redirect;
use crate::domain::refusal::Refusal;
use crate::domain::registration::Registration;
use crate::store::{Changes, Keys, Written};

/// What became of a submit.
#[derive(Debug)]
pub struct Submitted {
    /// The checkout.
    pub checkout: Checkout,
    /// The brand's page that the shopper has to visit first.
    pub redirect: Option<Redirect>,
}

/// What the write found.
enum Outcome {
    /// This attempt is written: whether the payment went through or may yet, and where the shopper has to go first.
    Settled { counts: bool, redirect: Option<Redirect> },
    /// The checkout changed since the attempt was prepared, or has been paid by another.
    Stale,
}

impl Gateway {
    /// Takes what the hosted form posts. Returns the checkout once an attempt is durable, approved or declined alike,
    /// with the page that the shopper has to visit where the brand has one; a checkout that has been paid already
    /// answers the same way and charges nobody.
    ///
    /// # Errors
    /// A refusal that names the parameters at fault, or says that the checkout is unknown or expired.
    pub async fn submit(
        &self,
        id: &str,
        registration: bool,
        form: Parameters,
        shopper: IpAddr,
        public_url: &str,
    ) -> Result<Submitted, Failure> {
        let mut checkout = self.checkout_for_shopper(id)?;
        check_path(&checkout, registration)?;
        loop {
            match checkout.state(self.now()) {
                State::Paid => return self.submitted(checkout),
                State::Expired => return Err(Refusal::checkout_expired().into()),
                State::Open => {}
            }
            if let Outcome::Settled { redirect, .. } = self.attempt(&checkout, &form, shopper, public_url).await? {
                return Ok(Submitted { checkout, redirect });
            }
            checkout = self.checkout_for_shopper(id)?;
        }
    }

    /// The answer about a checkout that somebody has paid, or is about to: its shopper may have lost the page.
    fn submitted(&self, checkout: Checkout) -> Result<Submitted, Failure> {
        let attempt = match &checkout.attempt {
            Some(id) => self.store.payment(checkout.owner_of_attempt(), id)?,
            None => None,
        };
        let redirect = attempt.filter(|payment| payment.result.is_pending()).and_then(|payment| payment.redirect);
        Ok(Submitted { checkout, redirect })
    }

    async fn attempt(
        &self,
        checkout: &Checkout,
        form: &Parameters,
        shopper: IpAddr,
        public_url: &str,
    ) -> Result<Outcome, Failure> {
        let entity: Arc<Entity> = self.directory.entity(&checkout.entity).ok_or_else(unknown)?;
        let limit = self.options.limits.checkout_attempts(&entity);
        checkout.may_be_tried(limit, self.now())?;
        let (mut parameters, refused) = checkout.merged_with_form(form);
        if !refused.is_empty() {
            tracing::debug!(names = ?refused, "parameters that a browser may not set");
        }
        if !checkout.parameters.contains("customer.ip") {
            parameters.set("customer.ip", shopper.to_string());
        }
        normalize(&mut parameters);
        let errors = check_formats(&parameters);
        if !errors.is_empty() {
            return Err(Refusal::parameters(errors).into());
        }
        if checkout.is_tokenisation() {
            return self.attempt_registration(checkout, &entity, parameters, shopper).await;
        }
        let used = self.chosen(checkout, &entity, &parameters)?;
        let (entity, parameters) = match &used {
            Some(used) => {
                let entity = self.holder(&entity, used).unwrap_or(entity);
                let parameters = self.with_stored_account(&entity, used, parameters)?;
                (entity, parameters)
            }
            None => (entity, parameters),
        };
        // The form's address is taken for the way back alone; it is not the merchant's word, and nothing repeats it.
        let addresses = Addresses { public: public_url, result: form.get("shopperResultUrl"), shopper: Some(shopper) };
        let (channel, parameters) = self.dispatched(&entity, parameters)?;
        let entity = channel.unwrap_or(entity);
        let owner = used.as_ref().map_or(&checkout.entity, |used| &used.entity);
        let file = File { owner, used: used.as_ref() };
        let (prepared, attempt) = self.prepare(file, &entity, Some(checkout), parameters, addresses)?;
        let (version, now) = (checkout.version, self.now());
        let keys = Keys { checkout: Some(checkout.id.clone()), ..prepared.keys.clone() };
        let outcome = self
            .store
            .update(keys, move |mut loaded| match ready(loaded.checkout.take(), version, now)? {
                None => Ok((Changes::default(), Outcome::Stale)),
                Some(current) => {
                    current.may_be_tried(limit, now)?;
                    let (changes, payment) = prepared.settle(loaded)?;
                    let next = current.attempted(&payment, now)?;
                    let counts = payment.counts();
                    Ok((changes.checkout(&next), Outcome::Settled { counts, redirect: payment.redirect }))
                }
            })
            .await;
        attempt.end(counted(&outcome));
        Ok(outcome??)
    }

    async fn attempt_registration(
        &self,
        checkout: &Checkout,
        entity: &Entity,
        parameters: Parameters,
        shopper: IpAddr,
    ) -> Result<Outcome, Failure> {
        let limit = self.options.limits.checkout_attempts(entity);
        let (drafted, attempt) = self.draft(entity, Some(checkout), parameters, Some(shopper))?;
        let (version, now) = (checkout.version, self.now());
        let keys = drafted.keys(Keys::checkout(&checkout.id));
        let outcome = self
            .store
            .update(keys, move |mut loaded| match ready(loaded.checkout.take(), version, now)? {
                None => Ok((Changes::default(), Outcome::Stale)),
                Some(current) => {
                    current.may_be_tried(limit, now)?;
                    let (changes, registration) = drafted.settle(loaded)?;
                    let next = current.registered(&registration, now)?;
                    let counts = registration.approved();
                    Ok((changes.checkout(&next), Outcome::Settled { counts, redirect: None }))
                }
            })
            .await;
        attempt.end(counted(&outcome));
        Ok(outcome??)
    }

    /// The registration that the shopper chose among those that the checkout offers.
    ///
    /// # Errors
    /// One that the checkout does not offer is refused as one that never was.
    fn chosen(
        &self,
        checkout: &Checkout,
        entity: &Entity,
        parameters: &Parameters,
    ) -> Result<Option<Registration>, Failure> {
        const NAME: &str = "registrationId";
        let Some(id) = parameters.get(NAME) else { return Ok(None) };
        // Who fills in a new account has not taken the stored one.
        if ["card.number", "bankAccount.iban", "bankAccount.number"].iter().any(|name| parameters.contains(name)) {
            return Ok(None);
        }
        if !checkout.offers(id) {
            return Err(Refusal::unknown_registration(NAME, id).into());
        }
        Ok(Some(self.named_registration(entity, NAME, id)?))
    }
}

/// What counts of an attempt: whether it was approved; nothing of one that was not written.
fn counted(outcome: &Written<Outcome>) -> Option<bool> {
    match outcome {
        Ok(Ok(Outcome::Settled { counts, .. })) => Some(*counts),
        _ => None,
    }
}

/// The checkout, when it can take what was prepared for this version of it.
fn ready(checkout: Option<Checkout>, version: u64, now: Timestamp) -> Result<Option<Checkout>, Refusal> {
    let current = checkout.ok_or_else(unknown)?;
    Ok(Some(current).filter(|current| current.state(now) != State::Paid && current.version == version))
}
