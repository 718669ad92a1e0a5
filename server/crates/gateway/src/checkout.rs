//! The lifecycle of a checkout as the merchant sees it: create, update, read.

pub mod brand_offer;
pub mod one_click;
pub mod reminder;
pub mod requirements;
pub mod saved_forms;
pub mod status_reads;
pub mod submit;
pub mod summary;

use tillgate_domain::access::entity::Entity;
use tillgate_domain::access::scope::{Scopes, TYPE_OF_BRAND};
use tillgate_domain::checkout::{Checkout, CheckoutState, CheckoutStatus, is_tokenisation};
use tillgate_domain::id::CheckoutId;
use tillgate_domain::payment::mode::ProcessingMode;
use tillgate_domain::payment::{Payment, PaymentType};
use tillgate_domain::refusal::Refusal;
use tillgate_domain::registration::Registration;
use tillgate_shared::parameter::{Operation, Parameters, check_complete, check_lists, find_parameter};
use tillgate_store::{Changes, RecordKeys};

use super::{Failure, Gateway, random_bytes};
use crate::access::routing;
use crate::payment::order;
use crate::payment::response_recorder::ResponseRecorder;

/// Status of a checkout.
#[derive(Debug)]
pub enum StatusReport {
    /// A payment was attempted: the payment, which stays readable, and the checkout's status.
    Attempted(Box<Payment>, CheckoutStatus),
    /// An account was submitted for registration, in a tokenisation checkout.
    Registered(Box<Registration>, CheckoutStatus),
    /// Open and not yet submitted.
    Pending,
    /// The half hour of the checkout's lifetime has passed without a payment.
    Expired,
}

impl Gateway {
    /// Creates a checkout without the secrets among its parameters. `build` is the build of its form, `scopes` are the
    /// access token's.
    ///
    /// # Errors
    /// 403 if the scopes do not cover every payment that the checkout can lead to; a refusal that names a parameter
    /// that is missing, invalid or accepted by no channel, or an offered registration that is not usable.
    pub async fn create_checkout(
        &self,
        entity: &Entity,
        parameters: Parameters,
        build: &str,
        scopes: Scopes,
        recorder: ResponseRecorder<Checkout>,
    ) -> Result<Checkout, Failure> {
        let errors = check_complete(&parameters, Operation::CreateCheckout, &entity.parameter_requirements());
        if !errors.is_empty() {
            return Err(Refusal::invalid_parameters(errors).into());
        }
        for (name, code) in parameters.with_prefix(TYPE_OF_BRAND) {
            PaymentType::parse_initial(Some(code)).map_err(|refusal| refusal.with_parameter_name(name))?;
        }
        scopes.check_checkout(&parameters)?;
        check_purpose(&parameters)?;
        ProcessingMode::from_parameters(entity.live, &parameters)?;
        routing::select_channel_and_brand(entity, &self.directory.merchant_channels(&entity.id), &parameters)?;
        self.check_offered_registrations(entity, &parameters)?;
        let now = self.now_of(entity);
        let id = CheckoutId::new(self.next_id_time(entity), random_bytes()?, &self.options.node);
        let checkout = Checkout::new(id, entity.id.clone(), now, build.to_owned(), without_secrets(parameters));
        let changes = recorder.record_response(Changes::default().with_checkout(&checkout), &checkout, now);
        self.store.update(RecordKeys::none().owned_by(&entity.id), move |_| Ok((changes, ()))).await??;
        Ok(checkout)
    }

    /// Adds or replaces parameters of a checkout that is still open, at its merchant's request. A channel's checkout
    /// may be updated by its merchant. `scopes` are the access token's.
    ///
    /// # Errors
    /// 404 for an unknown or foreign checkout; 403 if the scopes do not cover every payment that the updated checkout
    /// can lead to, also if only its amount changes; a refusal if it is paid or expired, or if the checkout with its
    /// new parameters could not be created.
    pub async fn update_checkout(
        &self,
        entity: &Entity,
        id: &str,
        update: Parameters,
        scopes: Scopes,
        recorder: ResponseRecorder<Checkout>,
    ) -> Result<Checkout, Failure> {
        let errors = check_complete(&update, Operation::UpdateCheckout, &entity.parameter_requirements());
        if !errors.is_empty() {
            return Err(Refusal::invalid_parameters(errors).into());
        }
        let id = CheckoutId::parse(id).ok_or_else(unknown_checkout)?;
        let entity = self.owner_of_checkout(entity, &id)?;
        let channels = self.directory.merchant_channels(&entity.id);
        self.check_offered_registrations(&entity, &update)?;
        let now = self.now_of(&entity);
        let update = without_secrets(update);
        let checkout = self
            .store
            .update(RecordKeys::for_checkout(&id).owned_by(&entity.id), move |loaded| {
                let checkout =
                    loaded.checkout.filter(|checkout| checkout.entity == entity.id).ok_or_else(unknown_checkout)?;
                let next = checkout.with_update(&update, now)?;
                scopes.check_checkout(&next.parameters)?;
                if let Some(error) = check_lists(&next.parameters) {
                    return Err(Refusal::invalid_parameters(vec![error]));
                }
                check_purpose(&next.parameters)?;
                ProcessingMode::from_parameters(entity.live, &next.parameters)?;
                routing::select_channel_and_brand(&entity, &channels, &next.parameters)?;
                Ok((recorder.record_response(Changes::default().with_checkout(&next), &next, now), next))
            })
            .await??;
        Ok(checkout)
    }

    /// Returns the status of a checkout, with its last payment or registration. If that has an outcome, its reminder is
    /// cancelled.
    ///
    /// # Errors
    /// 404 for an unknown or foreign checkout.
    pub fn checkout_status(&self, entity: &Entity, id: &str) -> Result<StatusReport, Failure> {
        let id = CheckoutId::parse(id).ok_or_else(unknown_checkout)?;
        let (checkout, attempt) = self
            .store
            .load_checkout_with_attempt(&id)?
            .filter(|(checkout, _)| self.can_see(entity, &checkout.entity))
            // The attempt may belong to a channel that has moved to another merchant.
            .filter(|(checkout, attempt)| attempt.is_none() || self.can_see(entity, checkout.attempt_owner()))
            .ok_or_else(unknown_checkout)?;
        let now = self.now_of(entity);
        let state = checkout.state_at(now);
        if let Some(id) = &checkout.registration
            && let Some(registration) = self.store.load_registration(&checkout.entity, id)?
        {
            self.status_reads.record_read(&checkout.id, registration.id.as_str());
            return Ok(StatusReport::Registered(
                Box::new(registration),
                CheckoutStatus::from_tokenisation_state(state),
            ));
        }
        Ok(match (attempt, state) {
            (Some(payment), _) => {
                let status = checkout.status_at(&payment, now);
                // An attempt that still awaits its shopper or its connector has no outcome yet, so the reminder is
                // still due.
                if !payment.awaits_outcome() {
                    self.status_reads.record_read(&checkout.id, payment.id.as_str());
                }
                StatusReport::Attempted(Box::new(payment), status)
            }
            (None, CheckoutState::Expired) => StatusReport::Expired,
            (None, CheckoutState::Open | CheckoutState::Paid) => StatusReport::Pending,
        })
    }

    /// Returns the status of a tokenisation checkout, with its registration. If there is one, its reminder is
    /// cancelled.
    ///
    /// # Errors
    /// 404 for an unknown or foreign checkout, and for a checkout for a payment.
    pub fn registration_status(&self, entity: &Entity, id: &str) -> Result<StatusReport, Failure> {
        let id = CheckoutId::parse(id).ok_or_else(unknown_checkout)?;
        let checkout = self.store.load_checkout(&id)?.ok_or_else(unknown_checkout)?;
        if !self.can_see(entity, &checkout.entity) {
            return Err(unknown_checkout().into());
        }
        check_purpose_path(&checkout, true)?;
        let registration = match &checkout.registration {
            Some(id) => self.store.load_registration(&checkout.entity, id)?,
            None => None,
        };
        let state = checkout.state_at(self.now_of(entity));
        Ok(match (registration, state) {
            (Some(registration), _) => {
                self.status_reads.record_read(&checkout.id, registration.id.as_str());
                StatusReport::Registered(Box::new(registration), CheckoutStatus::from_tokenisation_state(state))
            }
            (None, CheckoutState::Expired) => StatusReport::Expired,
            (None, CheckoutState::Open | CheckoutState::Paid) => StatusReport::Pending,
        })
    }

    /// Loads a checkout of any entity by its id. The id is a capability: a browser that knows it may use the checkout.
    ///
    /// # Errors
    /// 404 for an unknown checkout.
    pub fn load_checkout(&self, id: &str) -> Result<Checkout, Failure> {
        let id = CheckoutId::parse(id).ok_or_else(unknown_checkout)?;
        Ok(self.store.load_checkout(&id)?.ok_or_else(unknown_checkout)?)
    }

    /// Loads a checkout like [`Gateway::load_checkout`], if it can be paid now.
    ///
    /// # Errors
    /// 404 for an unknown checkout; a refusal if it is paid or expired.
    pub fn load_open_checkout(&self, id: &str) -> Result<Checkout, Failure> {
        let checkout = self.load_checkout(id)?;
        checkout.check_open(self.now_of_id(&checkout.entity))?;
        Ok(checkout)
    }
}

/// Checks the parameters that the purpose of a checkout requires: payment type and amount for a payment, nothing for a
/// tokenisation. The amount has to fit the payment type of each brand.
///
/// # Errors
/// The parameter at fault, by name.
fn check_purpose(parameters: &Parameters) -> Result<(), Refusal> {
    if is_tokenisation(parameters) {
        return Ok(());
    }
    let payment_type = PaymentType::parse_initial(parameters.get("paymentType"))?;
    let amount = order::read_amount(parameters)?;
    let of_brands = parameters.with_prefix("overridePaymentType[").filter_map(|(_, code)| PaymentType::parse(code));
    std::iter::once(payment_type).chain(of_brands).try_for_each(|each| each.check_initial_amount(amount))
}

/// Checks that the request path fits the purpose of the checkout. `registration`: the path is that of a registration,
/// not of a payment.
///
/// # Errors
/// 404 with the right path.
pub(super) fn check_purpose_path(checkout: &Checkout, registration: bool) -> Result<(), Refusal> {
    match (checkout.is_tokenisation(), registration) {
        (true, false) => {
            Err(Refusal::not_found("This checkout is for a registration: its path ends with /registration"))
        }
        (false, true) => Err(Refusal::not_found("This checkout is for a payment: its path ends with /payment")),
        _ => Ok(()),
    }
}

/// Returns the refusal for a checkout that does not exist or belongs to another entity: 404.
pub(super) fn unknown_checkout() -> Refusal {
    Refusal::not_found("There is no checkout with this id")
}

/// Removes parameters that are not stored with a checkout: credentials (`authentication.*`, `entityId`), secrets such
/// as card numbers (the form sends those), and `integrity`, which has been evaluated by then.
fn without_secrets(mut parameters: Parameters) -> Parameters {
    parameters.retain(|name, _| {
        let secret = find_parameter(name).is_some_and(|row| row.secret);
        !secret && !name.starts_with("authentication.") && !matches!(name, "entityId" | "integrity")
    });
    parameters
}
