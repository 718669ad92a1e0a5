//! Verification of responses: a response is valid only if it is signed for its request and repeats the data of the
//! request.

use super::key::SharedKey;
use super::protocol::{HostOperation, HostOutcome, HostRefusal, HostResponse, PaymentData, RefusalReason};
use super::signature::{Signature, is_response_signed_by};
use crate::web::WebFault;

/// Maximum length of the acquirer's ids, in characters.
const ID_LIMIT: usize = 64;

/// The outcome of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallResult {
    /// The host has responded, and the response is verified. Its outcome is never [`HostOutcome::Unknown`].
    Responded(Box<HostResponse>),
    /// The request was not executed and never will be: it was not sent, or the host has refused it.
    NotExecuted(CallFault),
    /// It is unknown whether the host has executed the request or still may: inquire, or reverse it.
    Unknown(CallFault),
}

/// The reason why a call has no verified response.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CallFault {
    /// There is no response.
    #[error(transparent)]
    Web(#[from] WebFault),
    /// The response has no valid signature for this request: check the key, and both clocks.
    #[error(
        "the answer of the acquirer's host (HTTP {0}) is not signed for this request: check the key and the clocks"
    )]
    Unsigned(u16),
    /// The response cannot be read.
    #[error("the answer of the acquirer's host (HTTP {0}) cannot be read")]
    Unreadable(u16),
    /// The response does not repeat the data of the request.
    #[error("the answer of the acquirer's host has another {0} than the request")]
    Mismatch(&'static str),
    /// The host refuses the request.
    #[error("the acquirer's host refuses the request: {}", .0.message)]
    Refused(HostRefusal),
    /// The host does not know the outcome itself.
    #[error("the acquirer's host does not know the outcome (response code {0})")]
    Undecided(String),
}

impl CallFault {
    /// Returns true if the host has answered in a way that asking again does not change. Without such an answer nothing
    /// is known about an earlier request, and the inquiry has to be repeated.
    pub fn is_answer(&self) -> bool {
        match self {
            Self::Web(WebFault::TooLong(_)) => true,
            Self::Web(_) | Self::Unsigned(_) => false,
            Self::Unreadable(_) | Self::Mismatch(_) | Self::Undecided(_) => true,
            // The clocks or the key may be mended, and the host may be available again.
            Self::Refused(refusal) => {
                !matches!(refusal.error, RefusalReason::Unavailable | RefusalReason::Signature | RefusalReason::Date)
            }
        }
    }
}

/// The data that a response has to repeat.
#[derive(Debug, Clone, Copy)]
pub struct ExpectedResponse<'a> {
    /// The operation.
    pub operation: HostOperation,
    /// Idempotency key of the request.
    pub idempotency_key: &'a str,
    /// The payment.
    pub payment: &'a PaymentData,
}

impl ExpectedResponse<'_> {
    /// Returns the name of the first part of a response that does not repeat the request, has a wrong format, or is an
    /// outcome that the operation does not have. `None` if there is no such part.
    fn find_mismatch(&self, response: &HostResponse) -> Option<&'static str> {
        let ids = [&response.connector_tx_id1, &response.connector_tx_id2, &response.connector_tx_id3];
        let is_id =
            |id: &String| !id.is_empty() && id.len() <= ID_LIMIT && id.bytes().all(|byte| byte.is_ascii_graphic());
        let is_letter = |letter: Option<char>| letter.is_none_or(|letter| letter.is_ascii_uppercase());
        let is_inquiry_outcome = matches!(response.outcome, HostOutcome::NotFound | HostOutcome::Reversed);
        let is_redirect = response.outcome == HostOutcome::Redirect;
        // Only an authorization can be redirected or approved in part.
        let is_authorization = matches!(self.operation, HostOperation::Authorize | HostOperation::Inquire);
        // Captures and refunds refer to the acquirer's id. A reversal is never referred to.
        let needs_id = response.outcome == HostOutcome::Approved && self.operation != HostOperation::Reverse;
        let has_required_id = !needs_id || response.connector_tx_id1.is_some();
        let code = &response.response_code;
        let is_part = |part: u64| part > 0 && part < self.payment.amount;
        let allows_part = response.outcome == HostOutcome::Approved && is_authorization;
        let parts = [
            (response.operation == self.operation, "operation"),
            (response.idempotency_key == self.idempotency_key, "idempotencyKey"),
            (response.payment.merchant_id == self.payment.merchant_id, "merchantId"),
            (response.payment.payment_id == self.payment.payment_id, "paymentId"),
            (response.payment.amount == self.payment.amount, "amount"),
            (response.payment.currency == self.payment.currency, "currency"),
            (!is_inquiry_outcome || self.operation == HostOperation::Inquire, "outcome"),
            (!is_redirect || is_authorization, "outcome"),
            (response.approved_amount.is_none_or(|part| allows_part && is_part(part)), "approvedAmount"),
            (ids.into_iter().flatten().all(is_id), "connectorTxId"),
            (has_required_id, "connectorTxId1"),
            ((1..=8).contains(&code.len()) && code.bytes().all(|byte| byte.is_ascii_alphanumeric()), "responseCode"),
            (response.advice_code.as_deref().is_none_or(is_advice_code), "adviceCode"),
            (is_letter(response.avs) && is_letter(response.cvv), "avs or cvv"),
        ];
        parts.into_iter().find(|(is_valid, _)| !is_valid).map(|(_, name)| name)
    }
}

/// Returns true if a text has the form of an advice code.
fn is_advice_code(code: &str) -> bool {
    code.len() == 2 && code.bytes().all(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase())
}

/// A response before its verification.
#[derive(Debug)]
pub(super) struct UnverifiedResponse<'a> {
    pub(super) status: u16,
    /// The header with the signature; empty if there is none.
    pub(super) signature: &'a str,
    pub(super) body: &'a [u8],
}

/// Verifies the response to a request: first the signature, then the status, then the body. The outcome is unknown if
/// the response is not signed for this request, cannot be read, does not match, or says so itself.
pub(super) fn verify_response(
    key: &SharedKey,
    request: &Signature,
    expected: &ExpectedResponse<'_>,
    response: &UnverifiedResponse<'_>,
) -> CallResult {
    let UnverifiedResponse { status, signature, body } = *response;
    if !is_response_signed_by(key, request, status, body, signature) {
        return CallResult::Unknown(CallFault::Unsigned(status));
    }
    if status != 200 {
        return interpret_refusal(status, body);
    }
    let Ok(response) = serde_json::from_slice::<HostResponse>(body) else {
        return CallResult::Unknown(CallFault::Unreadable(status));
    };
    if let Some(part) = expected.find_mismatch(&response) {
        return CallResult::Unknown(CallFault::Mismatch(part));
    }
    if response.outcome == HostOutcome::Unknown {
        return CallResult::Unknown(CallFault::Undecided(response.response_code));
    }
    CallResult::Responded(Box::new(response))
}

/// Interprets a signed response with another status than 200. A request refused for its date, format, route or method
/// was not executed; the outcome of any other is unknown, also if the refusal cannot be read.
fn interpret_refusal(status: u16, body: &[u8]) -> CallResult {
    let Ok(refusal) = serde_json::from_slice::<HostRefusal>(body) else {
        return CallResult::Unknown(CallFault::Unreadable(status));
    };
    let reason = refusal.error;
    let fault = CallFault::Refused(refusal);
    match reason {
        RefusalReason::Date | RefusalReason::Malformed | RefusalReason::Route | RefusalReason::Method => {
            CallResult::NotExecuted(fault)
        }
        // An earlier request with this key may have been executed.
        RefusalReason::KeyReused | RefusalReason::Signature | RefusalReason::TooLarge | RefusalReason::Unavailable => {
            CallResult::Unknown(fault)
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::super::signature::{SignedRequest, sign_response};
    use super::*;

    /// Returns a payment of 92.00 EUR.
    fn sample_payment() -> PaymentData {
        PaymentData {
            merchant_id: "m".to_owned(),
            payment_id: "p".to_owned(),
            amount: 9200,
            currency: "EUR".to_owned(),
        }
    }

    /// Returns the approval of an authorization of the sample payment.
    fn approved_response() -> HostResponse {
        HostResponse {
            operation: HostOperation::Authorize,
            idempotency_key: "key-1".to_owned(),
            payment: sample_payment(),
            outcome: HostOutcome::Approved,
            response_code: "00".to_owned(),
            advice_code: None,
            approved_amount: None,
            avs: Some('F'),
            cvv: None,
            connector_tx_id1: Some("000000000001".to_owned()),
            connector_tx_id2: None,
            connector_tx_id3: None,
            redirect_url: None,
        }
    }

    /// Signs a response to a fixed request, changes its body with `tamper`, and verifies it.
    fn verify_tampered(status: u16, body: &[u8], tamper: impl Fn(&mut Vec<u8>)) -> CallResult {
        let key = SharedKey::new([1; 32]);
        let request =
            SignedRequest { method: "POST", path: "/v1/authorize", date: "1", idempotency_key: "key-1", body: b"" }
                .sign(&key);
        let signature = sign_response(&key, &request, status, body);
        let mut body = body.to_vec();
        tamper(&mut body);
        let payment = sample_payment();
        let (operation, idempotency_key) = (HostOperation::Authorize, "key-1");
        let expected = ExpectedResponse { operation, idempotency_key, payment: &payment };
        verify_response(
            &key,
            &request,
            &expected,
            &UnverifiedResponse { status, signature: signature.as_str(), body: &body },
        )
    }

    fn verify_untampered(response: &HostResponse) -> CallResult {
        verify_tampered(200, &serde_json::to_vec(response).unwrap(), |_| ())
    }

    #[test]
    fn a_signed_answer_about_what_was_asked_counts() {
        assert_eq!(verify_untampered(&approved_response()), CallResult::Responded(Box::new(approved_response())));
        let declined =
            HostResponse { outcome: HostOutcome::Declined, response_code: "51".to_owned(), ..approved_response() };
        assert_eq!(verify_untampered(&declined), CallResult::Responded(Box::new(declined)));
    }

    #[test]
    fn an_answer_about_something_else_is_unknown() {
        let other = |text: &str| text.to_owned();
        let about = |payment| HostResponse { payment, ..approved_response() };
        for (part, response) in [
            ("operation", HostResponse { operation: HostOperation::Credit, ..approved_response() }),
            ("idempotencyKey", HostResponse { idempotency_key: other("key-2"), ..approved_response() }),
            ("merchantId", about(PaymentData { merchant_id: other("n"), ..sample_payment() })),
            ("paymentId", about(PaymentData { payment_id: other("q"), ..sample_payment() })),
            ("amount", about(PaymentData { amount: 9199, ..sample_payment() })),
            ("currency", about(PaymentData { currency: other("USD"), ..sample_payment() })),
            ("outcome", HostResponse { outcome: HostOutcome::NotFound, ..approved_response() }),
            ("outcome", HostResponse { outcome: HostOutcome::Reversed, ..approved_response() }),
            ("adviceCode", HostResponse { advice_code: Some("3".to_owned()), ..approved_response() }),
            ("adviceCode", HostResponse { advice_code: Some("<b".to_owned()), ..approved_response() }),
            ("approvedAmount", HostResponse { approved_amount: Some(0), ..approved_response() }),
            ("approvedAmount", HostResponse { approved_amount: Some(9200), ..approved_response() }),
            ("approvedAmount", HostResponse { approved_amount: Some(u64::MAX), ..approved_response() }),
            (
                "approvedAmount",
                HostResponse { outcome: HostOutcome::Declined, approved_amount: Some(1), ..approved_response() },
            ),
            ("connectorTxId1", HostResponse { connector_tx_id1: None, ..approved_response() }),
            ("connectorTxId", HostResponse { connector_tx_id2: Some(other("a b")), ..approved_response() }),
            ("connectorTxId", HostResponse { connector_tx_id3: Some("x".repeat(65)), ..approved_response() }),
            ("responseCode", HostResponse { response_code: String::new(), ..approved_response() }),
            ("responseCode", HostResponse { response_code: other("<b>"), ..approved_response() }),
            ("avs or cvv", HostResponse { avs: Some('\u{0}'), ..approved_response() }),
        ] {
            assert_eq!(verify_untampered(&response), CallResult::Unknown(CallFault::Mismatch(part)));
        }
        let undecided =
            HostResponse { outcome: HostOutcome::Unknown, response_code: other("68"), ..approved_response() };
        assert_eq!(verify_untampered(&undecided), CallResult::Unknown(CallFault::Undecided(other("68"))));
    }

    #[test]
    fn what_is_not_signed_is_unknown_whatever_it_says() {
        let body = serde_json::to_vec(&approved_response()).unwrap();
        assert_eq!(verify_tampered(200, &body, |body| body.push(b' ')), CallResult::Unknown(CallFault::Unsigned(200)));
        let refused = br#"{"error":"malformed","message":"no"}"#;
        assert_eq!(
            verify_tampered(400, refused, |body| body.push(b' ')),
            CallResult::Unknown(CallFault::Unsigned(400))
        );
    }

    #[test]
    fn an_inquiry_is_repeated_only_while_there_is_no_answer() {
        let refused = |error: &str| {
            let body = format!(r#"{{"error":"{error}","message":"no"}}"#);
            CallFault::Refused(serde_json::from_str(&body).unwrap())
        };
        let text = || "no".to_owned();
        for fault in [
            WebFault::Connection(text()).into(),
            WebFault::Busy(128).into(),
            WebFault::Late(8000).into(),
            WebFault::Broken(text()).into(),
            CallFault::Unsigned(200),
            refused("unavailable"),
            refused("signature"),
            refused("date"),
        ] {
            assert!(!fault.is_answer(), "{fault}");
        }
        for fault in [
            CallFault::Undecided("68".to_owned()),
            CallFault::Mismatch("connectorTxId1"),
            CallFault::Unreadable(500),
            WebFault::TooLong(1).into(),
            refused("keyReused"),
            refused("route"),
        ] {
            assert!(fault.is_answer(), "{fault}");
        }
    }

    #[test]
    fn a_signed_refusal_says_whether_something_was_done() {
        let refusal = |error: &str| format!(r#"{{"error":"{error}","message":"no"}}"#).into_bytes();
        let read_fault = |body: &[u8]| CallFault::Refused(serde_json::from_slice(body).unwrap());
        for (status, error) in [(400, "malformed"), (401, "date"), (404, "route"), (405, "method")] {
            let expected = CallResult::NotExecuted(read_fault(&refusal(error)));
            assert_eq!(verify_tampered(status, &refusal(error), |_| ()), expected);
        }
        for (status, error) in [(409, "keyReused"), (503, "unavailable")] {
            let expected = CallResult::Unknown(read_fault(&refusal(error)));
            assert_eq!(verify_tampered(status, &refusal(error), |_| ()), expected);
        }
        for (status, body) in [(500, &b""[..]), (200, b"{}"), (302, b"<html>"), (204, b"")] {
            assert_eq!(verify_tampered(status, body, |_| ()), CallResult::Unknown(CallFault::Unreadable(status)));
        }
    }
}
