//! The form's submit: one charge per checkout, whatever the browser sends and however often.

use std::net::IpAddr;
use std::sync::Arc;

use jiff::Timestamp;
use tillgate_shared::format::url;
use tillgate_shared::parameter::{Parameters, check_card_numbers, check_formats, normalize};

use super::checkout::{check_path, unknown};
use super::on_file::File;
use super::once::Once;
use super::pay::Addresses;
use super::payment::{Circumstances, Received};
use super::sender::Sender;
use super::velocity::AttemptOutcome;
use super::{Failure, Gateway};
use crate::domain::address::is_origin;
use crate::domain::asynchronous::abandon;
use crate::domain::checkout::{Checkout, State};
use crate::domain::entity::Entity;
use crate::domain::form_input::{BrowserRights, check_size};
use crate::domain::payment::Payment;
use crate::domain::refusal::Refusal;
use crate::domain::registration::Registration;
use crate::store::{Changes, Keys, WithAccount, Written};

/// What became of a submit.
#[derive(Debug)]
pub struct Submitted {
    /// The checkout.
    pub checkout: Checkout,
    /// The payment that is pending: its shopper has to visit the brand's page first.
    pub pending: Option<Payment>,
}

/// How a merchant's request to pay keeps its answer; made anew for every try. A shopper's has no name.
pub type Naming<'a> = &'a (dyn Fn() -> Once<Payment> + Send + Sync);

/// What the write found.
enum Outcome {
    /// This attempt is written, with the payment that it made.
    Settled { attempt: AttemptOutcome, payment: Option<Box<Payment>> },
    /// The checkout changed since the attempt was prepared, or has been paid by another.
    Stale,
}

impl Submitted {
    /// The checkout open again and the pending payment abandoned, where the form comes with another brand than that of the
    /// payment. Asking twice for the same is asking once.
    fn given_up_for(&self, form: &Parameters, now: Timestamp) -> Option<(Checkout, Payment)> {
        let pending = self.pending.as_ref()?;
        let (merged, _) = self.checkout.merged_with_form(form, BrowserRights::default());
        let same = merged.get("paymentBrand") == Some(&pending.brand)
            && !merged.contains("registrationId")
            && merged.get("card.number").is_none_or(|number| pending.account.card().is_none_or(|card| card.is(number)));
        if same { None } else { abandon(&self.checkout, pending.clone(), now) }
    }

    fn new(checkout: Checkout, attempt: Option<Payment>) -> Self {
        Self { checkout, pending: attempt.filter(|payment| payment.result.is_pending()) }
    }
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
        once: Naming<'_>,
    ) -> Result<Submitted, Failure> {
        let mut checkout = self.checkout_for_shopper(id)?;
        check_path(&checkout, registration)?;
        loop {
            let now = self.now_of_id(&checkout.entity);
            let abandoned = match checkout.state(now) {
                State::Open => None,
                State::Expired => return Err(Refusal::checkout_expired().into()),
                State::Paid => {
                    let attempt = self.attempt_of(&checkout)?;
                    if attempt.as_ref().is_some_and(|attempt| !attempt.counts()) {
                        // It has ended since the checkout was read, and has opened it.
                        checkout = self.checkout_for_shopper(id)?;
                        continue;
                    }
                    // Somebody has paid, or is about to: the shopper may have lost the page.
                    let submitted = Submitted::new(checkout, attempt);
                    let Some((open, abandoned)) = submitted.given_up_for(&form, now) else { return Ok(submitted) };
                    checkout = open;
                    Some(abandoned)
                }
            };
            let outcome = self.attempt(&checkout, abandoned, &form, shopper, public_url, once()).await?;
            if let Outcome::Settled { payment, .. } = outcome {
                return Ok(Submitted::new(checkout, payment.map(|payment| *payment)));
            }
            checkout = self.checkout_for_shopper(id)?;
        }
    }

    /// Returns true if the merchant itself has named the page that a shopper comes back to: its server in the checkout, or
    /// its operator by an origin. Other addresses come from a browser, which may be anybody's.
    pub fn is_named_by_merchant(&self, checkout: &Checkout, address: &str) -> bool {
        checkout.parameters.contains("shopperResultUrl")
            || self.directory.entity(&checkout.entity).is_some_and(|entity| entity.settings.has_named_page(address))
    }

    /// The last attempt of a checkout.
    pub(super) fn attempt_of(&self, checkout: &Checkout) -> Result<Option<Payment>, Failure> {
        match &checkout.attempt {
            Some(id) => Ok(self.store.payment(checkout.owner_of_attempt(), id)?),
            None => Ok(None),
        }
    }

    /// The earlier attempt of a checkout that stores the parameters which its attempts share.
    pub(super) fn attempt_to_share_with(&self, checkout: &Checkout) -> Result<Option<Payment>, Failure> {
        let last = self.attempt_of(checkout)?;
        match last.as_ref().and_then(|last| Some((&last.entity, last.shares.as_ref()?))) {
            Some((entity, shared)) => Ok(self.store.payment(entity, &shared.payment)?),
            None => Ok(last),
        }
    }

    async fn attempt(
        &self,
        checkout: &Checkout,
        abandoned: Option<Payment>,
        form: &Parameters,
        shopper: IpAddr,
        public_url: &str,
        once: Once<Payment>,
    ) -> Result<Outcome, Failure> {
        let entity: Arc<Entity> = self.directory.entity(&checkout.entity).ok_or_else(unknown)?;
        let limit = self.options.limits.checkout_attempts(&entity);
        checkout.may_be_tried(limit, self.now_of(&entity))?;
        let parameters = self.filled_in(checkout, &entity, form, shopper)?;
        // The form's address is taken for the way back alone; it is not the merchant's word, and nothing repeats it. It has
        // to be one of the merchant's pages, where the entity says which those are.
        let result = form.get("shopperResultUrl").filter(|address| entity.settings.has_page(address));
        let reminder = reminder_address(checkout, &entity, result);
        if checkout.is_tokenisation() {
            return self.attempt_registration(checkout, &entity, parameters, shopper, reminder).await;
        }
        let (used, received) = self.placed(checkout, entity, parameters)?;
        let shop_origin = form.get("shopOrigin").filter(|origin| is_origin(origin));
        let addresses = Addresses { public: public_url, result, shop_origin, shopper: Some(shopper) };
        let file = File { owner: used.as_ref().map_or(&checkout.entity, |used| &used.entity), used: used.as_ref() };
        let circumstances = Circumstances { sender: Sender::Form(checkout), file, addresses };
        let (mut prepared, attempt) = self.prepare(received, circumstances).await?;
        let (ask, response) = (prepared.take_ask(), once.clone());
        let (version, now) = (checkout.version, self.now_of_id(&checkout.entity));
        let unless = abandoned.as_ref().map(|payment| payment.id.clone());
        let gives_up = unless.is_some();
        let keys = Keys { checkout: Some(checkout.id.clone()), unless, ..prepared.keys.clone() };
        let open = checkout.clone();
        let outcome = self
            .store
            .update(keys, move |mut loaded| match ready(loaded.checkout.take(), version)? {
                None => Ok((Changes::default(), Outcome::Stale)),
                Some(_) => {
                    open.may_be_tried(limit, now)?;
                    let (mut changes, payment) = prepared.settle(loaded)?;
                    if let Some(abandoned) = abandoned {
                        changes = changes.payment(&abandoned).without_promise(&abandoned.id);
                    }
                    let next = open.attempted(&payment, now)?;
                    changes = changes.remind(&next, reminder, now, payment.awaits_outcome());
                    let changes = response.keep(changes.checkout(&next), &payment, payment.created);
                    let attempt = AttemptOutcome::of(&payment);
                    Ok((changes, Outcome::Settled { attempt, payment: Some(Box::new(payment)) }))
                }
            })
            .await;
        if gives_up {
            self.store.something_was_deleted();
        }
        self.velocity.end(attempt, attempt_outcome(&outcome), self.now());
        let mut outcome = outcome??;
        if let Outcome::Settled { payment: Some(payment), .. } = &mut outcome {
            **payment = self.ask(ask, (**payment).clone(), once).await;
        }
        Ok(outcome)
    }

    /// What the form makes of a checkout: everything that a payment is judged on, well-formed.
    pub(super) fn filled_in(
        &self,
        checkout: &Checkout,
        entity: &Entity,
        form: &Parameters,
        shopper: IpAddr,
    ) -> Result<Parameters, Failure> {
        // The frame of a page without a checkout is shown before it is known whose the checkout will be.
        if let Some(page) = form.get("shopOrigin").filter(|page| !entity.settings.has_page(page)) {
            let message = "is not among the origins of this merchant's pages";
            return Err(Refusal::parameter("shopOrigin", Some(page), message).into());
        }
        check_size(form)?;
        let (mut parameters, refused) = checkout.merged_with_form(form, BrowserRights::of(&entity.settings));
        if !refused.is_empty() {
            tracing::debug!(names = ?refused, "parameters that a browser may not set");
        }
        if !checkout.parameters.contains("customer.ip") {
            parameters.set("customer.ip", shopper.to_string());
        }
        normalize(&mut parameters);
        let mut errors = check_formats(&parameters, self.directory.formats_of(entity));
        if errors.is_empty() {
            errors = check_card_numbers(&parameters);
        }
        if !errors.is_empty() {
            return Err(Refusal::parameters(errors).into());
        }
        Ok(parameters)
    }

    /// Receives a payment, with the stored account that the shopper chose among its parameters.
    pub(super) fn placed(
        &self,
        checkout: &Checkout,
        entity: Arc<Entity>,
        parameters: Parameters,
    ) -> Result<(Option<Registration>, Received), Failure> {
        let used = self.chosen(checkout, &entity, &parameters)?;
        let (used, entity, parameters) = match used {
            Some((used, sealed)) => {
                let entity = self.holder(&entity, &used).unwrap_or(entity);
                let parameters =
                    self.with_stored_account(&entity, &used, sealed, parameters, Sender::Form(checkout))?;
                (Some(used), entity, parameters)
            }
            None => (None, entity, parameters),
        };
        Ok((used, self.receive(&entity, parameters)?))
    }

    async fn attempt_registration(
        &self,
        checkout: &Checkout,
        entity: &Arc<Entity>,
        parameters: Parameters,
        shopper: IpAddr,
        reminder: Option<String>,
    ) -> Result<Outcome, Failure> {
        let limit = self.options.limits.checkout_attempts(entity);
        let (drafted, attempt) = self.draft(entity, Sender::Form(checkout), parameters, Some(shopper)).await?;
        let (version, now) = (checkout.version, self.now_of_id(&checkout.entity));
        let keys = drafted.keys(Keys::checkout(&checkout.id));
        let outcome = self
            .store
            .update(keys, move |mut loaded| match ready(loaded.checkout.take(), version)? {
                None => Ok((Changes::default(), Outcome::Stale)),
                Some(current) => {
                    current.may_be_tried(limit, now)?;
                    let (changes, registration) = drafted.settle(loaded)?;
                    let next = current.registered(&registration, now)?;
                    let changes = changes.remind(&next, reminder, now, false);
                    let attempt = AttemptOutcome::of_registration(&registration);
                    Ok((changes.checkout(&next), Outcome::Settled { attempt, payment: None }))
                }
            })
            .await;
        self.velocity.end(attempt, attempt_outcome(&outcome), self.now());
        Ok(outcome??)
    }

    /// The registration that the shopper chose among those that the checkout offers, with its sealed account.
    ///
    /// # Errors
    /// One that the checkout does not offer is refused as one that never was.
    fn chosen(
        &self,
        checkout: &Checkout,
        entity: &Entity,
        parameters: &Parameters,
    ) -> Result<Option<WithAccount>, Failure> {
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

/// The address at which the merchant is reminded: its own page, or else the form's (`result`). The gateway itself sends the
/// reminder: a browser may choose the page, but not the host.
fn reminder_address(checkout: &Checkout, entity: &Entity, result: Option<&str>) -> Option<String> {
    let named = result.filter(|address| entity.settings.has_named_page(address));
    let reminder = checkout.parameters.get("shopperResultUrl").or(named).map(str::to_owned);
    reminder.filter(|address| url::check(address).is_ok())
}

/// The outcome to report to the velocity limiter.
fn attempt_outcome(written: &Written<Outcome>) -> AttemptOutcome {
    match written {
        Ok(Ok(Outcome::Settled { attempt, .. })) => attempt.clone(),
        _ => AttemptOutcome::NotMade,
    }
}

/// The checkout, when it is still the version that an attempt was prepared for: nothing has happened to it since.
fn ready(checkout: Option<Checkout>, version: u64) -> Result<Option<Checkout>, Refusal> {
    let current = checkout.ok_or_else(unknown)?;
    Ok(Some(current).filter(|current| current.version == version))
}
