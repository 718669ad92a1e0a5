//! An HTTP client of one acquirer. It never repeats a request and follows no redirect: the caller decides what a
//! missing answer means, and card data go to no other address than the configured one.

use std::fmt;
use std::time::Duration;

use axum::body::Bytes;
use axum::http::{HeaderMap, Request, Response};
use http_body_util::{BodyExt as _, Full, LengthLimitError, Limited};
use hyper::body::Incoming;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use tillgate_net::shares::{Place, Shares};
use tokio::runtime::Handle;
use tokio::task::JoinSet;

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

impl Deadlines {
    /// Returns the deadlines for an answer within `head`: at most as long to connect as by default, and the usual
    /// margin after the head for the whole answer.
    #[must_use]
    pub fn for_answer_within(head: Duration) -> Self {
        let default = Self::default();
        Self { connect: default.connect.min(head), head, whole: head + (default.whole - default.head) }
    }
}

/// The reason why a call has no response.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WebFault {
    /// The host cannot be reached.
    #[error("no connection to the acquirer's host: {0}")]
    Connection(String),
    /// The request cannot be built.
    #[error("the request cannot be written: {0}")]
    Request(String),
    /// Too many requests await responses of the host: all together, or those of one merchant, whose limit this is.
    #[error(
        "too many requests wait for answers of the acquirer's host ({0} of a merchant at most); this one was not sent"
    )]
    Busy(usize),
    /// A time limit has passed.
    #[error("no answer of the acquirer's host within {0} ms")]
    Late(u128),
    /// The connection broke before the end of the response.
    #[error("the connection to the acquirer's host broke: {0}")]
    Broken(String),
    /// The response is longer than the limit, in bytes.
    #[error("the answer of the acquirer's host is longer than {0} bytes")]
    TooLong(usize),
}

/// A call without a response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WebFailure {
    /// No byte of the request was sent.
    NotSent(WebFault),
    /// The request may have arrived.
    Unanswered(WebFault),
}

/// A response, read to its end.
#[derive(Debug)]
pub struct WebResponse {
    /// The HTTP status.
    pub status: u16,
    /// The headers.
    pub headers: HeaderMap,
    /// The body.
    pub body: Bytes,
}

/// A client over HTTPS, or over HTTP on this machine, without limits of its own but that of a new connection. Its
/// clones share connections.
#[derive(Clone)]
pub(crate) struct HttpsClient {
    client: Client<HttpsConnector<HttpConnector>, Full<Bytes>>,
    /// The runtime that drives the connections. Requests of all runtimes share them, so none may belong to one of low
    /// priority.
    runtime: Handle,
}

/// A client of one host. Its clones share connections and limits.
#[derive(Clone)]
pub struct WebClient {
    client: HttpsClient,
    deadlines: Deadlines,
    /// Maximum size of the body of a response, in bytes.
    body_limit: usize,
    /// Limits the concurrent requests, all and those of each merchant.
    calls: Shares,
}

impl fmt::Debug for WebClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WebClient").field("deadlines", &self.deadlines).field("body_limit", &self.body_limit).finish()
    }
}

impl WebClient {
    /// Creates a client that reads responses of at most `body_limit` bytes. Its connections belong to the current
    /// runtime.
    ///
    /// # Errors
    /// If the system's certificates cannot be used, or outside of a runtime.
    pub fn new(deadlines: Deadlines, body_limit: usize) -> std::io::Result<Self> {
        let calls = Shares::new(MAX_CONCURRENT_CALLS, MERCHANT_CALLS);
        Ok(Self { client: HttpsClient::new(deadlines.connect)?, deadlines, body_limit, calls })
    }

    /// Takes a place for a request about a merchant's payment, and waits for one at most for the limit `connect`.
    ///
    /// # Errors
    /// [`WebFault::Busy`] if no place is free in time.
    pub async fn take_place(&self, merchant: &str) -> Result<Place, WebFault> {
        let place = tokio::time::timeout(self.deadlines.connect, self.calls.take(merchant)).await;
        place.map_err(|_| WebFault::Busy(self.calls.share()))
    }

    /// Sends a request once, and reads its response to the end. The place is free again afterwards.
    ///
    /// # Errors
    /// Not sent without a connection; unanswered if a time limit passes later, the connection breaks, or the response
    /// is too long.
    pub async fn send(&self, _place: Place, request: Request<Full<Bytes>>) -> Result<WebResponse, WebFailure> {
        let Deadlines { head, whole, .. } = self.deadlines;
        let exchange = async {
            match tokio::time::timeout(head, self.client.await_response(request)).await {
                Err(_) => Err(WebFailure::Unanswered(WebFault::Late(head.as_millis()))),
                Ok(response) => read_response(response?, self.body_limit).await,
            }
        };
        let late = Err(WebFailure::Unanswered(WebFault::Late(whole.as_millis())));
        tokio::time::timeout(whole, exchange).await.unwrap_or(late)
    }
}

impl HttpsClient {
    /// Creates a client with this time limit of a new connection. Its connections belong to the current runtime.
    ///
    /// # Errors
    /// If the system's certificates cannot be used, or outside of a runtime.
    pub(crate) fn new(connect: Duration) -> std::io::Result<Self> {
        let mut connector = HttpConnector::new();
        connector.enforce_http(false);
        connector.set_nodelay(true);
        connector.set_connect_timeout(Some(connect));
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
        Ok(Self { client, runtime: Handle::try_current().map_err(std::io::Error::other)? })
    }

    /// Sends a request in the runtime of the connections, and waits for the head of its response.
    pub(crate) async fn await_response(&self, request: Request<Full<Bytes>>) -> Result<Response<Incoming>, WebFailure> {
        // The set drops the request together with itself.
        let mut task = JoinSet::new();
        task.spawn_on(self.client.request(request), &self.runtime);
        match task.join_next().await {
            Some(Ok(Ok(response))) => Ok(response),
            // No byte of a request is sent before the connection is established.
            Some(Ok(Err(error))) if error.is_connect() => {
                Err(WebFailure::NotSent(WebFault::Connection(innermost_cause(&error))))
            }
            Some(Ok(Err(error))) => Err(WebFailure::Unanswered(WebFault::Broken(innermost_cause(&error)))),
            Some(Err(_)) | None => Err(WebFailure::Unanswered(WebFault::Broken("this process stops".to_owned()))),
        }
    }
}

/// Reads a response to its end, of at most `limit` bytes.
pub(crate) async fn read_response(response: Response<Incoming>, limit: usize) -> Result<WebResponse, WebFailure> {
    let (head, body) = response.into_parts();
    let body = match Limited::new(body, limit).collect().await {
        Ok(body) => body.to_bytes(),
        Err(error) if error.is::<LengthLimitError>() => {
            return Err(WebFailure::Unanswered(WebFault::TooLong(limit)));
        }
        Err(error) => return Err(WebFailure::Unanswered(WebFault::Broken(error.to_string()))),
    };
    Ok(WebResponse { status: head.status.as_u16(), headers: head.headers, body })
}

/// Returns the message of an error's innermost cause.
fn innermost_cause(error: &(dyn std::error::Error + 'static)) -> String {
    let mut innermost = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    innermost.to_string()
}
