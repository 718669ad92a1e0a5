//! JSON representation of stored objects (specification, document 3, payment response fields).

use axum::http::StatusCode;
use serde_json::{Value, json};
use tillgate_domain::checkout::Checkout;
use tillgate_domain::payment::{Account, BankSummary, CardSummary, Payment, Precondition, Redirect, TransferAccount};
use tillgate_domain::registration::Registration;
use tillgate_domain::risk::RiskOutcome;
use tillgate_shared::result::{ResultCode, codes};

use tillgate_wire::echo_parameters;
use tillgate_wire::json_object::JsonObject;

use super::response::{result_fields, wire_time};

/// Returns 200 for a success or a pending result, otherwise 400: clients raise errors for 400 and read the code from
/// the body (contract, 3.4).
pub(super) fn http_status(code: ResultCode) -> StatusCode {
    if code.is_success() || code.is_pending() { StatusCode::OK } else { StatusCode::BAD_REQUEST }
}

/// Returns a payment's fields, and its parameters as nested JSON. Only an approved or pending payment has amount,
/// currency and descriptor; details, redirect, account for a transfer and registration are left out if there are none.
pub(super) fn payment_fields(payment: &Payment) -> JsonObject<'_> {
    let mut fields = JsonObject::new()
        .with("id", payment.id.as_str())
        .with("paymentType", payment.payment_type.code())
        .with("paymentBrand", payment.brand.as_str());
    if payment.is_approved() || payment.result.is_pending() {
        fields.set("amount", payment.amount.to_string());
        fields.set("currency", payment.amount.currency().code());
        fields.set("descriptor", payment.descriptor.as_str());
    }
    fields.set("result", payment_result_fields(payment));
    add_account(&mut fields, &payment.account);
    if !payment.details.is_empty() || !payment.connector_tx_ids.is_empty() {
        fields.set("resultDetails", result_details(payment));
    }
    if let Some(page) = payment.page_to_visit() {
        fields.set("redirect", redirect_fields(page));
    }
    if let Some(account) = &payment.pay_to {
        fields.set("merchant", JsonObject::default().with("bankAccount", transfer_account_fields(account)));
    }
    if let Some(registration) = &payment.registration {
        fields.set("registrationId", registration.as_str());
    }
    echo_parameters(&mut fields, &payment.parameters);
    add_risk_score(&mut fields, payment);
    fields
}

/// Adds `risk.score` of a payment that was checked, in place of one that the merchant sent. Marks a payment whose check
/// failed by `risk.resultCode`: the channel may have accepted it nevertheless.
pub(super) fn add_risk_score(fields: &mut JsonObject<'_>, payment: &Payment) {
    let Some(decision) = payment.risk.as_ref().and_then(|risk| risk.decision.as_ref()) else { return };
    let failure = (decision.outcome == RiskOutcome::Error).then_some(("resultCode", codes::RISK_ERROR.code()));
    let values = [("score", decision.score.to_string())];
    let values = values.into_iter().chain(failure.map(|(name, code)| (name, code.to_owned())));
    match fields.nested_object("risk") {
        Some(group) => values.for_each(|(name, value)| group.set(name, value)),
        None => fields.set("risk", values.fold(JsonObject::default(), |all, (name, value)| all.with(name, value))),
    }
}

/// Returns the page to which the browser is redirected, and the pages it loads in hidden frames before (contract, 3.3).
pub(super) fn redirect_fields(page: &Redirect) -> JsonObject<'_> {
    let parameters: Vec<Value> =
        page.parameters.iter().map(|(name, value)| json!({ "name": name, "value": value })).collect();
    JsonObject::default()
        .with("url", page.url.as_str())
        .with("method", page.method.as_str())
        .with("parameters", Value::Array(parameters))
        .with("preconditions", page.preconditions.iter().map(describe_precondition).collect::<Value>())
}

/// Returns the acquirer's data beyond the result code, and its first three transaction ids as `ConnectorTxID1` to
/// `ConnectorTxID3`.
fn result_details(payment: &Payment) -> JsonObject<'_> {
    const IDS: [&str; 3] = ["ConnectorTxID1", "ConnectorTxID2", "ConnectorTxID3"];
    let details = payment.details.iter().map(|(name, value)| (name.as_str(), value));
    let ids = IDS.into_iter().enumerate();
    let ids = ids.filter_map(|(place, name)| Some((name, payment.connector_tx_ids.get(place)?)));
    details.chain(ids).fold(JsonObject::default(), |all, (name, value)| all.with(name, value.as_str()))
}

/// Describes a page that the browser loads in a hidden frame, and waits for, before it visits the redirect page.
fn describe_precondition(page: &Precondition) -> Value {
    json!({
        "origin": "iframe#hidden",
        "waitUntil": "iframe#load",
        "url": page.url,
        "method": "GET",
        "parameters": [],
        "description": page.description,
    })
}

/// Returns the `redirect` to `shopperResultUrl` with the checkout's id and `path` as `resourcePath`. The `url` is null
/// if the merchant has sent none.
pub(super) fn shop_redirect_fields<'a>(checkout: &'a Checkout, path: &str) -> JsonObject<'a> {
    JsonObject::default().with("url", json!(checkout.parameters.get("shopperResultUrl"))).with("method", "GET").with(
        "parameters",
        json!([
            { "name": "id", "value": checkout.id.as_str() },
            { "name": "resourcePath", "value": path },
        ]),
    )
}

/// Returns the account to which the shopper has to transfer the amount.
fn transfer_account_fields(account: &TransferAccount) -> JsonObject<'_> {
    JsonObject::default()
        .with("holder", account.holder.as_str())
        .with("number", account.number.as_str())
        .with("bic", account.bic.as_str())
        .with("country", account.country.as_str())
}

/// Returns a registration's fields, and its parameters as nested JSON. `payment_type` says what was done with it.
/// `retainedUntil` is left out if it has no end.
pub(super) fn registration_fields<'a>(registration: &'a Registration, payment_type: &'a str) -> JsonObject<'a> {
    let mut fields = JsonObject::new()
        .with("id", registration.id.as_str())
        .with("paymentType", payment_type)
        .with("paymentBrand", registration.brand.as_str())
        .with("result", result_fields(registration.result));
    add_account(&mut fields, &registration.account);
    if let Some(end) = registration.retained_until {
        fields.set("retainedUntil", wire_time(end));
    }
    echo_parameters(&mut fields, &registration.parameters);
    fields
}

/// Returns the `result` of a payment, with the letters of the address and security code checks if there are any.
fn payment_result_fields(payment: &Payment) -> JsonObject<'_> {
    let mut outcome = result_fields(payment.result);
    for (name, letter) in [("avsResponse", payment.avs), ("cvvResponse", payment.cvv)] {
        if let Some(letter) = letter {
            outcome.set(name, letter.to_string());
        }
    }
    outcome
}

/// Adds the part of an account that may be shown, under `card`, `bankAccount` or `virtualAccount`. Adds nothing for an
/// unknown account.
pub(super) fn add_account<'a>(fields: &mut JsonObject<'a>, account: &'a Account) {
    let (group, account_fields) = match account {
        Account::Card(card) => ("card", self::card_fields(card)),
        Account::Bank(bank) => ("bankAccount", self::bank_fields(bank)),
        Account::Virtual(account) => {
            let id = JsonObject::default().with("accountId", account.account_id.as_str());
            ("virtualAccount", with_present_fields(id, [("holder", &account.holder)]))
        }
        Account::Unknown => return,
    };
    fields.set(group, account_fields);
}

/// Adds the part of an account by which its shopper recognises it, for the merchant's page: of a card all that may be
/// shown but the first digits, of other accounts the same as [`add_account`].
pub(super) fn add_account_for_shopper<'a>(fields: &mut JsonObject<'a>, account: &'a Account) {
    match account {
        Account::Card(card) => {
            let card_fields = JsonObject::default().with("last4Digits", card.last4.as_str());
            let card_fields = with_present_fields(card_fields, [("holder", &card.holder)])
                .with("expiryMonth", card.expiry_month.as_str())
                .with("expiryYear", card.expiry_year.as_str());
            fields.set("card", card_fields);
        }
        other => self::add_account(fields, other),
    }
}

/// Returns first and last digits, expiry date, and the holder if there is one.
fn card_fields(card: &CardSummary) -> JsonObject<'_> {
    let fields = JsonObject::default().with("bin", card.bin.as_str()).with("last4Digits", card.last4.as_str());
    with_present_fields(fields, [("holder", &card.holder)])
        .with("expiryMonth", card.expiry_month.as_str())
        .with("expiryYear", card.expiry_year.as_str())
}

/// Returns those of holder, masked IBAN, last digits, BIC, bank code, bank name and country that are present.
fn bank_fields(bank: &BankSummary) -> JsonObject<'_> {
    with_present_fields(
        JsonObject::default(),
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

/// Adds the fields that have a value.
fn with_present_fields<'a, const N: usize>(
    fields: JsonObject<'a>,
    more: [(&'a str, &'a Option<String>); N],
) -> JsonObject<'a> {
    more.into_iter().fold(fields, |fields, (name, value)| match value {
        Some(value) => fields.with(name, value.as_str()),
        None => fields,
    })
}
