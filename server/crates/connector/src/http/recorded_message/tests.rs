//! Messages of the timeline, without the secrets of their requests.

use serde_json::json;
use tillgate_domain::payment::connector_message::ConnectorMessage;

use super::*;
use crate::http::protocol::{HostRefusal, RefusalReason};
use crate::recorded_messages::VALUE_LIMIT;
use crate::recorded_messages::collect_messages;

/// Secrets of [`sample_request`] that no message may have.
const SECRETS: [&str; 7] = ["4200000000000000", "420000", "987", "2034", "wallet-proof", "cavv-proof", "capability"];

/// Returns an authorization of 92.00 EUR with every secret that a card may have, and a card number in a free text.
fn sample_request() -> AuthorizationRequest {
    serde_json::from_value(json!({
        "merchantId": "m", "paymentId": "p1", "amount": 9200, "currency": "EUR", "capture": true, "brand": "VISA",
        "shopperPresent": true, "descriptor": "card 4111 1111 1111 1111",
        "returnUrl": "https://shop.example/capability",
        "billing": { "street": "Kiln Lane 4" }, "merchant": { "mcc": "5411" },
        "threeDs": { "version": "2.2.0", "eci": "05", "cavv": "cavv-proof" },
        "account": {
            "type": "card", "number": "4200000000000000", "expiryMonth": "05", "expiryYear": "2034",
            "holder": "Jane Jones", "entry": "wallet", "securityCode": "987", "cryptogram": "wallet-proof"
        }
    }))
    .unwrap()
}

/// Returns the host's approval of the sample request.
fn sample_response() -> HostResponse {
    serde_json::from_value(json!({
        "operation": "authorize", "idempotencyKey": "p1", "merchantId": "m", "paymentId": "p1", "amount": 9200,
        "currency": "EUR", "outcome": "approved", "responseCode": "00", "avs": "Z", "cvv": "M",
        "connectorTxId1": "000000000001", "redirectUrl": "https://acquirer.example/pay/capability",
    }))
    .unwrap()
}

/// Describes a request with its result.
async fn describe_exchange(
    operation: HostOperation,
    body: &dyn DescribedRequest,
    result: CallResult,
) -> ConnectorMessage {
    let exchange = async { Exchange::begin(operation, "p1", body, Timestamp::UNIX_EPOCH).end(result) };
    collect_messages(exchange).await.1.pop().unwrap()
}

fn value_of<'a>(fields: &'a [(String, String)], name: &str) -> Option<&'a str> {
    fields.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_str())
}

#[tokio::test]
async fn a_message_has_no_secret_of_the_account() {
    let response = CallResult::Responded(Box::new(sample_response()));
    let message = describe_exchange(HostOperation::Authorize, &sample_request(), response).await;
    let shown = serde_json::to_string(&message).unwrap();
    for secret in SECRETS {
        assert!(!shown.contains(secret), "{secret}: {shown}");
    }
    let request = |name| value_of(&message.request, name);
    assert_eq!(request("account.number"), Some("•••• 0000"));
    assert_eq!(request("descriptor"), Some("card 411111******1111"));
    assert_eq!(request("account.holder"), Some("Jane Jones"));
    assert_eq!(
        (request("amount"), request("capture"), request("account.entry")),
        (Some("9200"), Some("true"), Some("wallet"))
    );
    assert_eq!((request("billing.street"), request("merchant.mcc")), (Some("Kiln Lane 4"), Some("5411")));
    assert_eq!(request("threeDs.eci"), Some("05"));
    assert_eq!(value_of(&message.answer, "redirectUrl"), Some("https://acquirer.example/…"));
    assert_eq!((message.outcome, message.response_code.as_deref()), (MessageOutcome::Approved, Some("00")));
    assert_eq!(
        (message.avs, message.cvv, message.connector_tx_ids.acquirer_id()),
        (Some('Z'), Some('M'), Some("000000000001"))
    );
}

#[tokio::test]
async fn account_numbers_keep_four_characters_and_short_ones_none() {
    for (iban, shown) in
        [("DE23100000001234567890", "•••• 7890"), ("1234567", "••••"), ("", "••••"), ("äöüäöüäö", "•••• öüäö")]
    {
        assert_eq!(mask_number(iban), shown);
    }
    let mut request = sample_request();
    let iban = Some(SecretText::new("DE23100000001234567890"));
    request.account = AccountData::Bank(BankData { iban, ..BankData::default() });
    let result = CallResult::Unknown(WebFault::TooLong(1).into());
    let message = describe_exchange(HostOperation::Authorize, &request, result).await;
    assert_eq!(value_of(&message.request, "account.iban"), Some("•••• 7890"));
    assert!(!format!("{message:?}").contains("DE23100000001234567890"));
}

#[tokio::test]
async fn a_refusal_is_described_by_its_reason_and_not_by_the_text_of_the_host() {
    let message = "securityCode 987 of 4200000000000000 is wrong".to_owned();
    let refusal = HostRefusal { error: RefusalReason::KeyReused, message };
    let result = CallResult::Unknown(CallFault::Refused(refusal));
    let message = describe_exchange(HostOperation::Authorize, &sample_request(), result).await;
    let fault = MessageFault { kind: FaultKind::Refused, detail: "keyReused".to_owned() };
    assert_eq!((message.outcome, message.fault), (MessageOutcome::NoAnswer, Some(fault)));
}

#[tokio::test]
async fn the_outcome_tells_a_lost_answer_from_a_request_that_was_not_sent() {
    let zero =
        AuthorizationRequest { payment: PaymentData { amount: 0, ..sample_request().payment }, ..sample_request() };
    for (result, outcome, kind) in [
        (CallResult::Unknown(WebFault::Late(8000).into()), MessageOutcome::NoAnswer, FaultKind::Late),
        (CallResult::Unknown(CallFault::Unsigned(200)), MessageOutcome::NoAnswer, FaultKind::Unsigned),
        (CallResult::Unknown(CallFault::Undecided("68".to_owned())), MessageOutcome::Pending, FaultKind::Undecided),
        (CallResult::NotExecuted(WebFault::Busy(128).into()), MessageOutcome::NotExecuted, FaultKind::Busy),
    ] {
        let message = describe_exchange(HostOperation::Authorize, &zero, result).await;
        assert_eq!((message.outcome, message.fault.unwrap().kind), (outcome, kind));
        assert_eq!(message.operation, ConnectorOperation::Verification);
    }
}

#[tokio::test]
async fn a_request_that_the_caller_gives_up_has_a_message_and_one_that_nobody_collects_has_none() {
    let request = sample_request();
    let given_up = async { drop(Exchange::begin(HostOperation::Reverse, "p1", &request, Timestamp::UNIX_EPOCH)) };
    let ((), messages) = collect_messages(given_up).await;
    let faults: Vec<_> = messages.iter().map(|message| message.fault.as_ref().map(|fault| fault.kind)).collect();
    assert_eq!(faults, [Some(FaultKind::Late)]);
    drop(Exchange::begin(HostOperation::Reverse, "p1", &request, Timestamp::UNIX_EPOCH));
    let (inner, outer) = collect_messages(collect_messages(async {})).await;
    assert!(inner.1.is_empty() && outer.is_empty());
}

#[test]
fn a_long_value_is_cut_after_its_card_numbers_are_masked() {
    let long = format!("{}4200000000000000", "ä".repeat(VALUE_LIMIT - 8));
    let shown = shorten_value(&long);
    assert!(!shown.contains("42000000") && shown.ends_with('…'), "{shown}");
    assert_eq!(shown.chars().count(), VALUE_LIMIT + 1);
}
