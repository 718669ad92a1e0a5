//! Verification of answers: an answer counts only if it is signed for this very request, and is about what was asked.

use super::key::SharedKey;
use super::signature::{Signature, is_answer_signed_by};
use super::wire::{AuthorizationRequest, EarlierRequest, HostAnswer, HostOperation, HostOutcome, HostRefusal};
use super::wire::{ModificationRequest, RefusalReason};

/// Maximum length of the acquirer's ids, in characters.
const ID_LIMIT: usize = 64;

/// The outcome of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallResult {
    /// The host has answered, and the answer is verified. Its outcome is never [`HostOutcome::Unknown`].
    Answered(HostAnswer),
    /// Nothing was done at the host, and nothing will be: the request was never sent, or the host says that it refused it.
    NotExecuted(CallFault),
    /// It is unknown whether the host has done it, or may yet do it: inquire, or reverse.
    Unknown(CallFault),
}

/// The reason why a call has no verified answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CallFault {
    /// The host cannot be reached.
    #[error("no connection to the acquirer's host: {0}")]
    Connection(String),
    /// The request cannot be written down.
    #[error("the request cannot be written: {0}")]
    Request(String),
    /// Too many requests wait for the host's answers.
    #[error("{0} requests wait for answers of the acquirer's host; this one was not sent")]
    Busy(usize),
    /// A time limit has passed.
    #[error("no answer of the acquirer's host within {0} ms")]
    Late(u128),
    /// The connection broke before the answer was whole.
    #[error("the connection to the acquirer's host broke: {0}")]
    Broken(String),
    /// The answer is too long.
    #[error("the answer of the acquirer's host is longer than {} bytes", super::wire::BODY_LIMIT)]
    TooLong,
    /// The answer is not signed, or not for this request: check the key, and both clocks.
    #[error(
        "the answer of the acquirer's host (HTTP {0}) is not signed for this request: check the key and the clocks"
    )]
    Unsigned(u16),
    /// The answer cannot be read.
    #[error("the answer of the acquirer's host (HTTP {0}) cannot be read")]
    Unreadable(u16),
    /// The answer is about something else than was asked.
    #[error("the answer of the acquirer's host has another {0} than the request")]
    Mismatch(&'static str),
    /// The host refuses the request.
    #[error("the acquirer's host refuses the request: {0}")]
    Refused(String),
    /// The host does not know the outcome itself.
    #[error("the acquirer's host does not know the outcome (response code {0})")]
    Undecided(String),
}

/// What an answer has to repeat.
#[derive(Debug, Clone, Copy)]
pub struct Expected<'a> {
    /// The operation.
    pub operation: HostOperation,
    /// Idempotency key of the request.
    pub idempotency_key: &'a str,
    /// `merchantId`.
    pub merchant_id: &'a str,
    /// `paymentId`.
    pub payment_id: &'a str,
    /// Amount in minor units.
    pub amount: u64,
    /// Currency.
    pub currency: &'a str,
}

impl<'a> Expected<'a> {
    /// Of an authorisation or a credit.
    pub fn authorization(operation: HostOperation, key: &'a str, request: &'a AuthorizationRequest) -> Self {
        Self {
            operation,
            idempotency_key: key,
            merchant_id: &request.merchant_id,
            payment_id: &request.payment_id,
            amount: request.amount,
            currency: &request.currency,
        }
    }

    /// Of a capture or a refund.
    pub fn modification(operation: HostOperation, key: &'a str, request: &'a ModificationRequest) -> Self {
        Self {
            operation,
            idempotency_key: key,
            merchant_id: &request.merchant_id,
            payment_id: &request.payment_id,
            amount: request.amount,
            currency: &request.currency,
        }
    }

    /// Of a reversal or an inquiry.
    pub fn earlier(operation: HostOperation, key: &'a str, request: &'a EarlierRequest) -> Self {
        Self {
            operation,
            idempotency_key: key,
            merchant_id: &request.merchant_id,
            payment_id: &request.payment_id,
            amount: request.amount,
            currency: &request.currency,
        }
    }

    /// The first part of an answer that differs.
    fn difference(&self, answer: &HostAnswer) -> Option<&'static str> {
        let ids = [&answer.connector_tx_id1, &answer.connector_tx_id2, &answer.connector_tx_id3];
        let is_id =
            |id: &String| !id.is_empty() && id.len() <= ID_LIMIT && id.bytes().all(|byte| byte.is_ascii_graphic());
        let is_letter = |letter: Option<char>| letter.is_none_or(|letter| letter.is_ascii_uppercase());
        let of_inquiry = matches!(answer.outcome, HostOutcome::NotFound | HostOutcome::Reversed);
        let code = &answer.response_code;
        let parts = [
            (answer.operation == self.operation, "operation"),
            (answer.idempotency_key == self.idempotency_key, "idempotencyKey"),
            (answer.merchant_id == self.merchant_id, "merchantId"),
            (answer.payment_id == self.payment_id, "paymentId"),
            (answer.amount == self.amount, "amount"),
            (answer.currency == self.currency, "currency"),
            (!of_inquiry || self.operation == HostOperation::Inquire, "outcome"),
            (ids.into_iter().flatten().all(is_id), "connectorTxId"),
            ((1..=8).contains(&code.len()) && code.bytes().all(|byte| byte.is_ascii_alphanumeric()), "responseCode"),
            (is_letter(answer.avs) && is_letter(answer.cvv), "avs or cvv"),
        ];
        parts.into_iter().find(|(same, _)| !same).map(|(_, name)| name)
    }
}

/// An answer as it came.
#[derive(Debug)]
pub(super) struct RawAnswer<'a> {
    pub(super) status: u16,
    /// The header with the signature; empty without one.
    pub(super) signature: &'a str,
    pub(super) body: &'a [u8],
}

/// Judges an answer to a request.
pub(super) fn judge(
    key: &SharedKey,
    request: &Signature,
    expected: &Expected<'_>,
    answer: &RawAnswer<'_>,
) -> CallResult {
    let RawAnswer { status, signature, body } = *answer;
    if !is_answer_signed_by(key, request, status, body, signature) {
        return CallResult::Unknown(CallFault::Unsigned(status));
    }
    if status != 200 {
        return refusal(status, body);
    }
    let Ok(answer) = serde_json::from_slice::<HostAnswer>(body) else {
        return CallResult::Unknown(CallFault::Unreadable(status));
    };
    if let Some(part) = expected.difference(&answer) {
        return CallResult::Unknown(CallFault::Mismatch(part));
    }
    if answer.outcome == HostOutcome::Unknown {
        return CallResult::Unknown(CallFault::Undecided(answer.response_code));
    }
    CallResult::Answered(answer)
}

/// Judges a signed answer that is no decision.
fn refusal(status: u16, body: &[u8]) -> CallResult {
    let Ok(refusal) = serde_json::from_slice::<HostRefusal>(body) else {
        return CallResult::Unknown(CallFault::Unreadable(status));
    };
    let fault = CallFault::Refused(refusal.message);
    match refusal.error {
        RefusalReason::Date | RefusalReason::Malformed | RefusalReason::Route | RefusalReason::Method => {
            CallResult::NotExecuted(fault)
        }
        // Another request of this key may have been carried out.
        RefusalReason::KeyReused | RefusalReason::Signature | RefusalReason::TooLarge | RefusalReason::Unavailable => {
            CallResult::Unknown(fault)
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::super::signature::{SignedRequest, sign_answer};
    use super::*;

    const EXPECTED: Expected<'_> = Expected {
        operation: HostOperation::Authorize,
        idempotency_key: "key-1",
        merchant_id: "m",
        payment_id: "p",
        amount: 9200,
        currency: "EUR",
    };

    fn approval() -> HostAnswer {
        HostAnswer {
            operation: HostOperation::Authorize,
            idempotency_key: "key-1".to_owned(),
            merchant_id: "m".to_owned(),
            payment_id: "p".to_owned(),
            amount: 9200,
            currency: "EUR".to_owned(),
            outcome: HostOutcome::Approved,
            response_code: "00".to_owned(),
            avs: Some('F'),
            cvv: None,
            connector_tx_id1: Some("000000000001".to_owned()),
            connector_tx_id2: None,
            connector_tx_id3: None,
        }
    }

    fn judged(status: u16, body: &[u8], tamper: impl Fn(&mut Vec<u8>)) -> CallResult {
        let key = SharedKey::new([1; 32]);
        let request =
            SignedRequest { method: "POST", path: "/v1/authorize", date: "1", idempotency_key: "key-1", body: b"" }
                .sign(&key);
        let signature = sign_answer(&key, &request, status, body);
        let mut body = body.to_vec();
        tamper(&mut body);
        judge(&key, &request, &EXPECTED, &RawAnswer { status, signature: signature.as_str(), body: &body })
    }

    fn judged_answer(answer: &HostAnswer) -> CallResult {
        judged(200, &serde_json::to_vec(answer).unwrap(), |_| ())
    }

    #[test]
    fn a_signed_answer_about_what_was_asked_counts() {
        assert_eq!(judged_answer(&approval()), CallResult::Answered(approval()));
        let declined = HostAnswer { outcome: HostOutcome::Declined, response_code: "51".to_owned(), ..approval() };
        assert_eq!(judged_answer(&declined), CallResult::Answered(declined));
    }

    #[test]
    fn an_answer_about_something_else_is_unknown() {
        let other = |text: &str| text.to_owned();
        for (part, answer) in [
            ("operation", HostAnswer { operation: HostOperation::Credit, ..approval() }),
            ("idempotencyKey", HostAnswer { idempotency_key: other("key-2"), ..approval() }),
            ("merchantId", HostAnswer { merchant_id: other("n"), ..approval() }),
            ("paymentId", HostAnswer { payment_id: other("q"), ..approval() }),
            ("amount", HostAnswer { amount: 9199, ..approval() }),
            ("currency", HostAnswer { currency: other("USD"), ..approval() }),
            ("outcome", HostAnswer { outcome: HostOutcome::NotFound, ..approval() }),
            ("outcome", HostAnswer { outcome: HostOutcome::Reversed, ..approval() }),
            ("connectorTxId", HostAnswer { connector_tx_id2: Some(other("a b")), ..approval() }),
            ("connectorTxId", HostAnswer { connector_tx_id3: Some("x".repeat(65)), ..approval() }),
            ("responseCode", HostAnswer { response_code: String::new(), ..approval() }),
            ("responseCode", HostAnswer { response_code: other("<b>"), ..approval() }),
            ("avs or cvv", HostAnswer { avs: Some('\u{0}'), ..approval() }),
        ] {
            assert_eq!(judged_answer(&answer), CallResult::Unknown(CallFault::Mismatch(part)));
        }
        let undecided = HostAnswer { outcome: HostOutcome::Unknown, response_code: other("68"), ..approval() };
        assert_eq!(judged_answer(&undecided), CallResult::Unknown(CallFault::Undecided(other("68"))));
    }

    #[test]
    fn what_is_not_signed_is_unknown_whatever_it_says() {
        let body = serde_json::to_vec(&approval()).unwrap();
        assert_eq!(judged(200, &body, |body| body.push(b' ')), CallResult::Unknown(CallFault::Unsigned(200)));
        let refused = br#"{"error":"malformed","message":"no"}"#;
        assert_eq!(judged(400, refused, |body| body.push(b' ')), CallResult::Unknown(CallFault::Unsigned(400)));
    }

    #[test]
    fn a_signed_refusal_says_whether_something_was_done() {
        let refusal = |error: &str| format!(r#"{{"error":"{error}","message":"no"}}"#).into_bytes();
        for (status, error) in [(400, "malformed"), (401, "date"), (404, "route"), (405, "method")] {
            let expected = CallResult::NotExecuted(CallFault::Refused("no".to_owned()));
            assert_eq!(judged(status, &refusal(error), |_| ()), expected);
        }
        for (status, error) in [(409, "keyReused"), (503, "unavailable")] {
            let expected = CallResult::Unknown(CallFault::Refused("no".to_owned()));
            assert_eq!(judged(status, &refusal(error), |_| ()), expected);
        }
        for (status, body) in [(500, &b""[..]), (200, b"{}"), (302, b"<html>"), (204, b"")] {
            assert_eq!(judged(status, body, |_| ()), CallResult::Unknown(CallFault::Unreadable(status)));
        }
    }
}
