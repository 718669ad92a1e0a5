//! How stored things look on the wire (specification, document 3, payment response fields).

use axum::http::StatusCode;
use tillgate_shared::parameter::Parameters;
use tillgate_shared::result::ResultCode;

use super::fields::Fields;
use super::reply::result;
use crate::domain::payment::Payment;

/// The HTTP status of an outcome: clients raise errors for 400 and read the code from the body (contract, 3.4).
pub(super) fn status(code: ResultCode) -> StatusCode {
    if code.is_success() || code.is_pending() { StatusCode::OK } else { StatusCode::BAD_REQUEST }
}

/// A payment's fields. A decline shows no amount.
pub(super) fn payment(payment: &Payment) -> Fields<'_> {
    let mut fields = Fields::new()
        .with("id", payment.id.as_str())
        .with("paymentType", payment.payment_type.code())
        .with("paymentBrand", payment.brand.as_str());
    if payment.approved() {
        fields.set("amount", payment.amount.to_string());
        fields.set("currency", payment.amount.currency().code());
        fields.set("descriptor", payment.descriptor.as_str());
    }
    fields.set("result", result(payment.result));
    let card = &payment.card;
    let mut shown = Fields::default().with("bin", card.bin.as_str()).with("last4Digits", card.last4.as_str());
    if let Some(holder) = &card.holder {
        shown.set("holder", holder.as_str());
    }
    shown.set("expiryMonth", card.expiry_month.as_str());
    shown.set("expiryYear", card.expiry_year.as_str());
    fields.set("card", shown);
    nest(&mut fields, &payment.parameters);
    fields
}

/// Echoes parameters as nested JSON: `customer.givenName` inside `customer`, and
/// `customParameters[a.b]` under its whole key.
pub(super) fn nest<'a>(fields: &mut Fields<'a>, parameters: &'a Parameters) {
    for (name, value) in parameters.iter() {
        let mut place = &mut *fields;
        let mut steps = steps(name).peekable();
        while let Some(step) = steps.next() {
            if steps.peek().is_none() {
                place.set(step, value);
                break;
            }
            // A name that is both a value and a group (`a=1&a.b=2`) keeps the value.
            let Some(inner) = place.group(step) else { break };
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
            None => {
                rest.split_at(rest.bytes().position(|byte| matches!(byte, b'.' | b'[')).unwrap_or(rest.len()).max(1))
            }
        };
        rest = after;
        Some(step)
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use serde_json::json;

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
        let mut fields = Fields::default();
        nest(&mut fields, &parameters);
        assert_eq!(
            serde_json::to_value(&fields).unwrap(),
            json!({
                "customer": { "givenName": "Jane", "browser": { "language": "de" } },
                "customParameters": { "a.b": "1" },
                "merchantTransactionId": "order-4711",
            })
        );
    }
}
