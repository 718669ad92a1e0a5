//! Answers, and what they mean.

use axum::body::Bytes;
use axum::http::HeaderMap;
use serde_json::{Value, json};
use tillgate_shared::result::codes;

use super::*;
use crate::gateway_api::AccessToken;
use crate::gateway_api::answer::{PaymentAnswer, read_checkout, read_payment, read_payments};
use crate::gateway_api::call::{ApiFault, CallFailure};
use crate::gateway_api::expectation::Expectation;
use crate::web::WebResponse;
use crate::{ConnectorOutcome, ShopperPage};

fn token() -> AccessToken {
    AccessToken::parse("dG9rZW4tb2YtdGhlLXVwc3RyZWFt").unwrap()
}

fn response(status: u16, body: &str) -> WebResponse {
    WebResponse { status, headers: HeaderMap::new(), body: Bytes::copy_from_slice(body.as_bytes()) }
}

/// Returns an approval of 92.00 EUR.
fn approval() -> Value {
    json!({
        "id": REFERENCE, "paymentType": "DB", "amount": "92.00", "currency": "EUR",
        "merchantTransactionId": REFERENCE, "result": { "code": "000.100.110", "avsResponse": "F", "cvvResponse": "MM" },
        "resultDetails": { "AcquirerResponse": "00", "ConnectorTxID2": "000001", "ConnectorTxID3": "300000000000001" },
        "unknown": { "new": [1] },
    })
}

/// Judges an answer with status 200 to a debit of 92.00 EUR.
fn judge(answer: &Value, is_live: bool, allows_part: bool) -> Result<ConnectorOutcome, ApiFault> {
    let answer: PaymentAnswer = read_payment(&response(200, &answer.to_string())).unwrap();
    let amount = Some(euros("92.00"));
    let expectation =
        Expectation { payment_type: "DB", reference: REFERENCE, amount, allows_part, is_live: Some(is_live) };
    expectation.read_outcome(&answer, &token())
}

/// Returns the approval with a field that has another value.
fn changed(name: &str, value: Value) -> Value {
    let mut answer = approval();
    answer[name] = value;
    answer
}

#[test]
fn an_approval_comes_with_its_checks_details_and_ids() {
    let Ok(ConnectorOutcome::Approved(result)) = judge(&approval(), false, false) else { panic!("an approval") };
    assert_eq!((result.code, result.avs, result.cvv), (codes::TEST_CONNECTOR, Some('F'), None));
    let ids = [Some(REFERENCE), Some("000001"), Some("300000000000001")].map(|id| id.map(str::to_owned));
    assert_eq!(result.connector_tx_ids.to_array(), ids);
    assert_eq!(result.details.into_iter().collect::<Vec<_>>(), [("AcquirerResponse".to_owned(), "00".to_owned())]);
    assert_eq!(result.approved_amount, None);
}

#[test]
fn an_approval_counts_in_its_own_mode_only() {
    for (code, is_live, expected) in [
        ("000.100.110", false, Some("000.100.112")),
        ("000.100.112", false, Some("000.100.112")),
        ("000.000.000", false, None),
        ("000.000.000", true, Some("000.000.000")),
        ("000.400.000", true, None),
        ("000.400.000", false, None),
        ("000.100.110", true, None),
        ("000.100.112", true, None),
    ] {
        let found = judge(&changed("result", json!({ "code": code })), is_live, false);
        let found_code = found.as_ref().ok().and_then(|outcome| outcome.result()).map(|result| result.code.code());
        assert_eq!(found_code, expected, "{code} {is_live}: {found:?}");
    }
}

#[test]
fn a_part_counts_with_the_requested_amount_and_if_it_may_be_one() {
    let part = |amount: &str, requested: &str| {
        let mut answer = changed("amount", json!(amount));
        answer["requestedAmount"] = json!(requested);
        answer
    };
    for (amount, requested, allows_part, expected) in [
        ("50.00", "92.00", true, Some("50.00")),
        ("50.00", "92.00", false, None),
        ("50.00", "91.00", true, None),
        ("92.00", "92.00", true, None),
        ("93.00", "92.00", true, None),
        ("0.00", "92.00", true, None),
    ] {
        let found = judge(&part(amount, requested), false, allows_part);
        let found_part = found.as_ref().ok().and_then(|outcome| outcome.result()?.approved_amount);
        assert_eq!(found_part.map(|part| part.to_string()).as_deref(), expected, "{amount} {requested}: {found:?}");
        assert_eq!(found.is_ok(), expected.is_some(), "{amount} {requested} {allows_part}");
    }
    assert_eq!(judge(&changed("amount", json!("50.00")), false, true), Err(ApiFault::Mismatch("amount")));
}

#[test]
fn a_pending_payment_with_a_page_is_a_redirect() {
    let mut answer = changed("result", json!({ "code": "000.200.000" }));
    assert!(matches!(judge(&answer, false, false), Ok(ConnectorOutcome::Pending(_))));
    answer["redirect"] = json!({
        "url": "https://pay.example/acs", "method": "POST", "parameters": [{ "name": "creq", "value": "abc" }],
        "preconditions": [{ "origin": "iframe#hidden", "url": "https://pay.example/method" }],
    });
    let Ok(ConnectorOutcome::Redirect(_, ShopperPage::Foreign { url, method, parameters })) =
        judge(&answer, false, false)
    else {
        panic!("a redirect")
    };
    assert_eq!((url.as_str(), method.as_str()), ("https://pay.example/acs", "POST"));
    assert_eq!(parameters, [("creq".to_owned(), "abc".to_owned())]);
    answer["redirect"]["url"] = json!("javascript:alert(1)");
    assert_eq!(judge(&answer, false, false), Err(ApiFault::Mismatch("redirect")));
}

#[test]
fn only_a_refusal_of_the_contract_says_that_nothing_was_done() {
    let refused = |code: &str| format!(r#"{{"result":{{"code":"{code}","description":"no"}}}}"#);
    for status in [400, 401, 403, 404, 429] {
        let found = read_payment(&response(status, &refused("800.900.300"))).unwrap_err();
        assert!(matches!(found, CallFailure::NotExecuted(ApiFault::Refused { .. })), "{status}: {found:?}");
        let found = read_payment(&response(status, "<html>")).unwrap_err();
        assert_eq!(found, CallFailure::Unknown(ApiFault::Unreadable(status)));
    }
    for status in [409, 500, 502, 503, 302, 307, 204, 408] {
        let found = read_payment(&response(status, &refused("999.999.999"))).unwrap_err();
        assert!(matches!(found, CallFailure::Unknown(_)), "{status}: {found:?}");
    }
    let reused = r#"{"result":{"code":"200.300.404","parameterErrors":[{"name":"Idempotency-Key","value":null}]}}"#;
    assert_eq!(read_payment(&response(400, reused)).unwrap_err(), CallFailure::Unknown(ApiFault::KeyReused));
    let secret =
        r#"{"result":{"code":"200.300.404","parameterErrors":[{"name":"4200000000000000"},{"name":"card.cvv"}]}}"#;
    let CallFailure::NotExecuted(fault) = read_payment(&response(400, secret)).unwrap_err() else { panic!("refused") };
    assert_eq!(fault.to_string(), "the other gateway refuses the request (HTTP 400, 200.300.404, card.cvv)");
}

#[test]
fn a_query_finds_nothing_only_if_the_gateway_itself_says_so() {
    let none = r#"{"result":{"code":"700.400.580"}}"#;
    assert!(read_payments(&response(404, none)).unwrap().is_empty());
    for (status, body) in [
        (404, "not found"),
        (404, r#"{"result":{"code":"200.300.404"}}"#),
        (200, r#"{"result":{"code":"000.000.100"}}"#),
        (200, r#"{"result":{"code":"999.999.999"},"payments":[]}"#),
        (401, r#"{"result":{"code":"800.900.300"}}"#),
    ] {
        assert!(read_payments(&response(status, body)).is_err(), "{status} {body}");
    }
}

#[test]
fn a_key_is_used_up_only_by_a_checkout_that_was_created() {
    assert_eq!(read_checkout(&response(200, r#"{"id":"X.node","result":{"code":"000.200.100"}}"#)), Ok(()));
    for (status, body) in [
        (200, "{}"),
        (200, r#"{"result":{"code":"000.200.100"}}"#),
        (200, r#"{"id":"X","result":{"code":"000.000.000"}}"#),
        (201, r#"{"id":"X","result":{"code":"000.200.100"}}"#),
        (400, r#"{"id":"X","result":{"code":"000.200.100"}}"#),
    ] {
        assert!(read_checkout(&response(status, body)).is_err(), "{status} {body}");
    }
}

#[test]
fn a_token_is_one_line_of_visible_characters() {
    for text in ["01234567", "01234567\n", "01234567\r\n", &"x".repeat(2048)] {
        assert!(AccessToken::parse(text).is_some(), "{text:?}");
    }
    for text in ["", "0123456", "0123 4567", "01234567\n\n", "01234567ä", &"x".repeat(2049)] {
        assert!(AccessToken::parse(text).is_none(), "{text:?}");
    }
    assert_eq!(format!("{:?}", token()), "AccessToken(****)");
}
