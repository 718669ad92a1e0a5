//! The messages of this connector for the timeline of a payment: each request with its answer, without secrets.
//!
//! Every structure with a secret is taken apart by name, so that a new field of the protocol is shown only after
//! somebody has decided about it. Card numbers and account numbers keep their last four digits. Expiry dates, security
//! codes, cryptograms and authentication values are left out, and so is the text of a refusal, which may repeat them.

use std::time::Instant;

use axum::http::Uri;
use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;
use tillgate_domain::payment::ConnectorTxIds;
use tillgate_domain::payment::connector_message::{
    ConnectorMessage, ConnectorOperation, FaultKind, MessageFault, MessageOutcome,
};

use super::codes::{ResponseMeaning, interpret_response};
use super::protocol::{
    AccountData, AuthorizationRequest, BankData, CardData, EarlierRequest, HostOperation, HostOutcome, HostResponse,
    ModificationRequest, PaymentData, ProviderData, SecretText, ThreeDsData,
};
use super::response::{CallFault, CallResult};
use crate::recorded_messages::{add_message, describe_web_fault, mask_number, shorten_value};
use crate::web::WebFault;

/// A request that is in progress. Its message is collected at its end, or when the caller gives it up.
pub(super) struct Exchange<'a> {
    operation: HostOperation,
    key: &'a str,
    body: &'a dyn DescribedRequest,
    sent: Timestamp,
    started: Instant,
    is_open: bool,
}

impl<'a> Exchange<'a> {
    /// Begins a request at a time of the machine's clock. `key` is its idempotency key.
    pub(super) fn begin(
        operation: HostOperation,
        key: &'a str,
        body: &'a dyn DescribedRequest,
        sent: Timestamp,
    ) -> Self {
        Self { operation, key, body, sent, started: Instant::now(), is_open: true }
    }

    /// Collects the message with its result, and returns the result.
    pub(super) fn end(mut self, result: CallResult) -> CallResult {
        self.is_open = false;
        add_message(|| self.describe(&result));
        result
    }

    /// Describes the request with its result.
    fn describe(&self, result: &CallResult) -> ConnectorMessage {
        let (payment, request) = self.body.describe();
        let message = ConnectorMessage {
            sent: self.sent,
            milliseconds: u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX),
            operation: name_operation(self.operation, payment),
            reference: self.key.to_owned(),
            outcome: MessageOutcome::NoAnswer,
            fault: None,
            response_code: None,
            avs: None,
            cvv: None,
            connector_tx_ids: ConnectorTxIds::default(),
            request: request.0,
            answer: Vec::new(),
        };
        match result {
            CallResult::Responded(response) => add_response(message, response),
            CallResult::NotExecuted(fault) => {
                ConnectorMessage { outcome: MessageOutcome::NotExecuted, fault: Some(describe_fault(fault)), ..message }
            }
            CallResult::Unknown(CallFault::Undecided(code)) => ConnectorMessage {
                outcome: MessageOutcome::Pending,
                fault: Some(describe_fault(&CallFault::Undecided(code.clone()))),
                response_code: Some(code.clone()),
                ..message
            },
            CallResult::Unknown(fault) => ConnectorMessage { fault: Some(describe_fault(fault)), ..message },
        }
    }
}

impl Drop for Exchange<'_> {
    fn drop(&mut self) {
        // The caller waits for all requests of an outcome together, and gives up the last one when its time is over.
        if self.is_open {
            let late = CallResult::Unknown(WebFault::Late(self.started.elapsed().as_millis()).into());
            add_message(|| self.describe(&late));
        }
    }
}

/// Adds a verified response to the message of its request.
fn add_response(message: ConnectorMessage, response: &HostResponse) -> ConnectorMessage {
    let outcome = match interpret_response(response) {
        ResponseMeaning::Approved => MessageOutcome::Approved,
        ResponseMeaning::Declined(_) => MessageOutcome::Declined,
        ResponseMeaning::Contradictory => MessageOutcome::Contradictory,
        ResponseMeaning::Redirect => MessageOutcome::Redirect,
        ResponseMeaning::NotFound => MessageOutcome::NotFound,
        ResponseMeaning::Reversed => MessageOutcome::Reversed,
    };
    let ids = [&response.connector_tx_id1, &response.connector_tx_id2, &response.connector_tx_id3];
    ConnectorMessage {
        outcome,
        response_code: Some(response.response_code.clone()),
        avs: response.avs,
        cvv: response.cvv,
        connector_tx_ids: ConnectorTxIds::new(ids.map(|id| id.as_deref().map(shorten_value))),
        answer: describe_response(response).0,
        ..message
    }
}

/// Returns the operation for people. An authorization of nothing verifies the account.
fn name_operation(operation: HostOperation, payment: &PaymentData) -> ConnectorOperation {
    match operation {
        HostOperation::Authorize if payment.amount == 0 => ConnectorOperation::Verification,
        HostOperation::Authorize => ConnectorOperation::Authorization,
        HostOperation::Credit => ConnectorOperation::Credit,
        HostOperation::Capture => ConnectorOperation::Capture,
        HostOperation::Increment => ConnectorOperation::Increment,
        HostOperation::Refund => ConnectorOperation::Refund,
        HostOperation::Reverse => ConnectorOperation::Reversal,
        HostOperation::Inquire => ConnectorOperation::Inquiry,
    }
}

/// Describes the reason why a call has no verified response.
fn describe_fault(fault: &CallFault) -> MessageFault {
    let (kind, detail) = match fault {
        CallFault::Web(fault) => return describe_web_fault(fault),
        CallFault::Unsigned(status) => (FaultKind::Unsigned, status.to_string()),
        CallFault::Unreadable(status) => (FaultKind::Unreadable, status.to_string()),
        CallFault::Mismatch(part) => (FaultKind::Mismatch, (*part).to_owned()),
        // The host's text is left out: it may repeat a secret of the request.
        CallFault::Refused(refusal) => (FaultKind::Refused, text_of(&refusal.error).unwrap_or_default()),
        CallFault::Undecided(code) => (FaultKind::Undecided, code.clone()),
    };
    MessageFault { kind, detail: shorten_value(&detail) }
}

/// Returns the last four characters of a secret number.
fn mask_secret(number: &SecretText) -> String {
    mask_number(number.expose())
}

/// Returns a value as text. `None` for an object, a list and a missing value.
fn text_of(value: &impl Serialize) -> Option<String> {
    match serde_json::to_value(value).ok()? {
        Value::String(text) => Some(text),
        Value::Bool(_) | Value::Number(_) => Some(serde_json::to_string(value).ok()?),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// Names and masked values, in the order of the protocol.
#[derive(Default)]
pub(super) struct MaskedFields(Vec<(String, String)>);

impl MaskedFields {
    /// Adds a value, unless it is missing.
    fn with(mut self, name: &str, value: &impl Serialize) -> Self {
        self.0.extend(text_of(value).map(|text| (name.to_owned(), shorten_value(&text))));
        self
    }

    /// Adds the values of a structure without secrets, with its name before their names.
    fn with_all(mut self, name: &str, values: &impl Serialize) -> Self {
        let Ok(Value::Object(values)) = serde_json::to_value(values) else { return self };
        let texts = values.iter().filter_map(|(part, value)| Some((format!("{name}.{part}"), text_of(value)?)));
        self.0.extend(texts.map(|(name, text)| (name, shorten_value(&text))));
        self
    }

    /// Adds the payment of a request.
    fn with_payment(self, payment: &PaymentData) -> Self {
        let PaymentData { merchant_id, payment_id, amount, currency } = payment;
        self.with("merchantId", merchant_id)
            .with("paymentId", payment_id)
            .with("amount", amount)
            .with("currency", currency)
    }

    /// Adds an account without its secrets.
    fn with_account(self, account: &AccountData) -> Self {
        match account {
            AccountData::Card(card) => {
                let CardData {
                    number,
                    expiry_month: _,
                    expiry_year: _,
                    holder,
                    security_code: _,
                    entry,
                    cryptogram: _,
                    cryptogram_eci,
                } = card;
                self.with("account.type", &"card")
                    .with("account.number", &mask_secret(number))
                    .with("account.holder", holder)
                    .with("account.entry", entry)
                    .with("account.cryptogramEci", cryptogram_eci)
            }
            AccountData::Bank(bank) => {
                let BankData { iban, number, bank_code, bic, country, holder, mandate_signed, creditor_id } = bank;
                self.with("account.type", &"bank")
                    .with("account.iban", &iban.as_ref().map(mask_secret))
                    .with("account.number", &number.as_ref().map(mask_secret))
                    .with("account.bankCode", bank_code)
                    .with("account.bic", bic)
                    .with("account.country", country)
                    .with("account.holder", holder)
                    .with("account.mandateSigned", mandate_signed)
                    .with("account.creditorId", creditor_id)
            }
            AccountData::Provider(ProviderData { account_id }) => {
                self.with("account.type", &"provider").with("account.accountId", account_id)
            }
        }
    }
}

/// A request of the protocol that can be described without its secrets.
pub(super) trait DescribedRequest: Sync {
    /// Returns the payment, and the names and masked values of all fields that may be shown.
    fn describe(&self) -> (&PaymentData, MaskedFields);
}

impl DescribedRequest for AuthorizationRequest {
    fn describe(&self) -> (&PaymentData, MaskedFields) {
        let Self {
            payment,
            capture,
            brand,
            account,
            billing,
            partial_approval,
            shopper_present,
            descriptor,
            merchant,
            transaction_category,
            standing_instruction,
            three_ds,
            // Its last part is a capability: whoever has it may act as the shopper.
            return_url: _,
        } = self;
        let mut fields = MaskedFields::default()
            .with_payment(payment)
            .with("capture", capture)
            .with("brand", brand)
            .with_account(account)
            .with_all("billing", billing)
            .with("partialApproval", partial_approval)
            .with("shopperPresent", shopper_present)
            .with("descriptor", descriptor)
            .with_all("merchant", merchant)
            .with("transactionCategory", transaction_category)
            .with_all("standingInstruction", standing_instruction);
        if let Some(ThreeDsData { version, status, eci, cavv: _, ds_transaction_id }) = three_ds {
            fields = fields
                .with("threeDs.version", version)
                .with("threeDs.status", status)
                .with("threeDs.eci", eci)
                .with("threeDs.dsTransactionId", ds_transaction_id);
        }
        (payment, fields)
    }
}

/// Returns a flag that is sent only if it is true.
fn said(flag: bool) -> Option<bool> {
    flag.then_some(true)
}

impl DescribedRequest for ModificationRequest {
    fn describe(&self) -> (&PaymentData, MaskedFields) {
        let Self { payment, reference, descriptor, overcapture, last_capture } = self;
        let fields = MaskedFields::default().with_payment(payment);
        let fields = fields.with("reference", reference).with("descriptor", descriptor);
        (payment, fields.with("overcapture", &said(*overcapture)).with("lastCapture", &said(*last_capture)))
    }
}

impl DescribedRequest for EarlierRequest {
    fn describe(&self) -> (&PaymentData, MaskedFields) {
        let Self { payment, original_key } = self;
        (payment, MaskedFields::default().with_payment(payment).with("originalKey", original_key))
    }
}

/// Describes a response, without the data that repeat its request. Of the page for the shopper only the host is shown,
/// because the rest of its address may be a capability.
fn describe_response(response: &HostResponse) -> MaskedFields {
    let HostResponse {
        operation: _,
        idempotency_key: _,
        payment: _,
        outcome,
        response_code,
        advice_code,
        approved_amount,
        avs,
        cvv,
        connector_tx_id1,
        connector_tx_id2,
        connector_tx_id3,
        redirect_url,
    } = response;
    let page = redirect_url.as_deref().and_then(|url| url.parse::<Uri>().ok());
    let page = page.and_then(|page| Some(format!("{}://{}/…", page.scheme_str()?, page.host()?)));
    MaskedFields::default()
        .with("outcome", outcome as &HostOutcome)
        .with("responseCode", response_code)
        .with("adviceCode", advice_code)
        .with("approvedAmount", approved_amount)
        .with("avs", avs)
        .with("cvv", cvv)
        .with("connectorTxId1", connector_tx_id1)
        .with("connectorTxId2", connector_tx_id2)
        .with("connectorTxId3", connector_tx_id3)
        .with("redirectUrl", &page)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
