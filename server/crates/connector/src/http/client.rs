//! The client of an acquirer's host. It never repeats a request: the caller decides about that, with the same
//! idempotency key.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use axum::http::{HeaderValue, Request, Response, header};
use http_body_util::{BodyExt as _, Full, LengthLimitError, Limited};
use hyper::body::Incoming;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use jiff::Timestamp;
use serde::Serialize;
use tillgate_net::shares::Shares;
use tillgate_os::clock::Clock;
use tokio::runtime::Handle;
use tokio::task::JoinSet;
use zeroize::Zeroizing;

use super::address::HostAddress;
use super::key::SharedKey;
use super::protocol::{
    AuthorizationRequest, BODY_LIMIT, EarlierRequest, HostOperation, ModificationRequest, PaymentData,
};
use super::response::{CallFault, CallResult, ExpectedResponse, UnverifiedResponse, verify_response};
use super::signature::{DATE, IDEMPOTENCY_KEY, SIGNATURE, Signature, SignedRequest, format_date};

/// Maximum time for which an idle connection is kept. Shorter than the host's limit, so that no request uses a
/// connection that the host is closing.
const MAX_IDLE_TIME: Duration = Duration::from_secs(30);
/// Maximum number of idle connections to a host.
const IDLE_CONNECTIONS: usize = 64;

/// Maximum number of concurrent requests; further requests wait. This limits the open files that a host without
/// responses can occupy.
const MAX_CONCURRENT_CALLS: usize = 256;
/// Maximum number of concurrent requests about one merchant's payments. A host that is silent about these payments
/// leaves half of the requests to the other merchants.
const MERCHANT_CALLS: usize = MAX_CONCURRENT_CALLS / 2;

/// Time limits of a call.
#[derive(Debug, Clone, Copy)]
pub struct Deadlines {
    /// From the resolution of the name to the end of the TLS handshake.
    pub connect: Duration,
    /// From the start of the call to the end of the response's head.
    pub head: Duration,
    /// From the start of the call to the end of the response.
    pub whole: Duration,
}

impl Default for Deadlines {
    fn default() -> Self {
        Self { connect: Duration::from_secs(5), head: Duration::from_secs(15), whole: Duration::from_secs(20) }
    }
}

/// A client of one host. Its clones share connections and limits.
#[derive(Clone)]
pub struct HostClient {
    client: Client<HttpsConnector<HttpConnector>, Full<Bytes>>,
    address: HostAddress,
    key: SharedKey,
    deadlines: Deadlines,
    /// The machine's clock, not that of a sandbox: the host compares dates with its own clock.
    clock: Arc<dyn Clock>,
    /// Limits the concurrent requests, all and those of each merchant.
    calls: Shares,
    /// The runtime that drives the connections. Requests of all runtimes share them, so none may belong to one of low
    /// priority.
    runtime: Handle,
}

impl fmt::Debug for HostClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HostClient").field("address", &self.address).field("deadlines", &self.deadlines).finish()
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
        let mut connector = HttpConnector::new();
        connector.enforce_http(false);
        connector.set_nodelay(true);
        connector.set_connect_timeout(Some(deadlines.connect));
        let connector = HttpsConnectorBuilder::new()
            .with_provider_and_platform_verifier(rustls::crypto::ring::default_provider())?
            .https_or_http()
            .enable_http1()
            .wrap_connector(connector);
        let client = Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(MAX_IDLE_TIME)
            .pool_max_idle_per_host(IDLE_CONNECTIONS)
            .build(connector);
        let runtime = Handle::try_current().map_err(std::io::Error::other)?;
        let calls = Shares::new(MAX_CONCURRENT_CALLS, MERCHANT_CALLS);
        Ok(Self { client, address, key, deadlines, clock, calls, runtime })
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
        let place = self.calls.take(&expected.payment.merchant_id);
        let Ok(_place) = tokio::time::timeout(self.deadlines.connect, place).await else {
            return CallResult::NotExecuted(CallFault::Busy(self.calls.share()));
        };
        let (signature, request) = match self.build_request(expected, body) {
            Ok(request) => request,
            Err(fault) => return CallResult::NotExecuted(fault),
        };
        let Deadlines { head, whole, .. } = self.deadlines;
        let exchange = async {
            match tokio::time::timeout(head, self.await_response(request)).await {
                Err(_) => CallResult::Unknown(CallFault::Late(head.as_millis())),
                Ok(Err(failed)) => failed,
                Ok(Ok(response)) => self.read_response(&signature, expected, response).await,
            }
        };
        let late = CallResult::Unknown(CallFault::Late(whole.as_millis()));
        tokio::time::timeout(whole, exchange).await.unwrap_or(late)
    }

    /// Sends a request in the runtime of the connections, and waits for the head of its response.
    ///
    /// # Errors
    /// The result of a call without a response: not executed without a connection, otherwise unknown.
    async fn await_response(&self, request: Request<Full<Bytes>>) -> Result<Response<Incoming>, CallResult> {
        // The set drops the request together with itself.
        let mut task = JoinSet::new();
        task.spawn_on(self.client.request(request), &self.runtime);
        match task.join_next().await {
            Some(Ok(Ok(response))) => Ok(response),
            // No byte of a request is sent before the connection is established.
            Some(Ok(Err(error))) if error.is_connect() => {
                Err(CallResult::NotExecuted(CallFault::Connection(innermost_cause(&error))))
            }
            Some(Ok(Err(error))) => Err(CallResult::Unknown(CallFault::Broken(innermost_cause(&error)))),
            Some(Err(_)) | None => Err(CallResult::Unknown(CallFault::Broken("this process stops".to_owned()))),
        }
    }

    /// Builds a `POST` with the current date, and signs it. Returns the signature too, which the response's signature
    /// covers.
    ///
    /// # Errors
    /// [`CallFault::Request`] if a part of the request is not valid.
    fn build_request<T: Serialize>(
        &self,
        expected: &ExpectedResponse<'_>,
        body: &T,
    ) -> Result<(Signature, Request<Full<Bytes>>), CallFault> {
        let fault = |error: &dyn fmt::Display| CallFault::Request(error.to_string());
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

    /// Reads a response to its end, and verifies it. The outcome is unknown if the response is too long, or the
    /// connection breaks.
    async fn read_response(
        &self,
        request: &Signature,
        expected: &ExpectedResponse<'_>,
        response: Response<Incoming>,
    ) -> CallResult {
        let (head, body) = response.into_parts();
        let body = match Limited::new(body, BODY_LIMIT).collect().await {
            Ok(body) => body.to_bytes(),
            Err(error) if error.is::<LengthLimitError>() => return CallResult::Unknown(CallFault::TooLong),
            Err(error) => return CallResult::Unknown(CallFault::Broken(error.to_string())),
        };
        let signature = head.headers.get(SIGNATURE).and_then(|value| value.to_str().ok()).unwrap_or_default();
        verify_response(
            &self.key,
            request,
            expected,
            &UnverifiedResponse { status: head.status.as_u16(), signature, body: &body },
        )
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

/// Returns the message of an error's innermost cause.
fn innermost_cause(error: &(dyn std::error::Error + 'static)) -> String {
    let mut innermost = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    innermost.to_string()
}
