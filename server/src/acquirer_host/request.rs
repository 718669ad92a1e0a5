//! Reading of requests: size, signature and date first, then the body.

use std::time::Duration;

use axum::body::Bytes;
use axum::http::{HeaderMap, Method, Request, Uri};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use hyper::body::Incoming;
use serde::de::DeserializeOwned;
use tillgate_shared::money::Currency;

use super::books::PaymentData;
use super::reply::Reply;
use crate::connector::http::SharedKey;
use crate::connector::http::signature::{
    DATE, IDEMPOTENCY_KEY, MAX_DIFFERENCE, SIGNATURE, Signature, SignedRequest, is_idempotency_key, is_recent,
};
use crate::connector::http::wire::{BODY_LIMIT, MAX_AMOUNT, RefusalReason};

/// Time for a body to arrive.
const BODY_TIME: Duration = Duration::from_secs(10);
/// Maximum length of ids in requests, in characters.
const ID_LIMIT: usize = 64;

/// A request whose signature is right. It has no `Debug`: its body may hold a card number.
pub struct VerifiedRequest {
    /// The method.
    pub method: Method,
    /// Path and query.
    pub uri: Uri,
    /// Idempotency key; empty without one.
    pub idempotency_key: String,
    /// The body.
    pub body: Bytes,
    /// Its signature.
    pub signature: Signature,
}

/// The reason why a request is not looked at.
#[derive(Debug)]
pub enum NotVerified {
    /// The connection is closed without an answer.
    Broken,
    /// A refusal that cannot be signed.
    Refused(Reply),
}

/// Reads a request to its end, and verifies its signature.
///
/// # Errors
/// If the request is too long, too slow or not signed.
pub async fn read(request: Request<Incoming>, key: &SharedKey) -> Result<(VerifiedRequest, String), NotVerified> {
    let (head, body) = request.into_parts();
    let limited = Limited::new(body, BODY_LIMIT).collect();
    let body = match tokio::time::timeout(BODY_TIME, limited).await {
        Ok(Ok(body)) => body.to_bytes(),
        Ok(Err(error)) if error.is::<LengthLimitError>() => {
            let message = format!("a body has at most {BODY_LIMIT} bytes");
            return Err(NotVerified::Refused(Reply::refusal(RefusalReason::TooLarge, message)));
        }
        Ok(Err(_)) | Err(_) => return Err(NotVerified::Broken),
    };
    let path = head.uri.path_and_query().map_or("/", |path| path.as_str());
    let date = header(&head.headers, DATE);
    let idempotency_key = header(&head.headers, IDEMPOTENCY_KEY);
    let signed = SignedRequest { method: head.method.as_str(), path, date, idempotency_key, body: &body };
    if !signed.is_signed_by(key, header(&head.headers, SIGNATURE)) {
        let reply = Reply::refusal(RefusalReason::Signature, "the signature is missing or wrong");
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

/// The only value of a header; empty if there is none, or several.
fn header<'a>(headers: &'a HeaderMap, name: &str) -> &'a str {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (Some(value), None) => value.to_str().unwrap_or_default(),
        _ => "",
    }
}

/// Checks the date of a request.
///
/// # Errors
/// A refusal with the permitted difference.
pub fn check_date(date: &str, now: jiff::Timestamp) -> Result<(), Reply> {
    if is_recent(date, now) {
        return Ok(());
    }
    let message = format!(
        "{DATE} has to be within {} seconds of this host's clock, which shows {}",
        MAX_DIFFERENCE.as_secs(),
        now.as_second()
    );
    Err(Reply::refusal(RefusalReason::Date, message))
}

/// Reads a body.
///
/// # Errors
/// A refusal that says what cannot be read. It shows no value of the body.
pub fn parse<T: DeserializeOwned>(request: &VerifiedRequest) -> Result<T, Reply> {
    if !is_idempotency_key(&request.idempotency_key) {
        return Err(malformed(format!(
            "{IDEMPOTENCY_KEY} has 1 to 64 letters, digits, dots, colons, hyphens and underscores"
        )));
    }
    // An error of the parser may quote the value at fault.
    serde_json::from_slice(&request.body).map_err(|error| {
        malformed(format!("the body cannot be read: line {}, column {}", error.line(), error.column()))
    })
}

/// Checks ids, amount and currency of a payment.
///
/// # Errors
/// A refusal that names the value at fault.
pub fn check_payment(payment: &PaymentData) -> Result<(), Reply> {
    let is_id = |id: &str| (1..=ID_LIMIT).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_graphic());
    if !is_id(&payment.merchant_id) || !is_id(&payment.payment_id) {
        return Err(malformed("merchantId and paymentId have 1 to 64 visible characters"));
    }
    if payment.amount > MAX_AMOUNT {
        return Err(malformed(format!("amount is at most {MAX_AMOUNT}")));
    }
    if Currency::parse(&payment.currency).is_none() {
        return Err(malformed("currency has to be an ISO 4217 code in use"));
    }
    Ok(())
}

/// A refusal of a request that cannot be read.
pub fn malformed(message: impl Into<String>) -> Reply {
    Reply::refusal(RefusalReason::Malformed, message)
}
