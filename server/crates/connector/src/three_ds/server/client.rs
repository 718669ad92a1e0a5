//! The client of a 3DS server: JSON messages over HTTPS, signed as for an acquirer's host
//! ([`crate::http::signature`]). Every answer is verified; one without a valid signature counts as none.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use axum::http::{HeaderValue, Request, header};
use http_body_util::Full;
use jiff::Timestamp;
use serde::Serialize;
use tillgate_net::shares::Shares;
use tillgate_os::clock::Clock;
use zeroize::Zeroizing;

use super::super::message::{MessageError, MessageOrError, MessageVersion, WireMessage, read_message};
use crate::http::signature::{
    DATE, IDEMPOTENCY_KEY, SIGNATURE, Signature, SignedRequest, format_date, is_recent, is_response_signed_by,
    sign_response,
};
use crate::http::{HostAddress, SharedKey};
use crate::web::client::{HttpsClient, read_response};
use crate::web::{WebFailure, WebFault, WebResponse};

/// Time limit of a connection.
const CONNECT_TIME: Duration = Duration::from_secs(5);
/// Maximum number of concurrent requests.
const MAX_CALLS: usize = 256;
/// Maximum number of concurrent requests of one merchant, so that a slow server leaves a half to the others.
const MERCHANT_CALLS: usize = MAX_CALLS / 2;

/// Fault of an exchange of messages with a 3DS server.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ExchangeFault {
    /// There was no answer in time, the wait for a free place included.
    #[error("no answer of the 3DS server within {0} ms")]
    Late(u128),
    /// There is no connection, or it broke.
    #[error("the connection to the 3DS server failed: {0}")]
    Connection(String),
    /// The request cannot be written.
    #[error("the request to the 3DS server cannot be written: {0}")]
    Request(String),
    /// The answer is too long.
    #[error("the answer of the 3DS server is longer than {0} bytes")]
    TooLong(usize),
    /// The answer has no valid signature.
    #[error("the answer of the 3DS server (HTTP {0}) is not signed for this request: check the key and the clocks")]
    Unsigned(u16),
    /// The answer is not the expected message.
    #[error("the answer of the 3DS server (HTTP {0}) cannot be read: {1}")]
    Message(u16, MessageError),
}

/// A request to a 3DS server.
#[derive(Debug, Clone, Copy)]
pub(super) struct ExchangeRequest<'a, B> {
    /// The merchant, for the limit of concurrent requests.
    pub merchant: &'a str,
    /// The route, with a leading slash. Empty for the address itself.
    pub route: &'a str,
    /// The idempotency key: the transaction id.
    pub key: &'a str,
    /// The body.
    pub body: &'a B,
    /// The version that the answer has to have. `None` for any.
    pub version: Option<MessageVersion>,
    /// Maximum time until the end of the answer.
    pub time_limit: Duration,
}

/// A client of one 3DS server. Its clones share connections and limits.
#[derive(Clone)]
pub struct MessageClient {
    client: HttpsClient,
    address: HostAddress,
    key: SharedKey,
    clock: Arc<dyn Clock>,
    calls: Shares,
}

impl fmt::Debug for MessageClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MessageClient").field("address", &self.address).finish_non_exhaustive()
    }
}

impl MessageClient {
    /// Creates a client of the server at an address. Its connections belong to the current runtime.
    ///
    /// # Errors
    /// If the system's certificates cannot be used, or outside of a runtime.
    pub fn new(address: HostAddress, key: SharedKey, clock: Arc<dyn Clock>) -> std::io::Result<Self> {
        let (client, calls) = (HttpsClient::new(CONNECT_TIME)?, Shares::new(MAX_CALLS, MERCHANT_CALLS));
        Ok(Self { client, address, key, clock, calls })
    }

    /// Returns the same client for another address, with the same key. A directory server sends results to addresses
    /// that requests name.
    #[must_use]
    pub fn with_address(&self, address: HostAddress) -> Self {
        Self { address, ..self.clone() }
    }

    /// Returns the current time by the machine's clock.
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Verifies signature and date of a request that the server has sent to the gateway. Returns the signature, which
    /// the answer's signature covers. `None` if the request is not authentic, or older than five minutes.
    pub fn verify_request(&self, request: &SignedRequest<'_>, signature: &str) -> Option<Signature> {
        let is_authentic = request.is_signed_by(&self.key, signature) && is_recent(request.date, self.clock.now());
        is_authentic.then(|| request.sign(&self.key))
    }

    /// Signs the answer to a verified request.
    pub fn sign_answer(&self, request: &Signature, status: u16, body: &[u8]) -> Signature {
        sign_response(&self.key, request, status, body)
    }

    /// Sends a message once, and reads the answer.
    ///
    /// # Errors
    /// If there is no answer in time, or one that is not signed for this request or not the expected message.
    pub(super) async fn exchange<B: Serialize, A: WireMessage>(
        &self,
        request: ExchangeRequest<'_, B>,
    ) -> Result<MessageOrError<A>, ExchangeFault> {
        let exchange = async {
            let _place = self.calls.take(request.merchant).await;
            let (signature, sent) = self.build_request(&request)?;
            let response = self.client.await_response(sent).await.map_err(exchange_fault)?;
            let response = read_response(response, A::SIZE_LIMIT).await.map_err(exchange_fault)?;
            self.read_answer(&signature, request.version, &response)
        };
        let late = ExchangeFault::Late(request.time_limit.as_millis());
        tokio::time::timeout(request.time_limit, exchange).await.unwrap_or(Err(late))
    }

    fn build_request<B: Serialize>(
        &self,
        request: &ExchangeRequest<'_, B>,
    ) -> Result<(Signature, Request<Full<Bytes>>), ExchangeFault> {
        let fault = |error: &dyn fmt::Display| ExchangeFault::Request(error.to_string());
        let body = Zeroizing::new(serde_json::to_vec(request.body).map_err(|error| fault(&error))?);
        let path = self.address.route_path(request.route);
        let date = format_date(self.clock.now());
        let signed =
            SignedRequest { method: "POST", path: &path, date: &date, idempotency_key: request.key, body: &body };
        let signature = signed.sign(&self.key);
        let uri = self.address.build_uri(&path).ok_or_else(|| fault(&"the address"))?;
        let built = Request::post(uri)
            .header(header::CONTENT_TYPE, HeaderValue::from_static("application/json; charset=utf-8"))
            .header(header::USER_AGENT, HeaderValue::from_static("Tillgate"))
            .header(DATE, &date)
            .header(IDEMPOTENCY_KEY, request.key)
            .header(SIGNATURE, signature.as_str())
            .body(Full::new(Bytes::copy_from_slice(&body)))
            .map_err(|error| fault(&error))?;
        Ok((signature, built))
    }

    /// Verifies the signature of an answer before its content.
    fn read_answer<A: WireMessage>(
        &self,
        request: &Signature,
        version: Option<MessageVersion>,
        response: &WebResponse,
    ) -> Result<MessageOrError<A>, ExchangeFault> {
        let WebResponse { status, headers, body } = response;
        let status = *status;
        let signature = headers.get(SIGNATURE).and_then(|value| value.to_str().ok()).unwrap_or_default();
        if !is_response_signed_by(&self.key, request, status, body, signature) {
            return Err(ExchangeFault::Unsigned(status));
        }
        read_message(body, version).map_err(|error| ExchangeFault::Message(status, error))
    }
}

/// Translates a failed exchange. Whether the request was sent does not matter: an authentication is asked for once.
fn exchange_fault(failure: WebFailure) -> ExchangeFault {
    let (WebFailure::NotSent(fault) | WebFailure::Unanswered(fault)) = failure;
    match fault {
        WebFault::TooLong(limit) => ExchangeFault::TooLong(limit),
        WebFault::Connection(text) | WebFault::Broken(text) | WebFault::Request(text) => {
            ExchangeFault::Connection(text)
        }
        WebFault::Busy(_) | WebFault::Late(_) => ExchangeFault::Connection(fault.to_string()),
    }
}
