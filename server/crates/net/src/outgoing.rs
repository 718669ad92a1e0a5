//! HTTP client for addresses that merchants choose, with SSRF protection.
//!
//! An address is checked after its name has been resolved, and the connection is made to the checked address.
//! Addresses that are not public are refused, unless the operator allows their network; so are the ports of other
//! services. The client uses no proxy and limits the time of a request. It follows redirects and reads bodies only for
//! an operator's commands (`fetch`).

mod connect;
mod expect;
mod fetch;
mod ports;
mod public;

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::Bytes;
use axum::http::{HeaderValue, Method, Request, StatusCode, Uri, header};
use http_body_util::Full;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::connect::dns::Name;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use ipnet::IpNet;
use tower::Service;

pub use expect::ExpectingPost;
pub use fetch::{FetchedDocument, MAX_DOCUMENT, MAX_REDIRECTS};
pub use ports::{ADDRESS_PARAMETERS, Ports, REFUSED_PORTS};
use public::is_public;

/// Time limit of a POST, from name resolution to the response headers (contract, 3.6).
const POST_LIMIT: Duration = Duration::from_secs(30);
/// Time limit of a GET. GET requests are notifications and reminders, which need no processing by the receiver.
const GET_LIMIT: Duration = Duration::from_secs(10);
/// Maximum delay that a response may request (`Retry-After`): 24 hours.
const MAX_RETRY_AFTER: Duration = Duration::from_secs(24 * 60 * 60);

/// HTTP client that sends requests only to allowed addresses.
pub struct OutgoingClient {
    client: Client<GuardedConnector, Full<Bytes>>,
    /// Connects for requests that the client cannot send, under the same rules.
    connector: GuardedConnector,
    guard: AddressGuard,
    /// Allowed ports.
    pub ports: Ports,
}

/// Connects to allowed addresses, with TLS for https.
type GuardedConnector = HttpsConnector<HttpConnector<AddressGuard>>;

/// Response of a receiver.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReceiverResponse {
    /// The status.
    pub status: StatusCode,
    /// Delay that the receiver requests before the next delivery.
    pub retry_after: Option<Duration>,
}

/// Reason why there is no response.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OutgoingError {
    /// The address is not allowed.
    #[error("the address is not public, and its network is not allowed")]
    AddressNotAllowed,
    /// The port is that of another kind of service, or below 1024.
    #[error("port {0} is not allowed")]
    PortNotAllowed(u16),
    /// The host name cannot be resolved.
    #[error("the host is unknown")]
    UnknownHost,
    /// The address is not an HTTP or HTTPS address.
    #[error("this is not an address of http or https")]
    InvalidAddress,
    /// The message belongs to a webhook that was deleted.
    #[error("its webhook is gone")]
    WebhookDeleted,
    /// The encryption key of the message cannot be opened.
    #[error("the key cannot be opened")]
    Key,
    /// The stored document of the message cannot be read.
    #[error("the stored document cannot be read")]
    Document,
    /// The receiver did not respond in time.
    #[error("no answer within {0} seconds")]
    Timeout(u64),
    /// The message belongs to a review callback whose configuration was removed.
    #[error("its configuration is gone")]
    CallbackRemoved,
    /// The address is plain HTTP, which a live entity may not use.
    #[error("a live entity needs https")]
    PlainHttp,
    /// The receiver sent something other than an HTTP response.
    #[error("the answer is not HTTP")]
    NoHttpResponse,
    /// A document is behind more redirects than are followed.
    #[error("more than {MAX_REDIRECTS} redirects")]
    TooManyRedirects,
    /// A document is larger than is read.
    #[error("the document has more than 5 MB")]
    TooLarge,
    /// A document is compressed, although the request allows no compression.
    #[error("the document is compressed, which the request does not allow")]
    Compressed,
    /// The connection was refused or broke; this includes TLS errors.
    #[error("the connection failed: {0}")]
    Connection(String),
}

impl OutgoingClient {
    /// Creates a client that may use these ports, and reach these networks besides public addresses.
    ///
    /// # Errors
    /// If the system's certificates cannot be used.
    pub fn new(allowed: &[IpNet], ports: Ports) -> std::io::Result<Self> {
        let guard = AddressGuard(allowed.into());
        let mut connector = HttpConnector::new_with_resolver(guard.clone());
        connector.enforce_http(false);
        connector.set_nodelay(true);
        connector.set_connect_timeout(Some(POST_LIMIT));
        let connector = HttpsConnectorBuilder::new()
            .with_provider_and_platform_verifier(rustls::crypto::ring::default_provider())?
            .https_or_http()
            .enable_http1()
            .wrap_connector(connector);
        let client = Client::builder(TokioExecutor::new())
            // Receivers that compare header names case-sensitively expect `X-Initialization-Vector` (contract, 0.19).
            .http1_title_case_headers(true)
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(POST_LIMIT)
            .pool_max_idle_per_host(4)
            .build(connector.clone());
        Ok(Self { client, connector, guard, ports })
    }

    /// Returns the ports that may be used.
    pub fn ports(&self) -> &Ports {
        &self.ports
    }

    /// Checks the scheme, the port, and a literal address. A host name is checked when it is resolved.
    ///
    /// # Errors
    /// The reason why no request is sent to the address.
    pub fn check_target(&self, uri: &Uri) -> Result<(), OutgoingError> {
        let host = uri.host().ok_or(OutgoingError::InvalidAddress)?;
        let usual_port = match uri.scheme_str() {
            Some("http") => 80,
            Some("https") => 443,
            _ => return Err(OutgoingError::InvalidAddress),
        };
        let port = uri.port_u16().unwrap_or(usual_port);
        if !self.ports.allows(port) {
            return Err(OutgoingError::PortNotAllowed(port));
        }
        // A literal address is not resolved, so the resolver cannot check it.
        let literal = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
        if literal.is_ok_and(|address| !self.guard.allows(address)) {
            return Err(OutgoingError::AddressNotAllowed);
        }
        Ok(())
    }

    /// Sends a request as `Tillgate`, and waits for the response headers: 10 seconds for a GET, 30 for other methods.
    /// The response body is not read, and redirects are not followed.
    ///
    /// # Errors
    /// The reason why there is no response: an address or port that is not allowed, an unknown host, a timeout, or a
    /// failed connection. A response with any status is no error.
    pub async fn send(&self, mut request: Request<Full<Bytes>>) -> Result<ReceiverResponse, OutgoingError> {
        self.check_target(request.uri())?;
        request.headers_mut().insert(header::USER_AGENT, HeaderValue::from_static("Tillgate"));
        let limit = if request.method() == Method::GET { GET_LIMIT } else { POST_LIMIT };
        match tokio::time::timeout(limit, self.client.request(request)).await {
            Err(_) => Err(OutgoingError::Timeout(limit.as_secs())),
            Ok(Ok(response)) => {
                let retry_after = response.headers().get(header::RETRY_AFTER).and_then(parse_retry_after);
                Ok(ReceiverResponse { status: response.status(), retry_after })
            }
            Ok(Err(error)) => Err(find_cause(&error)),
        }
    }
}

/// Reads `Retry-After` in seconds (RFC 9110, 10.2.3), at most [`MAX_RETRY_AFTER`]. Returns `None` for a date: the retry
/// schedule waits long enough.
fn parse_retry_after(value: &HeaderValue) -> Option<Duration> {
    let seconds = value.to_str().ok()?.trim().parse().ok()?;
    Some(Duration::from_secs(seconds).min(MAX_RETRY_AFTER))
}

/// Returns the cause of a client error: a fault of our own resolver, or else a failed connection with the text of the
/// innermost cause.
fn find_cause(error: &(dyn std::error::Error + 'static)) -> OutgoingError {
    let mut innermost = error;
    loop {
        if let Some(fault) = innermost.downcast_ref::<OutgoingError>() {
            return fault.clone();
        }
        match innermost.source() {
            Some(source) => innermost = source,
            None => return OutgoingError::Connection(innermost.to_string()),
        }
    }
}

/// The allowed addresses: every public one, and those in these networks.
#[derive(Debug, Clone)]
struct AddressGuard(Arc<[IpNet]>);

impl AddressGuard {
    /// Returns true if an address is public or in one of the networks. An IPv4 address may be mapped to IPv6.
    fn allows(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        is_public(address) || self.0.iter().any(|network| network.contains(&address))
    }
}

/// Resolves a name to its allowed addresses; the connection is made to one of them.
impl Service<Name> for AddressGuard {
    type Response = std::vec::IntoIter<SocketAddr>;
    type Error = OutgoingError;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, OutgoingError>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), OutgoingError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, name: Name) -> Self::Future {
        let guard = self.clone();
        Box::pin(async move {
            let found = resolve_host(name.as_str()).await?;
            let allowed: Vec<SocketAddr> = found.into_iter().filter(|address| guard.allows(address.ip())).collect();
            if allowed.is_empty() { Err(OutgoingError::AddressNotAllowed) } else { Ok(allowed.into_iter()) }
        })
    }
}

/// Resolves a host name to addresses with port 0, allowed or not. Names below `localhost` are this machine (RFC 6761,
/// 6.3), even if the system does not know them.
///
/// # Errors
/// If the name is unknown, or the lookup fails otherwise.
async fn resolve_host(name: &str) -> Result<Vec<SocketAddr>, OutgoingError> {
    let name = name.trim_end_matches('.').to_ascii_lowercase();
    if name == "localhost" || name.ends_with(".localhost") {
        return Ok(vec![(Ipv4Addr::LOCALHOST, 0).into(), (Ipv6Addr::LOCALHOST, 0).into()]);
    }
    Ok(tokio::net::lookup_host((name, 0)).await.map_err(|_| OutgoingError::UnknownHost)?.collect())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn an_operator_allows_networks_and_nothing_beside_them() {
        let guard = AddressGuard(Arc::from(["127.0.0.0/8".parse().unwrap(), "fd00::/16".parse().unwrap()]));
        for (address, allowed) in [
            ("127.0.0.1", true),
            ("::ffff:127.0.0.1", true),
            ("::1", false),
            ("10.0.0.1", false),
            ("fd00::1", true),
            ("fd01::1", false),
            ("8.8.8.8", true),
        ] {
            assert_eq!(guard.allows(address.parse().unwrap()), allowed, "{address}");
        }
    }

    #[tokio::test]
    async fn what_is_not_allowed_is_not_connected_to_by_number_or_by_name() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let outgoing = OutgoingClient::new(&[], Ports::default()).unwrap();
        for host in [
            "127.0.0.1",
            "[::1]",
            "[::ffff:127.0.0.1]",
            "localhost",
            "shop.localhost",
            "LOCALHOST.",
            "0x7f.1",
            "2130706433",
            "0",
        ] {
            let request = Request::get(format!("http://{host}:{port}/")).body(Full::default());
            let Ok(request) = request else { continue };
            assert_eq!(outgoing.send(request).await.unwrap_err(), OutgoingError::AddressNotAllowed, "{host}");
        }
        for (address, fault) in [
            ("ftp://8.8.8.8/", OutgoingError::InvalidAddress),
            ("/path", OutgoingError::InvalidAddress),
            ("http://8.8.8.8:25/", OutgoingError::PortNotAllowed(25)),
            ("https://localhost:22/", OutgoingError::PortNotAllowed(22)),
            ("http://[::1]:6379/", OutgoingError::PortNotAllowed(6379)),
        ] {
            let request = Request::get(address).body(Full::default()).unwrap();
            assert_eq!(outgoing.send(request).await.unwrap_err(), fault, "{address}");
        }
        let nobody = tokio::time::timeout(Duration::from_millis(1), listener.accept()).await;
        assert!(nobody.is_err());
    }
}
