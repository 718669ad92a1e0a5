//! A checkout's life as the merchant sees it: create, update, read.

use tillgate_shared::parameter::{Operation, Parameters, check_complete, check_lists, find};

use super::once::Once;
use super::{Failure, Gateway, dispatch, order, random};
use crate::domain::checkout::{Checkout, Standing, State, is_tokenisation};
use crate::domain::entity::Entity;
use crate::domain::id::CheckoutId;
use crate::domain::mode::Mode;
use crate::domain::payment::{Payment, PaymentType};
use crate::domain::refusal::Refusal;
use crate::domain::registration::Registration;
use crate::store::{Changes, Keys};

/// What the status of a checkout says.
#[derive(Debug)]
pub enum Status {
    /// A payment was attempted; its outcome, readable for good, and where the checkout stands.
    Attempted(Box<Payment>, Standing),
    /// An account was to be stored, in a tokenisation checkout.
    Registered(Box<Registration>, Standing),
    /// Open and not yet submitted.
    Pending,
    /// The half hour passed and nobody paid.
    Expired,
}

impl Gateway {
    /// Opens a checkout whose form comes from a build.
    ///
    /// # Errors
    /// A refusal that names what is missing or invalid.
    pub async fn create_checkout(
        &self,
        entity: &Entity,
        parameters: Parameters,
        build: &str,
        once: Once<Checkout>,
    ) -> Result<Checkout, Failure> {
        let errors = check_complete(&parameters, Operation::CreateCheckout, &entity.requirements());
        if !errors.is_empty() {
            return Err(Refusal::parameters(errors).into());
        }
        for (name, kind) in parameters.with_prefix("overridePaymentType[") {
            PaymentType::initial(Some(kind)).map_err(|refusal| refusal.about(name))?;
        }
        check_purpose(&parameters)?;
        Mode::of(entity.live, &parameters)?;
        dispatch::choose(entity, &self.directory.channels(&entity.id), &parameters)?;
        self.check_offered(entity, &parameters)?;
        let now = self.now_of(entity);
        let id = CheckoutId::new(self.next_id_time(entity), random()?, &self.options.node);
        let checkout = Checkout::new(id, entity.id.clone(), now, build.to_owned(), without_secrets(parameters));
        let changes = once.keep(Changes::default().checkout(&checkout), &checkout, now);
        self.store.update(Keys::none(), move |_| Ok((changes, ()))).await??;
        Ok(checkout)
    }

    /// The merchant's update of a checkout that is still open.
    ///
    /// # Errors
    /// 404 for an unknown or foreign checkout; a refusal when it is paid or expired, or a parameter is invalid.
    pub async fn update_checkout(
        &self,
        entity: &Entity,
        id: &str,
        update: Parameters,
        once: Once<Checkout>,
    ) -> Result<Checkout, Failure> {
        let errors = check_complete(&update, Operation::UpdateCheckout, &entity.requirements());
        if !errors.is_empty() {
            return Err(Refusal::parameters(errors).into());
        }
        let id = CheckoutId::parse(id).ok_or_else(unknown)?;
        let entity = self.owner_of_checkout(entity, &id)?;
        let channels = self.directory.channels(&entity.id);
        self.check_offered(&entity, &update)?;
        let now = self.now_of(&entity);
        let update = without_secrets(update);
        let checkout = self
            .store
            .update(Keys::checkout(&id), move |loaded| {
                let checkout = loaded.checkout.filter(|checkout| checkout.entity == entity.id).ok_or_else(unknown)?;
                let next = checkout.updated(&update, now)?;
                if let Some(error) = check_lists(&next.parameters) {
                    return Err(Refusal::parameters(vec![error]));
                }
                check_purpose(&next.parameters)?;
                Mode::of(entity.live, &next.parameters)?;
                dispatch::choose(&entity, &channels, &next.parameters)?;
                Ok((once.keep(Changes::default().checkout(&next), &next, now), next))
            })
            .await??;
        Ok(checkout)
    }

    /// What became of a checkout that is for a payment.
    ///
    /// # Errors
    /// 404 for an unknown or foreign checkout.
    pub fn checkout_status(&self, entity: &Entity, id: &str) -> Result<Status, Failure> {
        let id = CheckoutId::parse(id).ok_or_else(unknown)?;
        let (checkout, attempt) = self
            .store
            .checkout_with_attempt(&id)?
            .filter(|(checkout, _)| self.sees(entity, &checkout.entity))
            // The attempt may be a payment of a channel that has another merchant now.
            .filter(|(checkout, attempt)| attempt.is_none() || self.sees(entity, checkout.owner_of_attempt()))
            .ok_or_else(unknown)?;
        let now = self.now_of(entity);
        let state = checkout.state(now);
        if let Some(id) = &checkout.registration
            && let Some(registration) = self.store.registration(&checkout.entity, id)?
        {
            self.asked.note(&checkout.id, registration.id.as_str());
            return Ok(Status::Registered(Box::new(registration), Standing::of_registration(state)));
        }
        Ok(match (attempt, state) {
            (Some(payment), _) => {
                let standing = checkout.standing(&payment, now);
                // An attempt that still waits for its shopper or its connector has no outcome that could be told.
                if !payment.awaits_outcome() {
                    self.asked.note(&checkout.id, payment.id.as_str());
                }
                Status::Attempted(Box::new(payment), standing)
            }
            (None, State::Expired) => Status::Expired,
            (None, State::Open | State::Paid) => Status::Pending,
        })
    }

    /// What became of a checkout that is for a registration.
    ///
    /// # Errors
    /// 404 for an unknown or foreign checkout, and for one that is for a payment.
    pub fn registration_status(&self, entity: &Entity, id: &str) -> Result<Status, Failure> {
        let id = CheckoutId::parse(id).ok_or_else(unknown)?;
        let checkout = self.store.checkout(&id)?.ok_or_else(unknown)?;
        if !self.sees(entity, &checkout.entity) {
            return Err(unknown().into());
        }
        check_path(&checkout, true)?;
        let registration = match &checkout.registration {
            Some(id) => self.store.registration(&checkout.entity, id)?,
            None => None,
        };
        let state = checkout.state(self.now_of(entity));
        Ok(match (registration, state) {
            (Some(registration), _) => {
                self.asked.note(&checkout.id, registration.id.as_str());
                Status::Registered(Box::new(registration), Standing::of_registration(state))
            }
            (None, State::Expired) => Status::Expired,
            (None, State::Open | State::Paid) => Status::Pending,
        })
    }

    /// A checkout by the capability that the shopper's browser holds.
    ///
    /// # Errors
    /// 404 for an unknown checkout.
    pub fn checkout_for_shopper(&self, id: &str) -> Result<Checkout, Failure> {
        let id = CheckoutId::parse(id).ok_or_else(unknown)?;
        Ok(self.store.checkout(&id)?.ok_or_else(unknown)?)
    }

    /// The same, where it can be paid now.
    ///
    /// # Errors
    /// 404 for an unknown checkout; a refusal for one that is paid or expired.
    pub fn open_checkout(&self, id: &str) -> Result<Checkout, Failure> {
        let checkout = self.checkout_for_shopper(id)?;
        checkout.check_open(self.now_of_id(&checkout.entity))?;
        Ok(checkout)
    }
}

/// What a checkout is for: a payment has a type and an amount, a tokenisation needs neither.
fn check_purpose(parameters: &Parameters) -> Result<(), Refusal> {
    if is_tokenisation(parameters) {
        return Ok(());
    }
    PaymentType::initial(parameters.get("paymentType"))?;
    order::amount(parameters).map(drop)
}

/// A checkout for a payment has its path, one for a registration has the other.
pub(super) fn check_path(checkout: &Checkout, registration: bool) -> Result<(), Refusal> {
    match (checkout.is_tokenisation(), registration) {
        (true, false) => {
            Err(Refusal::not_found("This checkout is for a registration: its path ends with /registration"))
        }
        (false, true) => Err(Refusal::not_found("This checkout is for a payment: its path ends with /payment")),
        _ => Ok(()),
    }
}

pub(super) fn unknown() -> Refusal {
    Refusal::not_found("There is no checkout with this id")
}

/// Credentials and one-time flags have done their work when the checkout is stored. Card data have no business in it: they
/// come with the form, and what a merchant sends of them all the same is not kept.
fn without_secrets(mut parameters: Parameters) -> Parameters {
    parameters.retain(|name, _| {
        let secret = find(name).is_some_and(|row| row.secret);
        !secret && !name.starts_with("authentication.") && !matches!(name, "entityId" | "integrity")
    });
    parameters
}
