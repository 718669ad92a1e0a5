//! Follow-up payments: captures, increments, reversals, refunds and chargebacks of an earlier payment, and reversals of
//! chargebacks. Each is decided under the write lock, against all earlier follow-up payments, so that concurrent
//! refunds never exceed the payment. An increment raises the amount only when its approval is written.
//!
//! A request that breaks the rules is stored as a declined payment with an id, and is listed among the follow-up
//! payments. A request that refers to no payment of the entity is refused without one.

use std::sync::Arc;

use jiff::SignedDuration;
use tillgate_connector::Connector;
use tillgate_connector::three_ds::request::three_ds_amount;
use tillgate_domain::access::entity::Entity;
use tillgate_domain::access::scope::Scopes;
use tillgate_domain::id::PaymentId;
use tillgate_domain::payment::mode::ProcessingMode;
use tillgate_domain::payment::{
    FollowUpLimits, INCREMENT, INDUSTRY_PRACTICE, ModificationType, Payment, PaymentStatus, PaymentType,
};
use tillgate_domain::refusal::Refusal;
use tillgate_shared::money::Amount;
use tillgate_shared::parameter::{ParameterError, Parameters, check_complete};
use tillgate_shared::result::{ResultCode, ResultGroup, codes};
use tillgate_store::{Changes, LoadedRecords, RecordKeys};

use crate::payment::follow_up_draft::draft_follow_up;
use crate::payment::order;
use crate::payment::response_recorder::ResponseRecorder;
use crate::payment::{refuse_missing_capability, send_modification, wait_for_answer};
use crate::{Failure, Gateway};

/// The parameter that refers to the earlier payment, unless the path does (specification, document 2, resources).
const REFERENCED_PAYMENT_ID: &str = "referencedPaymentId";

/// A request for a follow-up payment.
#[derive(Clone)]
struct FollowUpRequest {
    modification_type: ModificationType,
    amount: RequestedAmount,
    /// The reason of a chargeback.
    reason: Option<ResultCode>,
}

/// Everything that the decision about a follow-up payment depends on.
#[derive(Clone)]
struct FollowUp {
    request: FollowUpRequest,
    /// The amount in the request.
    requested: Option<Amount>,
    /// The new payment, as a draft.
    new: Payment,
    /// The result, if it is known without a request to an external connector.
    result: Option<ResultCode>,
    limits: FollowUpLimits,
    connector: Option<Arc<dyn Connector>>,
    recorder: ResponseRecorder<Payment>,
}

/// The requested amount.
#[derive(Clone)]
enum RequestedAmount {
    /// The whole amount of the payment.
    Whole,
    /// An amount without a currency. The payment's currency applies.
    InPaymentCurrency(String),
    /// An amount with its currency.
    Amount(Amount),
}

impl Gateway {
    /// Captures, raises, reverses or refunds a payment of the entity or of one of its channels, or records its
    /// chargeback. An external connector is asked after the amount is reserved; if its outcome is unknown, the returned
    /// payment is pending. `scopes` are the access token's.
    ///
    /// # Errors
    /// 403 if the scopes do not cover the modification; 400 if there is no such payment, or 404 if `paymentType` is
    /// missing or unknown too; a refusal that names the parameters at fault. A request that breaks the rules about
    /// amounts is stored as a declined payment, not an error.
    pub async fn modify_payment(
        &self,
        entity: &Entity,
        id: &str,
        mut parameters: Parameters,
        scopes: Scopes,
        recorder: ResponseRecorder<Payment>,
    ) -> Result<Arc<Payment>, Failure> {
        if let Some(sent_id) = parameters.remove(REFERENCED_PAYMENT_ID)
            && sent_id != id
        {
            let message = "must be the id in the path, or be left out";
            return Err(Refusal::invalid_parameter(REFERENCED_PAYMENT_ID, Some(&sent_id), message).into());
        }
        let modification_type = ModificationType::from_parameters(&parameters);
        // A follow-up payment runs in the mode of the payment that it refers to, whatever the request says.
        parameters.remove("testMode");
        let id = PaymentId::parse(id).ok_or_else(|| unknown_payment(modification_type))?;
        let channel = self.channel_of_payment(entity, &id)?;
        let entity = channel.as_deref().unwrap_or(entity);
        let stored = self.store.load_stored_payment(&entity.id, &id)?;
        let stored = Arc::new(stored.ok_or_else(|| unknown_payment(modification_type))?);
        let found = &stored.payment;
        let request = read_request(entity, &parameters)?;
        scopes.check_payment_type(request.modification_type.payment_type())?;
        let requested = request.amount.to_amount(found)?;
        three_ds_amount(&parameters, requested.unwrap_or(found.amount))?;
        let mode = ProcessingMode::from_parameters(entity.live, &found.parameters)?;
        let now = self.now_of(entity);
        let new = Self::new_payment_id(self.next_id_time(entity))?;
        let amount = requested.unwrap_or(found.amount);
        let new = draft_follow_up(new, now, found, request.modification_type, amount, codes::PENDING, parameters);
        let route = self.route_of(found);
        let new = Payment {
            ndc: recorder.ndc().cloned(),
            actor: recorder.actor().map(str::to_owned),
            place: route.as_ref().and_then(|route| route.connector.place_follow_up(found)),
            ..new
        };
        let result = self.result_in_process(&request, mode, &new, found).await;
        // Marked before the write, so that the worker does not take up the new intent while this request is sent.
        let _guard = if result.is_none() { self.payments_in_flight.mark_payment(&new.id) } else { None };
        // Boxed, because it moves through several futures to the writer's thread.
        let follow_up = Box::new(FollowUp {
            connector: route.map(|route| route.connector),
            limits: self.follow_up_limits_of(found),
            recorder: recorder.clone(),
            request,
            requested,
            result,
            new,
        });
        // The original may have ended since it was found, and has the connector's ids only then.
        let keys = RecordKeys::for_modification(&entity.id, &id).with_known_payment(&stored);
        let (written, referenced) = self.store.update(keys, move |loaded| follow_up.decide_changes(loaded)).await??;
        if !written.awaits_connector() {
            return Ok(written);
        }
        // The amount is reserved now. A second transaction writes the outcome.
        let Some(route) = self.route_of(&written) else { return Ok(written) };
        let answer = wait_for_answer(send_modification(route.connector.as_ref(), &written, &referenced, false)).await;
        // Boxed, because modifications at in-process connectors would have to reserve its memory too.
        Ok(Box::pin(self.try_write_outcome(written, answer, recorder)).await)
    }

    /// Returns the time from the creation of a payment to the end of its external connector's reversal window. `None`
    /// if the connector has none.
    pub(crate) fn connector_reversal_window(&self, payment: &Payment) -> Option<SignedDuration> {
        let route = self.route_of(payment).filter(|_| payment.connector.is_some())?;
        route.connector.capabilities().reversal_window(payment.created)
    }

    /// Returns the result of a modification that needs no external connector. An in-process connector is a pure
    /// function, so it is asked before it is known whether the rules allow the modification; a chargeback and its
    /// reversal have happened already; a connector that no longer exists is a decline. `None` if the connector is
    /// external.
    async fn result_in_process(
        &self,
        request: &FollowUpRequest,
        mode: ProcessingMode,
        new: &Payment,
        referenced: &Payment,
    ) -> Option<ResultCode> {
        match request.modification_type {
            ModificationType::Chargeback => return Some(request.reason.unwrap_or(codes::CHARGEBACK_WITHOUT_REASON)),
            ModificationType::ChargebackReversal => return Some(mode.accepted_code()),
            ModificationType::Capture
            | ModificationType::Increment
            | ModificationType::Reversal
            | ModificationType::Refund => {}
        }
        let Some(route) = self.route_of(referenced) else { return Some(codes::METHOD_NOT_CONFIGURED) };
        if route.connector.capabilities().is_external {
            return None;
        }
        let outcome = send_modification(route.connector.as_ref(), new, referenced, false).await;
        Some(outcome.result().map_or(codes::PENDING, |result| result.code))
    }
}

impl FollowUp {
    /// Decides about a follow-up payment from the earlier ones. Returns the changes to write, the payment, and the
    /// payment that it refers to. Runs under the write lock. A payment that breaks the rules gets the code of the rule;
    /// one that waits for an external connector is pending and has an intent.
    ///
    /// # Errors
    /// If the earlier payment is gone, or its connector does not offer this operation.
    fn decide_changes(self, loaded: LoadedRecords) -> Result<(Changes, (Arc<Payment>, Payment)), Refusal> {
        let Self { request, requested, new, result, limits, connector, recorder } = self;
        let now = new.created;
        let referenced = loaded.payment.ok_or_else(|| unknown_payment(Some(request.modification_type)))?;
        // Computed under the write lock. Two concurrent refunds could otherwise exceed the payment together.
        let status = PaymentStatus::from_follow_ups(&referenced, &loaded.follow_ups, &limits, now);
        let decided = request.modification_type.decide_amount(&status, requested);
        let is_capture = request.modification_type == ModificationType::Capture;
        // Some connectors take only one capture, so this depends on the captures that are written by now.
        if let (Ok(amount), Some(connector)) = (decided, &connector) {
            let is_captured = status.used > 0;
            let part = (amount < status.amount).then(|| amount.to_string());
            let capabilities = connector.capabilities();
            let checked = capabilities.check_follow_up(request.modification_type, part, is_captured);
            checked.map_err(refuse_missing_capability)?;
            if is_capture && status.find_excess(amount).is_some() {
                capabilities.check_overcapture(amount.to_string()).map_err(refuse_missing_capability)?;
            }
        }
        let excess = decided.ok().filter(|_| is_capture).and_then(|amount| status.find_excess(amount));
        let (amount, result) = match decided {
            Ok(amount) => (amount, result.unwrap_or(codes::PENDING)),
            Err(code) => (new.amount, code),
        };
        let mut payment = Payment { amount, result, overcapture: excess, ..new };
        // The merchant is notified of a pending payment only if the response says so. That is known after the request
        // to the connector.
        payment.unannounced = payment.awaits_connector();
        let payment = Arc::new(payment);
        let changes = Changes::default().with_payment(Arc::clone(&payment));
        Ok((recorder.record_response(changes, &payment, now), (payment, referenced)))
    }
}

impl Gateway {
    /// Loads a payment of this entity or of one of its channels, with its status from its follow-up payments.
    ///
    /// # Errors
    /// 404 if there is no such payment, or if it belongs to another entity.
    pub fn load_payment(&self, entity: &Entity, id: &str) -> Result<(Payment, PaymentStatus), Failure> {
        let id = PaymentId::parse(id).ok_or_else(|| unknown_payment(None))?;
        let found = self.store.load_with_follow_ups(&self.visible_entities(entity), &id)?;
        let (payment, links) = found.ok_or_else(|| unknown_payment(None))?;
        let status =
            PaymentStatus::from_follow_ups(&payment, &links, &self.follow_up_limits_of(&payment), self.now_of(entity));
        Ok((payment, status))
    }
}

/// Returns `referencedPaymentId` if `paymentType` is that of a follow-up payment. `None` for other types, or if it is
/// missing.
pub(crate) fn referenced_payment_id(parameters: &Parameters) -> Option<String> {
    ModificationType::from_parameters(parameters)?;
    parameters.get(REFERENCED_PAYMENT_ID).map(str::to_owned)
}

/// Refuses a request with the `paymentType` of a follow-up payment that does not refer to an earlier payment.
///
/// # Errors
/// 400 with the code of the payment type.
pub(crate) fn refuse_without_reference(parameters: &Parameters) -> Result<(), Refusal> {
    match parameters.get("paymentType").and_then(ModificationType::parse) {
        Some(modification_type) => Err(Refusal::missing_referenced_payment(modification_type.missing_payment_code())),
        None => Ok(()),
    }
}

/// Returns the refusal for a payment that does not exist or belongs to another entity: 400 with the code of the type of
/// follow-up payment, or 404 without a type.
fn unknown_payment(modification_type: Option<ModificationType>) -> Refusal {
    match modification_type {
        Some(modification_type) => Refusal::unknown_referenced_payment(modification_type.missing_payment_code()),
        None => Refusal::not_found("There is no payment with this id"),
    }
}

/// Reads a request from its parameters, whose formats have been checked.
///
/// # Errors
/// Parameters that are missing, contradictory or not allowed for the payment type, by name.
fn read_request(entity: &Entity, parameters: &Parameters) -> Result<FollowUpRequest, Refusal> {
    order::refuse_override(parameters)?;
    let modification_type = read_modification_type(parameters)?;
    let mut errors =
        check_complete(parameters, modification_type.catalogue_operation(), &entity.parameter_requirements());
    let (amount, currency) = (parameters.get("amount"), parameters.get("currency"));
    if amount.is_none() && currency.is_some() && errors.is_empty() {
        errors.push(ParameterError::missing("amount"));
    }
    if !errors.is_empty() {
        return Err(Refusal::invalid_parameters(errors));
    }
    let amount = match (amount, currency) {
        (None, _) => RequestedAmount::Whole,
        (Some(amount), None) => RequestedAmount::InPaymentCurrency(amount.to_owned()),
        (Some(_), Some(_)) => RequestedAmount::Amount(order::read_amount(parameters)?),
    };
    Ok(FollowUpRequest { modification_type, amount, reason: chargeback_reason(parameters)? })
}

/// Reads the type of a modification.
///
/// # Errors
/// `paymentType` if it is missing or that of an initial payment, `standingInstruction.industryPractice` if a
/// preauthorization does not say that it is an increment.
fn read_modification_type(parameters: &Parameters) -> Result<ModificationType, Refusal> {
    let Some(text) = parameters.get("paymentType") else {
        return Err(Refusal::invalid_parameter("paymentType", None, "may not be empty"));
    };
    if let Some(found) = ModificationType::from_parameters(parameters) {
        return Ok(found);
    }
    if text == PaymentType::Preauthorization.code() {
        return Err(Refusal::invalid_choice(
            INDUSTRY_PRACTICE,
            parameters.get(INDUSTRY_PRACTICE).unwrap_or_default(),
            &[INCREMENT],
        ));
    }
    let types = ModificationType::ALL.map(|modification| modification.payment_type().code());
    Err(Refusal::invalid_choice("paymentType", text, &types))
}

/// Reads `chargebackResultCode`. `None` if it was not sent.
///
/// # Errors
/// If it is not the code of a chargeback.
fn chargeback_reason(parameters: &Parameters) -> Result<Option<ResultCode>, Refusal> {
    const NAME: &str = "chargebackResultCode";
    let Some(text) = parameters.get(NAME) else { return Ok(None) };
    let known = ResultCode::find(text)
        .filter(|code| code.group() == ResultGroup::Chargeback)
        .ok_or_else(|| Refusal::invalid_parameter(NAME, Some(text), "is not the reason of a chargeback"))?;
    Ok(Some(known))
}

impl RequestedAmount {
    /// Returns the requested amount, in the currency of the earlier payment if none was sent. `None` for the whole
    /// amount.
    ///
    /// # Errors
    /// `amount` by name, if that currency cannot express it.
    fn to_amount(&self, referenced: &Payment) -> Result<Option<Amount>, Refusal> {
        match self {
            Self::Whole => Ok(None),
            Self::Amount(amount) => Ok(Some(*amount)),
            Self::InPaymentCurrency(text) => Amount::parse(text, referenced.amount.currency())
                .map(Some)
                .map_err(|error| Refusal::invalid_parameter("amount", Some(text), error.message())),
        }
    }
}
