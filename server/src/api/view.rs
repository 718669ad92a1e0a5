//! How stored things look on the wire (specification, document 3, payment response fields).

use axum::http::StatusCode;
use serde_json::{Value, json};
use tillgate_shared::parameter::{Parameters, check_lists, index as index_of};
use tillgate_shared::result::ResultCode;

use super::fields::Fields;
use super::reply::{result, wire_time};
use crate::domain::checkout::Checkout;
use crate::domain::payment::{Account, BankSummary, CardSummary, Payment, Precondition, Redirect, TransferAccount};
use crate::domain::registration::Registration;

/// The HTTP status of an outcome: clients raise errors for 400 and read the code from the body (contract, 3.4).
pub(super) fn status(code: ResultCode) -> StatusCode {
    if code.is_success() || code.is_pending() { StatusCode::OK } else { StatusCode::BAD_REQUEST }
}

/// A payment's fields. A decline shows no amount; one that may yet succeed does.
pub(super) fn payment(payment: &Payment) -> Fields<'_> {
    let mut fields = Fields::new()
        .with("id", payment.id.as_str())
        .with("paymentType", payment.payment_type.code())
        .with("paymentBrand", payment.brand.as_str());
    if payment.approved() || payment.result.is_pending() {
        fields.set("amount", payment.amount.to_string());
        fields.set("currency", payment.amount.currency().code());
        fields.set("descriptor", payment.descriptor.as_str());
    }
    fields.set("result", outcome(payment));
    account(&mut fields, &payment.account);
    if !payment.details.is_empty() || !payment.connector_tx_ids.is_empty() {
        fields.set("resultDetails", result_details(payment));
    }
    if let Some(page) = payment.redirect.as_ref().filter(|_| payment.result.is_pending()) {
        fields.set("redirect", redirect(page));
    }
    if let Some(account) = &payment.pay_to {
        fields.set("merchant", Fields::default().with("bankAccount", pay_to(account)));
    }
    if let Some(registration) = &payment.registration {
        fields.set("registrationId", registration.as_str());
    }
    nest(&mut fields, &payment.parameters);
    fields
}

/// The page that the shopper's browser is sent to, and what it loads in a hidden frame before (contract, 3.3).
pub(super) fn redirect(page: &Redirect) -> Fields<'_> {
    let parameters: Vec<Value> =
        page.parameters.iter().map(|(name, value)| json!({ "name": name, "value": value })).collect();
    Fields::default()
        .with("url", page.url.as_str())
        .with("method", page.method.as_str())
        .with("parameters", Value::Array(parameters))
        .with("preconditions", page.preconditions.iter().map(precondition).collect::<Value>())
}

/// The acquirer's data beyond the result code, and its ids of the transaction.
fn result_details(payment: &Payment) -> Fields<'_> {
    const IDS: [&str; 3] = ["ConnectorTxID1", "ConnectorTxID2", "ConnectorTxID3"];
    let details = payment.details.iter().map(|(name, value)| (name.as_str(), value));
    let ids = IDS.into_iter().zip(&payment.connector_tx_ids);
    details.chain(ids).fold(Fields::default(), |all, (name, value)| all.with(name, value.as_str()))
}

fn precondition(page: &Precondition) -> Value {
    json!({
        "origin": "iframe#hidden",
        "waitUntil": "iframe#load",
        "url": page.url,
        "method": "GET",
        "parameters": [],
        "description": page.description,
    })
}

/// The merchant's page, with what it needs to ask for the outcome.
pub(super) fn way_back<'a>(checkout: &'a Checkout, path: &str) -> Fields<'a> {
    Fields::default().with("url", json!(checkout.parameters.get("shopperResultUrl"))).with("method", "GET").with(
        "parameters",
        json!([
            { "name": "id", "value": checkout.id.as_str() },
            { "name": "resourcePath", "value": path },
        ]),
    )
}

fn pay_to(account: &TransferAccount) -> Fields<'_> {
    Fields::default()
        .with("holder", account.holder.as_str())
        .with("number", account.number.as_str())
        .with("bic", account.bic.as_str())
        .with("country", account.country.as_str())
}

/// A registration's fields; `what` says what the answer is about.
pub(super) fn registration<'a>(registration: &'a Registration, what: &'a str) -> Fields<'a> {
    let mut fields = Fields::new()
        .with("id", registration.id.as_str())
        .with("paymentType", what)
        .with("paymentBrand", registration.brand.as_str())
        .with("result", result(registration.result));
    account(&mut fields, &registration.account);
    if let Some(end) = registration.retained_until {
        fields.set("retainedUntil", wire_time(end));
    }
    nest(&mut fields, &registration.parameters);
    fields
}

fn outcome(payment: &Payment) -> Fields<'_> {
    let mut outcome = result(payment.result);
    for (name, letter) in [("avsResponse", payment.avs), ("cvvResponse", payment.cvv)] {
        if let Some(letter) = letter {
            outcome.set(name, letter.to_string());
        }
    }
    outcome
}

/// The account, as far as it may be shown.
pub(super) fn account<'a>(fields: &mut Fields<'a>, account: &'a Account) {
    let (group, shown) = match account {
        Account::Card(card) => ("card", self::card(card)),
        Account::Bank(bank) => ("bankAccount", self::bank(bank)),
        Account::Virtual(account) => {
            let id = Fields::default().with("accountId", account.account_id.as_str());
            ("virtualAccount", with_some(id, [("holder", &account.holder)]))
        }
        Account::Unknown => return,
    };
    fields.set(group, shown);
}

/// An account as its shopper recognises it, for the merchant's page: without the first digits.
pub(super) fn recognised<'a>(fields: &mut Fields<'a>, account: &'a Account) {
    match account {
        Account::Card(card) => {
            let shown = Fields::default().with("last4Digits", card.last4.as_str());
            let shown = with_some(shown, [("holder", &card.holder)]);
            let month = shown.with("expiryMonth", card.expiry_month.as_str());
            fields.set("card", month.with("expiryYear", card.expiry_year.as_str()));
        }
        other => self::account(fields, other),
    }
}

fn card(card: &CardSummary) -> Fields<'_> {
    let shown = Fields::default().with("bin", card.bin.as_str()).with("last4Digits", card.last4.as_str());
    with_some(shown, [("holder", &card.holder)])
        .with("expiryMonth", card.expiry_month.as_str())
        .with("expiryYear", card.expiry_year.as_str())
}

fn bank(bank: &BankSummary) -> Fields<'_> {
    with_some(
        Fields::default(),
        [
            ("holder", &bank.holder),
            ("iban", &bank.iban),
            ("last4Digits", &bank.last4),
            ("bic", &bank.bic),
            ("bankCode", &bank.bank_code),
            ("bankName", &bank.bank_name),
            ("country", &bank.country),
        ],
    )
}

fn with_some<'a, const N: usize>(fields: Fields<'a>, more: [(&'a str, &'a Option<String>); N]) -> Fields<'a> {
    more.into_iter().fold(fields, |fields, (name, value)| match value {
        Some(value) => fields.with(name, value.as_str()),
        None => fields,
    })
}

/// Echoes parameters as nested JSON: `customer.givenName` inside `customer`, `cart.items[3].name` inside the item 3 of the
/// `items`, and `customParameters[a.b]` under its whole key. An index that was not sent is `null`.
pub(super) fn nest<'a>(fields: &mut Fields<'a>, parameters: &'a Parameters) {
    // Requests with such lists are refused; what was stored before is no reason for an answer of megabytes.
    let in_place = check_lists(parameters).is_none();
    for (name, value) in parameters.iter() {
        let mut place = &mut *fields;
        let mut rest = name;
        loop {
            let (part, index, after) = step(rest);
            if after.is_empty() {
                place.set(part, value);
                break;
            }
            let inner = match index {
                Some(index) => place.item(part, index, in_place),
                None => place.group(part),
            };
            // A name that is both a value and a group (`a=1&a.b=2`) keeps the value.
            let Some(inner) = inner else { break };
            (place, rest) = (inner, after);
        }
    }
}

/// The first part of a name, its index if it has one, and what comes after. An index is a number in brackets with more of
/// the name behind it; anything else in brackets is a key, one part with dots and all.
fn step(name: &str) -> (&str, Option<u16>, &str) {
    if let Some((key, after)) = name.strip_prefix('[').and_then(|inner| inner.split_once(']')) {
        return (key, None, after.trim_start_matches('.'));
    }
    let end = name.bytes().skip(1).position(|byte| matches!(byte, b'.' | b'[')).map_or(name.len(), |end| end + 1);
    let (step, after) = name.split_at(end);
    if let Some((index, more)) = after.strip_prefix('[').and_then(|inner| inner.split_once("]."))
        && let Some(index) = index_of(index)
    {
        return (step, Some(index), more);
    }
    (step, None, after.trim_start_matches('.'))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn parameters_are_echoed_nested_with_each_item_at_its_index_and_keys_as_they_are() {
        let mut parameters = Parameters::default();
        for (name, value) in [
            ("customer.givenName", "Jane"),
            ("customer.browser.language", "de"),
            ("customParameters[a.b]", "1"),
            ("customParameters[123]", "2"),
            ("cart.items[3].name", "Clay"),
            ("cart.items[1].name", "Bowl"),
            ("airline.passengers[0].legs[1].flightNumber", "TG 4711"),
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
                "customParameters": { "a.b": "1", "123": "2" },
                "cart": { "items": [null, { "name": "Bowl" }, null, { "name": "Clay" }] },
                "airline": { "passengers": [{ "legs": [null, { "flightNumber": "TG 4711" }] }] },
                "merchantTransactionId": "order-4711",
            })
        );
    }

    #[test]
    fn lists_that_were_stored_with_more_gaps_than_are_allowed_are_told_without_them() {
        let mut parameters = Parameters::default();
        for passenger in 0..1000 {
            parameters.set(format!("airline.passengers[{passenger}].legs[999].fareBasis"), "Y");
        }
        let mut fields = Fields::default();
        nest(&mut fields, &parameters);
        let told = serde_json::to_value(&fields).unwrap();
        assert_eq!(told["airline"]["passengers"][999]["legs"], json!([{ "fareBasis": "Y" }]));
        assert!(told.to_string().len() < 40_000);
    }
}
