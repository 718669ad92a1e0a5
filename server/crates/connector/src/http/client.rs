//! The client of an acquirer's host. It never repeats a request: the caller decides about that, with the same
//! idempotency key.

use std::fmt;
use std::sync::Arc;

use axum::body::Bytes;
use axum::http::{HeaderValue, Request, header};
use http_body_util::Full;
use jiff::Timestamp;
use serde::Serialize;
use tillgate_os::clock::Clock;
use zeroize::Zeroizing;

use super::key::SharedKey;
use super::protocol::{
    AuthorizationRequest, BODY_LIMIT, EarlierRequest, HostOperation, ModificationRequest, PaymentData,
};
use super::response::{CallResult, ExpectedResponse, UnverifiedResponse, verify_response};
use super::signature::{DATE, IDEMPOTENCY_KEY, SIGNATURE, Signature, SignedRequest, format_date};
use crate::web::{Deadlines, HostAddress, WebClient, WebFailure, WebFault, WebResponse};

/// A client of one host. Its clones share connections and limits.
#[derive(Clone)]
pub struct HostClient {
    client: WebClient,
    address: HostAddress,
    key: SharedKey,
    /// The machine's clock, not that of a sandbox: the host compares dates with its own clock.
    clock: Arc<dyn Clock>,
}

impl fmt::Debug for HostClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HostClient").field("address", &self.address).field("client", &self.client).finish()
    }
}

impl HostClient {
    /// Creates a client of the host at an address. Its connections belong to the current runtime.
    ///
    /// # Errors
    /// If the system's certificates cannot be used, or outside of a runtime.
    pub fn new(
        address: HostAddress,
        key: SharedKey,
        deadlines: Deadlines,
        clock: Arc<dyn Clock>,
    ) -> std::io::Result<Self> {
        Ok(Self { client: WebClient::new(deadlines, BODY_LIMIT)?, address, key, clock })
    }

    /// Returns the current time by the machine's clock.
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Authorizes or debits a payment ([`HostOperation::Authorize`]), or credits an account
    /// ([`HostOperation::Credit`]). `key` is the idempotency key, here and below.
    pub async fn authorize(&self, operation: HostOperation, key: &str, request: &AuthorizationRequest) -> CallResult {
        self.send_request(&expected_response(operation, key, &request.payment), request).await
    }

    /// Captures, raises or refunds a payment.
    pub async fn modify(&self, operation: HostOperation, key: &str, request: &ModificationRequest) -> CallResult {
        self.send_request(&expected_response(operation, key, &request.payment), request).await
    }

    /// Reverses an earlier request. If the host has not received it yet, the host declines it when it arrives.
    pub async fn reverse(&self, key: &str, request: &EarlierRequest) -> CallResult {
        self.send_request(&expected_response(HostOperation::Reverse, key, &request.payment), request).await
    }

    /// Asks for the outcome of an earlier request.
    pub async fn inquire(&self, key: &str, request: &EarlierRequest) -> CallResult {
        self.send_request(&expected_response(HostOperation::Inquire, key, &request.payment), request).await
    }

    /// Sends a request once, and verifies its response. A request counts as not executed if no place is free during
    /// the limit `connect`, if it cannot be built, or without a connection; as unknown if a time limit passes
    /// later or the connection breaks.
    async fn send_request<T: Serialize>(&self, expected: &ExpectedResponse<'_>, body: &T) -> CallResult {
        let place = match self.client.take_place(&expected.payment.merchant_id).await {
            Ok(place) => place,
            Err(fault) => return CallResult::NotExecuted(fault.into()),
        };
        // Built after the wait, because the host accepts a recent date only.
        let (signature, request) = match self.build_request(expected, body) {
            Ok(request) => request,
            Err(fault) => return CallResult::NotExecuted(fault.into()),
        };
        match self.client.send(place, request).await {
            Ok(response) => self.verify(&signature, expected, &response),
            Err(WebFailure::NotSent(fault)) => CallResult::NotExecuted(fault.into()),
            Err(WebFailure::Unanswered(fault)) => CallResult::Unknown(fault.into()),
        }
    }

    /// Builds a `POST` with the current date, and signs it. Returns the signature too, which the response's signature
    /// covers.
    ///
    /// # Errors
    /// [`WebFault::Request`] if a part of the request is not valid.
    fn build_request<T: Serialize>(
        &self,
        expected: &ExpectedResponse<'_>,
        body: &T,
    ) -> Result<(Signature, Request<Full<Bytes>>), WebFault> {
        let fault = |error: &dyn fmt::Display| WebFault::Request(error.to_string());
        let body = Zeroizing::new(serde_json::to_vec(body).map_err(|error| fault(&error))?);
        let path = self.address.route_path(expected.operation.path());
        let date = format_date(self.clock.now());
        let signed = SignedRequest {
            method: "POST",
            path: &path,
            date: &date,
            idempotency_key: expected.idempotency_key,
            body: &body,
        };
        let signature = signed.sign(&self.key);
        let uri = self.address.build_uri(&path).ok_or_else(|| fault(&"the address"))?;
        let request = Request::post(uri)
            .header(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))
            .header(header::USER_AGENT, HeaderValue::from_static("Tillgate"))
            .header(DATE, &date)
            .header(IDEMPOTENCY_KEY, expected.idempotency_key)
            .header(SIGNATURE, signature.as_str())
            .body(Full::new(Bytes::copy_from_slice(&body)))
            .map_err(|error| fault(&error))?;
        Ok((signature, request))
    }

    /// Verifies a response to the request with this signature.
    fn verify(&self, request: &Signature, expected: &ExpectedResponse<'_>, response: &WebResponse) -> CallResult {
        let signature = response.headers.get(SIGNATURE).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let response = UnverifiedResponse { status: response.status, signature, body: &response.body };
        verify_response(&self.key, request, expected, &response)
    }
}
/// Returns the data that the response to a request has to repeat.
fn expected_response<'a>(
    operation: HostOperation,
    idempotency_key: &'a str,
    payment: &'a PaymentData,
) -> ExpectedResponse<'a> {
    ExpectedResponse { operation, idempotency_key, payment }
}
