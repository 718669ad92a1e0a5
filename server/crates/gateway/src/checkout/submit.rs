//! Submits of forms. A checkout is charged at most once, however often its browser submits.

mod attempt;

use std::net::IpAddr;
use std::sync::Arc;

use jiff::Timestamp;
use tillgate_shared::format::url;
use tillgate_shared::parameter::{Parameters, check_card_numbers, check_formats, normalize_parameters};

pub(crate) use self::attempt::AttemptWrite;
use tillgate_domain::access::entity::Entity;
use tillgate_domain::address::is_origin;
use tillgate_domain::checkout::form_input::BrowserRights;
use tillgate_domain::checkout::form_input::check_size;
use tillgate_domain::checkout::{Checkout, CheckoutState};
use tillgate_domain::id::{EntityId, PaymentId};
use tillgate_domain::payment::Payment;
use tillgate_domain::payment::asynchronous::abandon_payment;
use tillgate_domain::refusal::Refusal;
use tillgate_domain::registration::Registration;
use tillgate_store::{Changes, RecordKeys, RegistrationWithAccount, UpdateResult};

use self::attempt::PreparedAttempt;
use crate::access::sender::Sender;
use crate::checkout::{check_purpose_path, unknown_checkout};
use crate::payment::addresses::Addresses;
use crate::payment::response_recorder::ResponseRecorder;
use crate::payment::{PaymentContext, ReadyPayment, RoutedRequest};
use crate::registration::stored_credentials::CredentialOwner;
use crate::risk::velocity::AttemptOutcome;
use crate::{Failure, Gateway};

/// Result of a submit.
#[derive(Debug)]
pub struct SubmitResult {
    /// The checkout.
    pub checkout: Checkout,
    /// The payment if it is pending: its shopper has to visit a page, or its connector has not answered.
    pub pending: Option<Arc<Payment>>,
}

/// Creates the response recorder of a merchant's request, for each attempt. Shopper requests have no idempotency key.
pub type RecorderFactory<'a> = &'a (dyn Fn() -> ResponseRecorder<Payment> + Send + Sync);

impl SubmitResult {
    /// Returns the reopened checkout and the key of the payment to abandon, if the form comes with another brand or
    /// account than the pending payment. Returns `None` if the form repeats the pending payment, if none is pending, or
    /// if the payment cannot be abandoned any more. Writes nothing.
    fn abandon_pending(&self, form: &Parameters, now: Timestamp) -> Option<(Checkout, (EntityId, PaymentId))> {
        let pending = self.pending.as_ref()?;
        let (merged, _) = self.checkout.merged_with_form(form, BrowserRights::default());
        let is_same = merged.get("paymentBrand") == Some(&pending.brand)
            && !merged.contains("registrationId")
            && merged
                .get("card.number")
                .is_none_or(|number| pending.account.as_card().is_none_or(|card| card.matches_number(number)));
        if is_same {
            return None;
        }
        let (open, abandoned) = abandon_payment(&self.checkout, Payment::clone(pending), now)?;
        Some((open, (abandoned.entity, abandoned.id)))
    }

    /// Makes the result of a submit. The attempt is left out unless it is pending.
    fn new(checkout: Checkout, attempt: Option<Arc<Payment>>) -> Self {
        Self { checkout, pending: attempt.filter(|payment| payment.result.is_pending()) }
    }
}

impl Gateway {
    /// Processes a submitted form. Returns the checkout once an attempt is written, approved or declined, with the
    /// payment if it is pending. A checkout that has been paid already gives the same result without another charge; a
    /// pending payment of another brand or account is abandoned first. Tries again if the checkout changes meanwhile.
    ///
    /// # Errors
    /// A refusal that names the parameters at fault, or says that the checkout is unknown or expired; 404 if its
    /// purpose does not fit `registration`.
    pub async fn submit_form(
        &self,
        id: &str,
        registration: bool,
        form: Parameters,
        shopper: IpAddr,
        public_url: &str,
        create_recorder: RecorderFactory<'_>,
    ) -> Result<SubmitResult, Failure> {
        let mut checkout = self.load_checkout(id)?;
        check_purpose_path(&checkout, registration)?;
        loop {
            let now = self.now_of_id(&checkout.entity);
            let replaced = match checkout.state_at(now) {
                CheckoutState::Open => None,
                CheckoutState::Expired => return Err(Refusal::checkout_expired().into()),
                CheckoutState::Paid => {
                    let attempt = self.load_last_attempt(&checkout)?;
                    if attempt.as_ref().is_some_and(|attempt| !attempt.is_approved_or_pending()) {
                        // The attempt has failed since the checkout was read, and the checkout is open again.
                        checkout = self.load_checkout(id)?;
                        continue;
                    }
                    // The checkout is paid, or its payment is pending. The shopper may have lost the page and submitted
                    // again.
                    let submitted = SubmitResult::new(checkout, attempt.map(Arc::new));
                    let Some((open, replaced)) = submitted.abandon_pending(&form, now) else { return Ok(submitted) };
                    checkout = open;
                    Some(replaced)
                }
            };
            let outcome =
                self.attempt_payment(&checkout, replaced, &form, shopper, public_url, create_recorder()).await?;
            if let AttemptWrite::Settled { payment, .. } = outcome {
                return Ok(SubmitResult::new(checkout, payment));
            }
            checkout = self.load_checkout(id)?;
        }
    }

    /// Returns true if the page that the shopper returns to is the merchant's choice: the checkout has a
    /// `shopperResultUrl`, or `address` is on an origin that the operator has set. Other addresses come from a browser
    /// and cannot be trusted.
    pub fn is_named_by_merchant(&self, checkout: &Checkout, address: &str) -> bool {
        checkout.parameters.contains("shopperResultUrl")
            || self
                .directory
                .find_entity(&checkout.entity)
                .is_some_and(|entity| entity.settings.has_named_origin(address))
    }

    /// Loads the payment of the last attempt of a checkout. `None` if there was no attempt to pay.
    pub(crate) fn load_last_attempt(&self, checkout: &Checkout) -> Result<Option<Payment>, Failure> {
        match &checkout.attempt {
            Some(id) => Ok(self.store.load_payment(checkout.attempt_owner(), id)?),
            None => Ok(None),
        }
    }

    /// Loads the earlier attempt of a checkout that stores the parameters shared by its attempts: the one that the last
    /// attempt refers to, or else the last attempt itself. `None` if there is none.
    pub(crate) fn load_sharing_attempt(&self, checkout: &Checkout) -> Result<Option<Payment>, Failure> {
        let last = self.load_last_attempt(checkout)?;
        match last.as_ref().and_then(|last| Some((&last.entity, last.shares.as_ref()?))) {
            Some((entity, shared)) => Ok(self.store.load_payment(entity, &shared.payment)?),
            None => Ok(last),
        }
    }

    /// Tries to pay a checkout with a form, or to register its account in a tokenisation checkout. Writes the payment,
    /// the checkout and the payment that the attempt replaces in one transaction, and then asks an external connector.
    /// Writes nothing if the checkout has changed meanwhile, or the payment can no longer be replaced
    /// ([`AttemptWrite::Stale`]).
    ///
    /// # Errors
    /// A refusal that names the parameters at fault; 429 if a limit of attempts is reached.
    pub(crate) async fn attempt_payment(
        &self,
        checkout: &Checkout,
        replaced: Option<(EntityId, PaymentId)>,
        form: &Parameters,
        shopper: IpAddr,
        public_url: &str,
        recorder: ResponseRecorder<Payment>,
    ) -> Result<AttemptWrite, Failure> {
        let entity: Arc<Entity> = self.directory.find_entity(&checkout.entity).ok_or_else(unknown_checkout)?;
        let limit = self.check_attempt_limit(checkout, &entity)?;
        let parameters = self.merge_form(checkout, &entity, form, shopper)?;
        // The address in the form is used only for the redirect back and is never repeated, because the merchant has
        // not confirmed it. If the entity has a list of its pages, the address has to be one of them.
        let result = form.get("shopperResultUrl").filter(|address| entity.settings.allows_result(address));
        let reminder = reminder_address(checkout, &entity, result);
        if checkout.is_tokenisation() {
            return self.attempt_registration(checkout, &entity, parameters, shopper, reminder).await;
        }
        let (used, received) = self.receive_payment(checkout, entity, parameters, shopper)?;
        let shop_origin = form.get("shopOrigin").filter(|origin| is_origin(origin));
        let addresses = Addresses { public: public_url, result, shop_origin, shopper: Some(shopper) };
        let credential_owner =
            CredentialOwner { owner: used.as_ref().map_or(&checkout.entity, |used| &used.entity), used: used.as_ref() };
        let context = PaymentContext { sender: Sender::Form(checkout), credential_owner, addresses, at: None };
        let ReadyPayment { prepared, request, attempt } = self.prepare_payment(received, context).await?;
        let replaces = replaced.is_some();
        let prepared_attempt = PreparedAttempt {
            version: checkout.version,
            replaced,
            limit,
            reminder,
            now: self.now_of_id(&checkout.entity),
            card_window: self.options.card_window,
            recorder: recorder.clone(),
        };
        let keys = prepared_attempt.required_keys(checkout, prepared.keys.clone());
        let outcome = self.store.update(keys, move |loaded| prepared_attempt.decide_changes(*prepared, loaded)).await;
        if replaces {
            self.store.mark_wal_dirty();
        }
        self.velocity.end_attempt(attempt, attempt_outcome(&outcome), self.now());
        let mut outcome = outcome??;
        if let AttemptWrite::Settled { payment: Some(payment), .. } = &mut outcome {
            *payment = self.send_connector_request(request, Arc::clone(payment), recorder).await;
        }
        Ok(outcome)
    }

    /// Returns the names of the parameters of a form that have no effect, because a browser may not set them: a message
    /// for the developer of a page. `None` if there are none, for a live entity, and for an unknown checkout.
    pub fn list_ignored_names(&self, id: &str, form: &Parameters) -> Option<Vec<&'static str>> {
        let checkout = self.load_checkout(id).ok()?;
        let entity = self.directory.find_entity(&checkout.entity).filter(|entity| !entity.live)?;
        let (_, mut refused) = checkout.merged_with_form(form, BrowserRights::from_settings(&entity.settings));
        // The form's own address of the result page has its effect, although it never becomes a parameter.
        refused.retain(|name| *name != "shopperResultUrl");
        refused.sort_unstable();
        refused.dedup();
        (!refused.is_empty()).then_some(refused)
    }

    /// Merges the form into the checkout's parameters, and checks their formats. Leaves out what a browser may not set.
    /// Sets `customer.ip` to the shopper's address unless the merchant sent one.
    ///
    /// # Errors
    /// `shopOrigin` if it is not an origin of the merchant, `shownAmount` if it is not the amount to pay, and malformed
    /// parameters, by name.
    pub(crate) fn merge_form(
        &self,
        checkout: &Checkout,
        entity: &Entity,
        form: &Parameters,
        shopper: IpAddr,
    ) -> Result<Parameters, Failure> {
        // The form of a page without a checkout is shown before its merchant is known, so the page's origin is checked
        // here.
        if let Some(page) = form.get("shopOrigin").filter(|page| !entity.settings.allows_page(page)) {
            let message = "is not among the origins of this merchant's pages";
            return Err(Refusal::invalid_parameter("shopOrigin", Some(page), message).into());
        }
        checkout.check_shown_amount(form)?;
        check_size(form)?;
        let (mut parameters, refused) = checkout.merged_with_form(form, BrowserRights::from_settings(&entity.settings));
        if !refused.is_empty() {
            tracing::debug!(names = ?refused, "parameters that a browser may not set");
        }
        if !checkout.parameters.contains("customer.ip") {
            parameters.set("customer.ip", shopper.to_string());
        }
        normalize_parameters(&mut parameters);
        let mut errors = check_formats(&parameters, self.directory.formats_of(entity));
        if errors.is_empty() {
            errors = check_card_numbers(&parameters);
        }
        if !errors.is_empty() {
            return Err(Refusal::invalid_parameters(errors).into());
        }
        Ok(parameters)
    }

    /// Routes a payment of the shopper at this address. If the shopper chose a stored account, its registration is
    /// returned too, and its account parameters are among those of the request.
    ///
    /// # Errors
    /// A refusal if the registration is not usable, no channel accepts the payment, or its brand is not offered.
    pub(crate) fn receive_payment(
        &self,
        checkout: &Checkout,
        entity: Arc<Entity>,
        parameters: Parameters,
        shopper: IpAddr,
    ) -> Result<(Option<Registration>, RoutedRequest), Failure> {
        let used = self.chosen_registration(checkout, &entity, &parameters)?;
        let (used, entity, parameters) = match used {
            Some((used, sealed)) => {
                let entity = self.channel_of_registration(&entity, &used).unwrap_or(entity);
                let parameters =
                    self.with_stored_account(&entity, &used, sealed, parameters, Sender::Form(checkout))?;
                (Some(used), entity, parameters)
            }
            None => (None, entity, parameters),
        };
        let received = self.route_request(&entity, parameters)?;
        self.check_offered_brand(checkout, &received, used.as_ref(), shopper)?;
        Ok((used, received))
    }

    /// Tries to register the account of a form in a tokenisation checkout. Writes the registration, approved or
    /// rejected, and the checkout. Writes nothing if the checkout has changed meanwhile ([`AttemptWrite::Stale`]).
    ///
    /// # Errors
    /// A refusal that names the parameters at fault; 429 if a limit of attempts is reached.
    async fn attempt_registration(
        &self,
        checkout: &Checkout,
        entity: &Arc<Entity>,
        parameters: Parameters,
        shopper: IpAddr,
        reminder: Option<String>,
    ) -> Result<AttemptWrite, Failure> {
        let limit = self.options.limits.checkout_attempts(entity);
        let (draft, attempt) =
            self.draft_registration(entity, Sender::Form(checkout), parameters, Some(shopper)).await?;
        let (version, now) = (checkout.version, self.now_of_id(&checkout.entity));
        let keys = draft.required_keys(RecordKeys::for_checkout(&checkout.id).owned_by(&checkout.entity));
        let outcome = self
            .store
            .update(keys, move |mut loaded| match unchanged_checkout(loaded.checkout.take(), version)? {
                None => Ok((Changes::default(), AttemptWrite::Stale)),
                Some(current) => {
                    current.check_attempt_limit(limit, now)?;
                    let (changes, registration) = draft.decide_changes(loaded)?;
                    let next = current.with_registration(&registration, now)?;
                    let changes = changes.with_reminder(&next, reminder, now, false);
                    let attempt = AttemptOutcome::of_registration(&registration);
                    Ok((changes.with_checkout(&next), AttemptWrite::Settled { attempt, payment: None }))
                }
            })
            .await;
        self.velocity.end_attempt(attempt, attempt_outcome(&outcome), self.now());
        Ok(outcome??)
    }

    /// Checks that a checkout has a payment attempt left, and returns the number of payment attempts that it allows. If
    /// it has none left, records the reached limit for the decision log.
    ///
    /// # Errors
    /// 429 if it has none left.
    pub(crate) fn check_attempt_limit(&self, checkout: &Checkout, entity: &Entity) -> Result<Option<u32>, Refusal> {
        let limit = self.options.limits.checkout_attempts(entity);
        checkout.check_attempt_limit(limit, self.now_of(entity)).inspect_err(|_| {
            let limit = limit.unwrap_or_default();
            self.velocity.record_exhausted_checkout(entity, &checkout.id, limit, self.now());
        })?;
        Ok(limit)
    }

    /// Returns the registration in `registrationId`, with its sealed account. `None` if none was sent, or if a number
    /// was entered, which takes precedence.
    ///
    /// # Errors
    /// A registration that the checkout does not offer is refused like an unknown one; also one that is not usable.
    fn chosen_registration(
        &self,
        checkout: &Checkout,
        entity: &Entity,
        parameters: &Parameters,
    ) -> Result<Option<RegistrationWithAccount>, Failure> {
        const NAME: &str = "registrationId";
        let Some(id) = parameters.get(NAME) else { return Ok(None) };
        if ["card.number", "bankAccount.iban", "bankAccount.number"].iter().any(|name| parameters.contains(name)) {
            return Ok(None);
        }
        if !checkout.has_offered_registration(id) {
            return Err(Refusal::unknown_registration(NAME, id).into());
        }
        Ok(Some(self.load_named_registration(entity, NAME, id)?))
    }
}

/// Returns the valid address for the merchant's reminder: `shopperResultUrl` of the checkout, or else the form's
/// (`result`) on an origin that the operator has set. The gateway itself sends the reminder, so a browser must not
/// choose its host. An app's address gets no reminder.
fn reminder_address(checkout: &Checkout, entity: &Entity, result: Option<&str>) -> Option<String> {
    let trusted = result.filter(|address| entity.settings.has_named_origin(address));
    let reminder = checkout.parameters.get("shopperResultUrl").or(trusted).map(str::to_owned);
    reminder.filter(|address| url::check(address).is_ok())
}

/// Returns the outcome to report to the card-testing limits. An attempt that was refused, or not written, was not made.
fn attempt_outcome(written: &UpdateResult<AttemptWrite>) -> AttemptOutcome {
    match written {
        Ok(Ok(AttemptWrite::Settled { attempt, .. })) => attempt.clone(),
        _ => AttemptOutcome::NotMade,
    }
}

/// Returns the checkout if it still has the version that the attempt was prepared for. `None` if it has changed since.
///
/// # Errors
/// 404 if it is gone.
fn unchanged_checkout(checkout: Option<Checkout>, version: u64) -> Result<Option<Checkout>, Refusal> {
    let current = checkout.ok_or_else(unknown_checkout)?;
    Ok(Some(current).filter(|current| current.version == version))
}
