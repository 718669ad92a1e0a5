//! How stored things look on the wire (specification, document 3, payment response fields).

use axum::http::StatusCode;
use serde_json::{Map, Value, json};
use tillgate_shared::parameter::Parameters;
use tillgate_shared::result::ResultCode;

use super::reply::result;
use crate::domain::payment::Payment;

/// The HTTP status of an outcome: clients raise errors for 400 and read the code from the body (contract, 3.4).
pub(super) fn status(code: ResultCode) -> StatusCode {
    if code.is_success() || code.is_pending() { StatusCode::OK } else { StatusCode::BAD_REQUEST }
}

/// A payment's fields. A decline shows no amount.
pub(super) fn payment(payment: &Payment) -> Map<String, Value> {
    let mut fields = Map::new();
    fields.insert("id".to_owned(), payment.id.as_str().into());
    fields.insert("paymentType".to_owned(), payment.payment_type.code().into());
    fields.insert("paymentBrand".to_owned(), payment.brand.as_str().into());
    if payment.approved() {
        fields.insert("amount".to_owned(), payment.amount.to_string().into());
        fields.insert("currency".to_owned(), payment.amount.currency().code().into());
        fields.insert("descriptor".to_owned(), payment.descriptor.as_str().into());
    }
    fields.extend([result(payment.result)]);
    let card = &payment.card;
    let mut shown = json!({ "bin": card.bin, "last4Digits": card.last4 });
    if let Some(holder) = &card.holder {
        shown["holder"] = holder.as_str().into();
    }
    shown["expiryMonth"] = card.expiry_month.as_str().into();
    shown["expiryYear"] = card.expiry_year.as_str().into();
    fields.insert("card".to_owned(), shown);
    nest(&mut fields, &payment.parameters);
    fields
}

/// Echoes parameters as nested JSON: `customer.givenName` inside `customer`, and
/// `customParameters[a.b]` under its whole key.
pub(super) fn nest(fields: &mut Map<String, Value>, parameters: &Parameters) {
    for (name, value) in parameters.iter() {
        let mut place = &mut *fields;
        let mut steps = steps(name).peekable();
        while let Some(step) = steps.next() {
            if steps.peek().is_none() {
                place.insert(step.to_owned(), value.into());
                break;
            }
            let next = place.entry(step).or_insert_with(|| Value::Object(Map::new()));
            // A name that is both a value and a group (`a=1&a.b=2`) keeps the value.
            let Value::Object(inner) = next else { break };
            place = inner;
        }
    }
}

/// The parts of a name; what stands in brackets is one part, dots and all.
fn steps(name: &str) -> impl Iterator<Item = &str> {
    let mut rest = name;
    std::iter::from_fn(move || {
        rest = rest.strip_prefix('.').unwrap_or(rest);
        if rest.is_empty() {
            return None;
        }
        let (step, after) = match rest.strip_prefix('[').and_then(|inner| inner.split_once(']')) {
            Some(bracketed) => bracketed,
            None => rest.split_at(rest.find(['.', '[']).unwrap_or(rest.len()).max(1)),
        };
        rest = after;
        Some(step)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_echoed_nested_and_bracket_content_is_opaque() {
        let mut parameters = Parameters::default();
        for (name, value) in [
            ("customer.givenName", "Jane"),
            ("customer.browser.language", "de"),
            ("customParameters[a.b]", "1"),
            ("merchantTransactionId", "order-4711"),
        ] {
            parameters.set(name, value);
        }
        let mut fields = Map::new();
        nest(&mut fields, &parameters);
        assert_eq!(
            Value::Object(fields),
            json!({
                "customer": { "givenName": "Jane", "browser": { "language": "de" } },
                "customParameters": { "a.b": "1" },
                "merchantTransactionId": "order-4711",
            })
        );
    }
}
