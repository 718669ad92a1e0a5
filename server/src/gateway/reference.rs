//! Requests about an earlier payment: captures, reversals, refunds and chargebacks. Each is decided under the write lock, on
//! everything that has followed before, so that two hundred refunds at once never give back too much.
//!
//! What the rules refuse is a payment that was declined: it has an id, is stored, and stands among what refers to the
//! payment. What names no payment of the entity's at all is a refusal without one.

use std::collections::BTreeMap;

use jiff::Timestamp;
use tillgate_shared::money::Amount;
use tillgate_shared::parameter::{Operation, ParameterError, Parameters, check_complete};
use tillgate_shared::result::{Group, ResultCode, codes};

use super::echo::is_echoed;
use super::once::Once;
use super::payment::{modify, with_patience};
use super::{Failure, Gateway, order};
use crate::connector::three_ds::request::three_d_amount;
use crate::domain::defaults;
use crate::domain::entity::Entity;
use crate::domain::id::PaymentId;
use crate::domain::mode::Mode;
use crate::domain::payment::{Command, Payment, Standing, descriptor};
use crate::domain::refusal::Refusal;
use crate::store::{Changes, Keys};

/// Where a request names the earlier payment, unless its path does (specification, document 2, resources).
const NAMED: &str = "referencedPaymentId";

/// What a request wants of an earlier payment.
struct Request {
    command: Command,
    amount: Asked,
    /// The mode that it names with `testMode`; that of the earlier payment when it names none.
    mode: Option<Mode>,
    /// The reason, for a chargeback.
    reason: Option<ResultCode>,
}

/// How much a request asks for.
enum Asked {
    /// As much as the payment was about.
    Whole,
    /// An amount without a currency, which is then the payment's.
    InItsCurrency(String),
    /// This much.
    Amount(Amount),
}

impl Gateway {
    /// Captures, reverses or refunds a payment of the entity's, or takes note of its chargeback.
    ///
    /// # Errors
    /// 404 when there is no such payment; a refusal that names the parameters at fault. What the rules about money refuse
    /// is a declined payment, not an error.
    pub async fn refer(
        &self,
        entity: &Entity,
        id: &str,
        mut parameters: Parameters,
        once: Once<Payment>,
    ) -> Result<Payment, Failure> {
        if let Some(named) = parameters.remove(NAMED)
            && named != id
        {
            return Err(Refusal::parameter(NAMED, Some(&named), "must be the id in the path, or be left out").into());
        }
        let command = parameters.get("paymentType").and_then(Command::parse);
        let id = PaymentId::parse(id).ok_or_else(|| unknown(command))?;
        let channel = self.channel_of(entity, &id)?;
        let entity = channel.as_deref().unwrap_or(entity);
        let found = self.store.payment(&entity.id, &id)?.ok_or_else(|| unknown(command))?;
        let request = read(entity, &parameters)?;
        let asked = request.amount.of(&found)?;
        three_d_amount(&parameters, asked.unwrap_or(found.amount))?;
        let mode = Mode::of(entity.live, &found.parameters)?;
        let now = self.now_of(entity);
        let new = Self::new_payment_id(self.next_id_time(entity))?;
        let whole = asked.unwrap_or(found.amount);
        let new = payment(new, now, &found, request.command, whole, codes::PENDING, parameters);
        let new = Payment { ndc: once.ndc().cloned(), ..new };
        let result = self.result_in_process(&request, &new, &found).await;
        let _guard = if result.is_none() { self.asking.begin(&new.id) } else { None };
        let (terms, machine_time, response) = (self.options.terms, self.now(), once.clone());
        let written = self
            .store
            .update(Keys::payment(&entity.id, &id), move |loaded| {
                let referenced = loaded.payment.ok_or_else(|| unknown(command))?;
                let standing = Standing::of(&referenced, &loaded.links, &terms, now);
                let decided = if request.mode.is_some_and(|named| named != mode) {
                    Err(codes::REFERENCE_MODE_DIFFERS)
                } else {
                    request.command.decide(&standing, asked)
                };
                let (amount, result) = match decided {
                    Ok(amount) => (amount, result.unwrap_or(codes::PENDING)),
                    Err(code) => (whole, code),
                };
                let payment = Payment { amount, result, ..new };
                let mut changes = Changes::default().payment(&payment);
                if payment.awaits_connector() {
                    changes = changes.intent(&payment, machine_time);
                }
                Ok((response.keep(changes, &payment, now), payment))
            })
            .await??;
        if !written.awaits_connector() {
            return Ok(written);
        }
        // The amount is reserved; the outcome is a second commit.
        let Some(route) = self.route_of(&written) else { return Ok(written) };
        let outcome = with_patience(modify(route.connector.as_ref(), &written, &found, false)).await;
        Ok(self.settle_or_wait(written, outcome, once).await)
    }

    /// Returns the result of a modification that needs nobody outside of this process: a connector that is a pure function is
    /// asked before the rules decide whether its answer counts, and a chargeback has happened already. `None` if the connector
    /// leaves this process, and is asked once the amount is reserved.
    async fn result_in_process(&self, request: &Request, new: &Payment, referenced: &Payment) -> Option<ResultCode> {
        if request.command == Command::Chargeback {
            return Some(request.reason.unwrap_or(codes::CHARGEBACK_WITHOUT_REASON));
        }
        let Some(route) = self.route_of(referenced) else { return Some(codes::METHOD_NOT_CONFIGURED) };
        if route.connector.capabilities().leaves_process {
            return None;
        }
        let outcome = modify(route.connector.as_ref(), new, referenced, false).await;
        Some(outcome.result().map_or(codes::PENDING, |result| result.code))
    }
}

impl Gateway {
    /// A payment of this entity, and where it stands now; another entity's is as unknown as one that never was.
    ///
    /// # Errors
    /// 404 when there is none.
    pub fn payment(&self, entity: &Entity, id: &str) -> Result<(Payment, Standing), Failure> {
        let id = PaymentId::parse(id).ok_or_else(|| unknown(None))?;
        let found = self.store.payment_with_links(&self.entities_of(entity), &id)?;
        let (payment, links) = found.ok_or_else(|| unknown(None))?;
        let standing = Standing::of(&payment, &links, &self.options.terms, self.now_of(entity));
        Ok((payment, standing))
    }
}

/// The earlier payment that a request without an id in its path is about, if it is one that refers to another.
pub(super) fn named(parameters: &Parameters) -> Option<String> {
    parameters.get("paymentType").and_then(Command::parse)?;
    parameters.get(NAMED).map(str::to_owned)
}

/// Refuses what refers to an earlier payment where no such payment can be named.
///
/// # Errors
/// The documented code of the type: none of them stands alone.
pub(super) fn refuse_alone(parameters: &Parameters) -> Result<(), Refusal> {
    match parameters.get("paymentType").and_then(Command::parse) {
        Some(command) => Err(Refusal::without_payment(command.without_payment())),
        None => Ok(()),
    }
}

/// There is no such payment, or it is another entity's.
fn unknown(command: Option<Command>) -> Refusal {
    match command {
        Some(command) => Refusal::unknown_referenced_payment(command.without_payment()),
        None => Refusal::not_found("There is no payment with this id"),
    }
}

/// Reads a request from its parameters, whose formats have been judged.
fn read(entity: &Entity, parameters: &Parameters) -> Result<Request, Refusal> {
    order::refuse_override(parameters)?;
    let command = match parameters.get("paymentType") {
        None => return Err(Refusal::parameter("paymentType", None, "may not be empty")),
        Some(text) => Command::parse(text).ok_or_else(|| {
            Refusal::one_of("paymentType", text, &Command::ALL.map(|command| command.payment_type().code()))
        })?,
    };
    let mut errors = check_complete(parameters, command.operation(), &entity.requirements());
    let (amount, currency) = (parameters.get("amount"), parameters.get("currency"));
    if amount.is_none() && currency.is_some() && errors.is_empty() {
        errors.push(ParameterError::missing("amount"));
    }
    if !errors.is_empty() {
        return Err(Refusal::parameters(errors));
    }
    let amount = match (amount, currency) {
        (None, _) => Asked::Whole,
        (Some(amount), None) => Asked::InItsCurrency(amount.to_owned()),
        (Some(_), Some(_)) => Asked::Amount(order::amount(parameters)?),
    };
    let mode = Mode::of(entity.live, parameters)?;
    let mode = parameters.contains("testMode").then_some(mode);
    Ok(Request { command, amount, mode, reason: reason(parameters)? })
}

/// Why the shopper's bank took the money back; of a chargeback only, which has a reason.
fn reason(parameters: &Parameters) -> Result<Option<ResultCode>, Refusal> {
    const NAME: &str = "chargebackResultCode";
    let Some(text) = parameters.get(NAME) else { return Ok(None) };
    let known = ResultCode::find(text)
        .filter(|code| code.group() == Group::Chargeback)
        .ok_or_else(|| Refusal::parameter(NAME, Some(text), "is not the reason of a chargeback"))?;
    Ok(Some(known))
}

impl Command {
    /// What the catalogue asks of its request.
    fn operation(self) -> Operation {
        match self {
            Self::Capture => Operation::Capture,
            Self::Reversal => Operation::Reversal,
            Self::Refund => Operation::Refund,
            Self::Chargeback => Operation::Chargeback,
        }
    }
}

impl Asked {
    fn of(&self, referenced: &Payment) -> Result<Option<Amount>, Refusal> {
        match self {
            Self::Whole => Ok(None),
            Self::Amount(amount) => Ok(Some(*amount)),
            Self::InItsCurrency(text) => Amount::parse(text, referenced.amount.currency())
                .map(Some)
                .map_err(|error| Refusal::parameter("amount", Some(text), error.message())),
        }
    }
}

/// The payment that a request makes. Brand and account are those of the payment that it refers to. The merchant's
/// references and the text on the shopper's statement are too, unless the request brings its own.
pub(super) fn payment(
    id: PaymentId,
    now: Timestamp,
    referenced: &Payment,
    command: Command,
    amount: Amount,
    result: ResultCode,
    mut parameters: Parameters,
) -> Payment {
    // Behind the earlier payment's own short number and a space.
    let earlier = referenced.descriptor.split_once(' ').map(|(_, text)| text);
    let text = order::statement_text(&parameters).or(earlier).unwrap_or_default();
    let descriptor = descriptor(&id, text);
    // Receivers of webhooks find the order by these.
    for name in ["merchantTransactionId", "merchantInvoiceId"] {
        if let Some(reference) = referenced.parameters.get(name).filter(|_| !parameters.contains(name)) {
            parameters.set(name, reference);
        }
    }
    defaults::fill(&mut parameters, &referenced.brand, now);
    parameters.retain(|name, _| is_echoed(name, &referenced.account));
    Payment {
        id,
        checkout: None,
        ndc: None,
        referenced: Some(referenced.id.clone()),
        registration: None,
        created: now,
        payment_type: command.payment_type(),
        amount,
        result,
        avs: None,
        cvv: None,
        details: BTreeMap::new(),
        redirect: None,
        pay_to: None,
        descriptor,
        parameters,
        shares: None,
        connector_tx_ids: Vec::new(),
        ..referenced.clone()
    }
}
