//! Reads requests: first size and signature, then date and body.

use std::time::Duration;

use axum::body::Bytes;
use axum::http::{HeaderMap, Method, Request, Uri};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use hyper::body::Incoming;
use serde::de::DeserializeOwned;
use tillgate_connector::http::SharedKey;
use tillgate_connector::http::protocol::{BODY_LIMIT, MAX_AMOUNT, PaymentData, RefusalReason};
use tillgate_connector::http::signature::{
    DATE, IDEMPOTENCY_KEY, MAX_DIFFERENCE, SIGNATURE, Signature, SignedRequest, is_idempotency_key, is_recent,
};
use tillgate_shared::money::Currency;

use super::reply::UnsignedReply;

/// Maximum time for a body to arrive.
const BODY_TIME: Duration = Duration::from_secs(10);
/// Maximum length of ids in requests, in characters.
const ID_LIMIT: usize = 64;

/// A request with a valid signature. Has no `Debug`, because its body may contain a card number.
pub struct VerifiedRequest {
    /// The method.
    pub method: Method,
    /// Path and query.
    pub uri: Uri,
    /// Idempotency key; empty if there is none.
    pub idempotency_key: String,
    /// The body.
    pub body: Bytes,
    /// The signature.
    pub signature: Signature,
}

/// The reason why a request is not processed.
#[derive(Debug)]
pub enum NotVerified {
    /// The connection is closed without a response.
    Broken,
    /// A refusal that cannot be signed.
    Refused(UnsignedReply),
}

/// Reads a request to its end, and verifies its signature. Returns it with the value of its date header, which the
/// caller has to check.
///
/// # Errors
/// [`NotVerified::Broken`] if the body does not arrive within 10 seconds, or the connection breaks. A refusal if the
/// body is too long, or the signature is missing or wrong.
pub async fn read_request(
    request: Request<Incoming>,
    key: &SharedKey,
) -> Result<(VerifiedRequest, String), NotVerified> {
    let (head, body) = request.into_parts();
    let limited = Limited::new(body, BODY_LIMIT).collect();
    let body = match tokio::time::timeout(BODY_TIME, limited).await {
        Ok(Ok(body)) => body.to_bytes(),
        Ok(Err(error)) if error.is::<LengthLimitError>() => {
            let message = format!("a body has at most {BODY_LIMIT} bytes");
            return Err(NotVerified::Refused(UnsignedReply::refusal(RefusalReason::TooLarge, message)));
        }
        Ok(Err(_)) | Err(_) => return Err(NotVerified::Broken),
    };
    let path = head.uri.path_and_query().map_or("/", |path| path.as_str());
    let date = header_value(&head.headers, DATE);
    let idempotency_key = header_value(&head.headers, IDEMPOTENCY_KEY);
    let signed = SignedRequest { method: head.method.as_str(), path, date, idempotency_key, body: &body };
    if !signed.is_signed_by(key, header_value(&head.headers, SIGNATURE)) {
        let reply = UnsignedReply::refusal(RefusalReason::Signature, "the signature is missing or wrong");
        return Err(NotVerified::Refused(reply));
    }
    let request = VerifiedRequest {
        signature: signed.sign(key),
        idempotency_key: idempotency_key.to_owned(),
        method: head.method,
        uri: head.uri.clone(),
        body,
    };
    Ok((request, date.to_owned()))
}

/// Returns the only value of a header. Returns an empty text if there is none, several, or one that is not visible
/// ASCII.
fn header_value<'a>(headers: &'a HeaderMap, name: &str) -> &'a str {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (Some(value), None) => value.to_str().unwrap_or_default(),
        _ => "",
    }
}

/// Checks that the date of a request is close to the host's time.
///
/// # Errors
/// A refusal with the permitted difference.
pub fn check_date(date: &str, now: jiff::Timestamp) -> Result<(), UnsignedReply> {
    if is_recent(date, now) {
        return Ok(());
    }
    let message = format!(
        "{DATE} has to be within {} seconds of this host's clock, which shows {}",
        MAX_DIFFERENCE.as_secs(),
        now.as_second()
    );
    Err(UnsignedReply::refusal(RefusalReason::Date, message))
}

/// Checks the format of the idempotency key, and parses the JSON body.
///
/// # Errors
/// A refusal that names the key's format, or the place of the error in the body. It shows no value of the body.
pub fn parse_body<T: DeserializeOwned>(request: &VerifiedRequest) -> Result<T, UnsignedReply> {
    if !is_idempotency_key(&request.idempotency_key) {
        return Err(malformed_refusal(format!(
            "{IDEMPOTENCY_KEY} has 1 to 64 letters, digits, dots, colons, hyphens and underscores"
        )));
    }
    // The parser's own message may quote a secret value.
    serde_json::from_slice(&request.body).map_err(|error| {
        malformed_refusal(format!("the body cannot be read: line {}, column {}", error.line(), error.column()))
    })
}

/// Checks ids, amount and currency of a payment. An amount of zero passes.
///
/// # Errors
/// A refusal that names the value at fault.
pub fn check_payment(payment: &PaymentData) -> Result<(), UnsignedReply> {
    let is_id = |id: &str| (1..=ID_LIMIT).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_graphic());
    if !is_id(&payment.merchant_id) || !is_id(&payment.payment_id) {
        return Err(malformed_refusal("merchantId and paymentId have 1 to 64 visible characters"));
    }
    if payment.amount > MAX_AMOUNT {
        return Err(malformed_refusal(format!("amount is at most {MAX_AMOUNT}")));
    }
    if Currency::parse(&payment.currency).is_none() {
        return Err(malformed_refusal("currency has to be an ISO 4217 code in use"));
    }
    Ok(())
}

/// Makes the refusal of a request that cannot be read.
pub fn malformed_refusal(message: impl Into<String>) -> UnsignedReply {
    UnsignedReply::refusal(RefusalReason::Malformed, message)
}
