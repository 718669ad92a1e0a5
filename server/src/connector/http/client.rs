//! The client of an acquirer's host. It never repeats a request by itself: whoever asks decides, with the same key.

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
use serde::Serialize;
use tokio::sync::Semaphore;
use zeroize::Zeroizing;

use super::address::HostAddress;
use super::answer::{CallFault, CallResult, Expected, RawAnswer, judge};
use super::key::SharedKey;
use super::signature::{DATE, IDEMPOTENCY_KEY, SIGNATURE, Signature, SignedRequest, date_text};
use super::wire::{AuthorizationRequest, BODY_LIMIT, EarlierRequest, HostOperation, ModificationRequest};
use crate::clock::Clock;

/// How long an idle connection is kept. Shorter than a host keeps it, so that requests do not meet its end.
const IDLE: Duration = Duration::from_secs(30);
/// Idle connections to a host.
const IDLE_CONNECTIONS: usize = 64;

/// Requests at once; more wait for one to end. A host that does not answer keeps no more of the process's open files.
const CALLS: usize = 256;

/// Time limits of a call.
#[derive(Debug, Clone, Copy)]
pub struct Deadlines {
    /// From the name's resolution to the end of the TLS handshake.
    pub connect: Duration,
    /// From the start of the call to the answer's head.
    pub head: Duration,
    /// From the start of the call to the end of the answer.
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
    /// The machine's clock, whatever the clock of a sandbox says: the host compares dates with its own.
    clock: Arc<dyn Clock>,
    /// A permit for each request that may be under way.
    calls: Arc<Semaphore>,
}

impl fmt::Debug for HostClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HostClient").field("address", &self.address).field("deadlines", &self.deadlines).finish()
    }
}

impl HostClient {
    /// A client of the host at an address.
    ///
    /// # Errors
    /// If the system's certificates cannot be used.
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
            .pool_idle_timeout(IDLE)
            .pool_max_idle_per_host(IDLE_CONNECTIONS)
            .build(connector);
        Ok(Self { client, address, key, deadlines, clock, calls: Arc::new(Semaphore::new(CALLS)) })
    }

    /// Authorises a payment, or credits an account.
    pub async fn authorize(&self, operation: HostOperation, key: &str, request: &AuthorizationRequest) -> CallResult {
        self.call(&Expected::authorization(operation, key, request), request).await
    }

    /// Captures or refunds.
    pub async fn modify(&self, operation: HostOperation, key: &str, request: &ModificationRequest) -> CallResult {
        self.call(&Expected::modification(operation, key, request), request).await
    }

    /// Undoes an earlier request, also one that the host has not seen: it is then declined when it arrives.
    pub async fn reverse(&self, key: &str, request: &EarlierRequest) -> CallResult {
        self.call(&Expected::earlier(HostOperation::Reverse, key, request), request).await
    }

    /// Asks what became of an earlier request.
    pub async fn inquire(&self, key: &str, request: &EarlierRequest) -> CallResult {
        self.call(&Expected::earlier(HostOperation::Inquire, key, request), request).await
    }

    /// Sends one request, and judges its answer.
    async fn call<T: Serialize>(&self, expected: &Expected<'_>, body: &T) -> CallResult {
        let Ok(Ok(_call)) = tokio::time::timeout(self.deadlines.connect, self.calls.acquire()).await else {
            return CallResult::NotExecuted(CallFault::Busy(CALLS));
        };
        let (signature, request) = match self.request(expected, body) {
            Ok(request) => request,
            Err(fault) => return CallResult::NotExecuted(fault),
        };
        let Deadlines { head, whole, .. } = self.deadlines;
        let exchange = async {
            let late = || CallResult::Unknown(CallFault::Late(head.as_millis()));
            match tokio::time::timeout(head, self.client.request(request)).await {
                Err(_) => late(),
                // No byte of a request is sent before there is a connection.
                Ok(Err(error)) if error.is_connect() => {
                    CallResult::NotExecuted(CallFault::Connection(innermost(&error)))
                }
                Ok(Err(error)) => CallResult::Unknown(CallFault::Broken(innermost(&error))),
                Ok(Ok(response)) => self.read(&signature, expected, response).await,
            }
        };
        let late = CallResult::Unknown(CallFault::Late(whole.as_millis()));
        tokio::time::timeout(whole, exchange).await.unwrap_or(late)
    }

    /// Writes and signs a request.
    fn request<T: Serialize>(
        &self,
        expected: &Expected<'_>,
        body: &T,
    ) -> Result<(Signature, Request<Full<Bytes>>), CallFault> {
        let fault = |error: &dyn fmt::Display| CallFault::Request(error.to_string());
        let body = Zeroizing::new(serde_json::to_vec(body).map_err(|error| fault(&error))?);
        let path = self.address.path(expected.operation.path());
        let date = date_text(self.clock.now());
        let signed = SignedRequest {
            method: "POST",
            path: &path,
            date: &date,
            idempotency_key: expected.idempotency_key,
            body: &body,
        };
        let signature = signed.sign(&self.key);
        let uri = self.address.uri(&path).ok_or_else(|| fault(&"the address"))?;
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

    /// Reads an answer to its end.
    async fn read(&self, request: &Signature, expected: &Expected<'_>, response: Response<Incoming>) -> CallResult {
        let (head, body) = response.into_parts();
        let body = match Limited::new(body, BODY_LIMIT).collect().await {
            Ok(body) => body.to_bytes(),
            Err(error) if error.is::<LengthLimitError>() => return CallResult::Unknown(CallFault::TooLong),
            Err(error) => return CallResult::Unknown(CallFault::Broken(error.to_string())),
        };
        let signature = head.headers.get(SIGNATURE).and_then(|value| value.to_str().ok()).unwrap_or_default();
        judge(&self.key, request, expected, &RawAnswer { status: head.status.as_u16(), signature, body: &body })
    }
}

/// The innermost cause of an error, in its own words.
fn innermost(error: &(dyn std::error::Error + 'static)) -> String {
    let mut innermost = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    innermost.to_string()
}
