//! Payloads of webhooks: a payment or a registration as in its status response, with the fields only webhooks have
//! (contract, 3.3), the risk check of a payment, schedules and disputes.

use serde::Serialize;
use serde_json::{Map, Value, json};
use tillgate_domain::ndc::Ndc;
use tillgate_domain::payment::Payment;
use tillgate_domain::payment::mode::ProcessingMode;
use tillgate_domain::registration::Registration;
use tillgate_store::dispute::DisputeEvent;
use tillgate_store::entity_directory::Directory;
use tillgate_store::schedule::ScheduleEvent;
use tillgate_wire::Answer;
use tillgate_wire::dispute::DisputeMessage;
use tillgate_wire::payment::{PaymentMessage, RiskCheckMessage};
use tillgate_wire::registration::RegistrationFields;
use tillgate_wire::schedule::{ScheduleEventSource, ScheduleMessage};

use crate::response::BUILD_NUMBER;

/// Groups of a payload with personal data of the shopper, left out if a webhook is configured without it.
const CUSTOMER_GROUPS: [&str; 9] = [
    "customer",
    "corporate",
    "billing",
    "shipping",
    "delivery",
    "bankAccount",
    "virtualAccount",
    "airline",
    "customParameters",
];

/// Fields of a payment in the payload of its risk check.
const RISK_CHECK_FIELDS: [&str; 11] = [
    "paymentBrand",
    "merchantTransactionId",
    "customer",
    "billing",
    "shipping",
    "source",
    "authentication",
    "channelName",
    "buildNumber",
    "timestamp",
    "ndc",
];

/// Builds the plain text of a webhook message: `{"type": …, "payload": …}`, with an `action` for registrations
/// (contract, 0.19) and disputes. `event_type` holds type and action, such as `REGISTRATION CREATED`. `document` is the
/// stored JSON of the payment, registration, schedule or dispute, and for a risk check that of its payment.
/// `without_customer` leaves out the shopper's personal data, the card holder too.
///
/// # Errors
/// If the document cannot be parsed.
pub fn build_message(
    event_type: &str,
    document: &[u8],
    without_customer: bool,
    directory: &Directory,
) -> Result<Vec<u8>, serde_json::Error> {
    let (object_type, action) = event_type.split_once(' ').unwrap_or((event_type, ""));
    let mut payload = match object_type {
        "REGISTRATION" => registration_payload(&serde_json::from_slice(document)?)?,
        "RISK" => risk_payload(&serde_json::from_slice(document)?, directory)?,
        "SCHEDULE" => schedule_payload(&serde_json::from_slice(document)?, directory)?,
        "DISPUTE" => dispute_payload(&serde_json::from_slice(document)?, directory)?,
        _ => payment_payload(&serde_json::from_slice(document)?, directory)?,
    };
    if without_customer {
        payload.retain(|name, _| !CUSTOMER_GROUPS.contains(&name.as_str()));
        if let Some(card) = payload.get_mut("card").and_then(Value::as_object_mut) {
            card.remove("holder");
        }
    }
    let mut text = json!({ "type": object_type, "payload": payload });
    if object_type == "REGISTRATION" || object_type == "DISPUTE" {
        text["action"] = action.into();
    }
    serde_json::to_vec(&text)
}

/// Returns the payload of a webhook about a payment.
fn payment_payload(payment: &Payment, directory: &Directory) -> Result<Map<String, Value>, serde_json::Error> {
    let entity = directory.find_entity(&payment.entity);
    let message = PaymentMessage::new(payment, entity.as_ref().map(|entity| entity.name.as_str()));
    to_payload(message, payment.created, &payment.ndc())
}

/// Returns the result and score of a payment's risk check, and the fields by which a merchant finds its order. Never
/// the rules of the check, and no account.
fn risk_payload(payment: &Payment, directory: &Directory) -> Result<Map<String, Value>, serde_json::Error> {
    let mut payload = payment_payload(payment, directory)?;
    payload.retain(|name, _| RISK_CHECK_FIELDS.contains(&name.as_str()));
    let mut accepted = payment.result;
    if !payment.is_approved() {
        let live = directory.find_entity(&payment.entity).is_some_and(|entity| entity.live);
        let mode = ProcessingMode::from_parameters(live, &payment.parameters).unwrap_or(ProcessingMode::Live);
        accepted = mode.accepted_code();
    }
    let decision = payment.risk.as_ref().and_then(|risk| risk.decision.as_ref());
    let code = decision.map_or(accepted, |decision| decision.check_code(payment.result, accepted));
    if let Value::Object(fields) = serde_json::to_value(RiskCheckMessage::new(payment, code))? {
        payload.extend(fields);
    }
    Ok(payload)
}

/// Returns the payload of a webhook about a schedule, with the run that the event reports.
fn schedule_payload(event: &ScheduleEvent, directory: &Directory) -> Result<Map<String, Value>, serde_json::Error> {
    let ScheduleEvent { schedule, is_request, run } = event;
    let source = if *is_request { ScheduleEventSource::Request } else { ScheduleEventSource::Scheduler };
    let entity = directory.find_entity(&schedule.entity);
    let name = entity.as_ref().map(|entity| entity.name.as_str());
    let time = run.as_ref().map_or(schedule.live.at, |run| run.at);
    let ndc = schedule.live.ndc.clone().unwrap_or_else(|| super::response::new_ndc(Some(&schedule.entity)));
    to_payload(ScheduleMessage::new(schedule, source, run.as_ref(), name), time, &ndc)
}

/// Returns the payload of a webhook about a dispute.
fn dispute_payload(event: &DisputeEvent, directory: &Directory) -> Result<Map<String, Value>, serde_json::Error> {
    let dispute = &event.dispute;
    let time = dispute.steps.last().map_or(dispute.opened, |step| step.at);
    let entity = directory.find_entity(&dispute.entity);
    let message = DisputeMessage::new(dispute, entity.as_ref().map(|entity| entity.name.as_str()));
    to_payload(message, time, &super::response::new_ndc(Some(&dispute.entity)))
}

/// Returns the fields of the registration's status with the envelope.
fn registration_payload(registration: &Registration) -> Result<Map<String, Value>, serde_json::Error> {
    to_payload(RegistrationFields::from(registration), registration.created, &registration.ndc())
}

/// Converts the fields of a message and the envelope into a map, from which fields can be removed.
fn to_payload(
    fields: impl Serialize,
    time: jiff::Timestamp,
    ndc: &Ndc,
) -> Result<Map<String, Value>, serde_json::Error> {
    match serde_json::to_value(Answer::new(fields, BUILD_NUMBER, time, ndc))? {
        Value::Object(payload) => Ok(payload),
        _ => Ok(Map::new()),
    }
}
