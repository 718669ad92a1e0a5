//! What a webhook tells: a payment or a registration as its status shows it, with what only a webhook says (contract, 3.3).

use serde_json::{Map, Value, json};

use super::fields::Fields;
use super::reply::wire_time;
use super::{registrations, view};
use crate::BUILD_NUMBER;
use crate::directory::Directory;
use crate::domain::ndc::Ndc;
use crate::domain::payment::Payment;
use crate::domain::query::method;
use crate::domain::registration::Registration;

/// What is left out where a webhook wants nothing of the shopper: groups of a payload, and fields of its accounts.
const CUSTOMER: [&str; 9] = [
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

/// The plain text of a message: `{"type": …, "payload": …}`, with an `action` for registrations (contract, 0.19). `what` is
/// both words, such as `PAYMENT CREATED`, and the document what was written then.
///
/// # Errors
/// When the document cannot be read.
pub(crate) fn text(
    what: &str,
    document: &[u8],
    without_customer: bool,
    directory: &Directory,
) -> Result<Vec<u8>, serde_json::Error> {
    let (kind, action) = what.split_once(' ').unwrap_or((what, ""));
    let mut payload = match kind {
        "REGISTRATION" => registration(&serde_json::from_slice(document)?)?,
        _ => payment(&serde_json::from_slice(document)?, directory)?,
    };
    if without_customer {
        payload.retain(|name, _| !CUSTOMER.contains(&name.as_str()));
        if let Some(card) = payload.get_mut("card").and_then(Value::as_object_mut) {
            card.remove("holder");
        }
    }
    let mut text = json!({ "type": kind, "payload": payload });
    if kind == "REGISTRATION" {
        text["action"] = action.into();
    }
    serde_json::to_vec(&text)
}

fn payment(payment: &Payment, directory: &Directory) -> Result<Map<String, Value>, serde_json::Error> {
    let mut payload = object(&view::payment(payment))?;
    let amount = payment.amount;
    let mut more = json!({
        "presentationAmount": amount.to_string(),
        "presentationCurrency": amount.currency().code(),
        "shortId": payment.id.short_id(),
        "source": if payment.checkout.is_some() { "FORM" } else { "API" },
        "paymentMethod": method(payment),
        "authentication": { "entityId": payment.entity.as_str() },
    });
    if let Some(entity) = directory.entity(&payment.entity) {
        more["channelName"] = entity.name.clone().into();
    }
    if let Some(referenced) = &payment.referenced {
        more["referencedId"] = referenced.as_str().into();
    }
    payload.entry("redirect").or_insert_with(|| json!({ "parameters": [] }));
    extend(&mut payload, more);
    extend(&mut payload, envelope(payment.created, &payment.ndc()));
    Ok(payload)
}

fn registration(registration: &Registration) -> Result<Map<String, Value>, serde_json::Error> {
    let mut payload = object(&registrations::fields(registration))?;
    extend(&mut payload, envelope(registration.created, &registration.ndc()));
    Ok(payload)
}

fn envelope(time: jiff::Timestamp, ndc: &Ndc) -> Value {
    json!({ "buildNumber": BUILD_NUMBER, "timestamp": wire_time(time), "ndc": ndc.as_str() })
}

fn object(fields: &Fields<'_>) -> Result<Map<String, Value>, serde_json::Error> {
    match serde_json::to_value(fields)? {
        Value::Object(object) => Ok(object),
        _ => Ok(Map::new()),
    }
}

fn extend(payload: &mut Map<String, Value>, more: Value) {
    if let Value::Object(more) = more {
        payload.extend(more);
    }
}
