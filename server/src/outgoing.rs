//! HTTP client for addresses that merchants choose, with SSRF protection.
//!
//! Every address is judged after its name has been resolved, and the one that was judged is the one that is connected to.
//! What is not public is refused, unless the operator allows its network; so are the ports of other services. Redirects are
//! not followed, no proxy is used, the body of an answer is not read, and a request has a time limit.

mod ports;

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::Bytes;
use axum::http::{HeaderValue, Method, Request, StatusCode, header};
use http_body_util::Full;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::connect::dns::Name;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use ipnet::{IpNet, Ipv4Net, Ipv6Net};
use tower::Service;

pub use ports::{ADDRESSES, Ports, REFUSED};

/// Time limit of a POST, from the name's resolution to the answer's headers (contract, 3.6).
const POST_LIMIT: Duration = Duration::from_secs(30);
/// Time limit of a GET, which asks nothing of its receiver: notifications and reminders.
const GET_LIMIT: Duration = Duration::from_secs(10);
/// Longest wait that an answer may ask for (`Retry-After`).
const LONGEST_WAIT: Duration = Duration::from_secs(24 * 60 * 60);

/// Sends requests to where they may go.
pub struct Outgoing {
    client: Client<HttpsConnector<HttpConnector<Guard>>, Full<Bytes>>,
    guard: Guard,
    /// Ports that requests may go to.
    pub ports: Ports,
}

/// What was answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Answered {
    /// The status.
    pub status: StatusCode,
    /// How long the receiver asks to be left alone.
    pub retry_after: Option<Duration>,
}

/// Why nothing was answered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// The address is none that requests may go to.
    #[error("the address is not public, and its network is not allowed")]
    NotAllowed,
    /// The port belongs to another kind of service.
    #[error("port {0} is not allowed")]
    Port(u16),
    /// Nobody knows the host.
    #[error("the host is unknown")]
    Unknown,
    /// It is no address that requests go to at all.
    #[error("this is no address of http or https")]
    Address,
    /// What was to be sent belongs to a webhook that was deleted.
    #[error("its webhook is gone")]
    Unwanted,
    /// What it is to be encrypted with cannot be had.
    #[error("the key cannot be opened")]
    Key,
    /// What is to be told cannot be read.
    #[error("the stored document cannot be read")]
    Document,
    /// The receiver took too long.
    #[error("no answer within {0} seconds")]
    Slow(u64),
    /// The connection was refused, or broke; TLS faults are among it.
    #[error("the connection failed: {0}")]
    Connection(String),
}

impl Outgoing {
    /// A client for these ports that may also reach these networks.
    ///
    /// # Errors
    /// When the system's certificates cannot be used.
    pub fn new(allowed: &[IpNet], ports: Ports) -> std::io::Result<Self> {
        let guard = Guard(allowed.into());
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
            // Receivers that compare names of headers to the letter know `X-Initialization-Vector` (contract, 0.19).
            .http1_title_case_headers(true)
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(POST_LIMIT)
            .pool_max_idle_per_host(4)
            .build(connector);
        Ok(Self { client, guard, ports })
    }

    /// Sends a request. The status decides what comes of it; the answer's body is not read.
    ///
    /// # Errors
    /// Why there is no status.
    pub async fn send(&self, mut request: Request<Full<Bytes>>) -> Result<Answered, Fault> {
        let host = request.uri().host().ok_or(Fault::Address)?;
        let usual_port = match request.uri().scheme_str() {
            Some("http") => 80,
            Some("https") => 443,
            _ => return Err(Fault::Address),
        };
        let port = request.uri().port_u16().unwrap_or(usual_port);
        if !self.ports.allows(port) {
            return Err(Fault::Port(port));
        }
        // A literal address is not resolved, so that nobody else would judge it.
        let literal = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
        if literal.is_ok_and(|address| !self.guard.allows(address)) {
            return Err(Fault::NotAllowed);
        }
        request.headers_mut().insert(header::USER_AGENT, HeaderValue::from_static("Tillgate"));
        let limit = if request.method() == Method::GET { GET_LIMIT } else { POST_LIMIT };
        match tokio::time::timeout(limit, self.client.request(request)).await {
            Err(_) => Err(Fault::Slow(limit.as_secs())),
            Ok(Ok(response)) => {
                let retry_after = response.headers().get(header::RETRY_AFTER).and_then(seconds);
                Ok(Answered { status: response.status(), retry_after })
            }
            Ok(Err(error)) => Err(fault(&error)),
        }
    }
}

/// `Retry-After` in seconds (RFC 9110, 10.2.3); a date is left alone, for the ladder waits long enough.
fn seconds(value: &HeaderValue) -> Option<Duration> {
    let seconds = value.to_str().ok()?.trim().parse().ok()?;
    Some(Duration::from_secs(seconds).min(LONGEST_WAIT))
}

/// What is behind an error of the client: a fault of ours, or the innermost cause in its own words.
fn fault(error: &hyper_util::client::legacy::Error) -> Fault {
    let mut innermost: &(dyn std::error::Error + 'static) = error;
    loop {
        if let Some(fault) = innermost.downcast_ref::<Fault>() {
            return fault.clone();
        }
        match innermost.source() {
            Some(source) => innermost = source,
            None => return Fault::Connection(innermost.to_string()),
        }
    }
}

/// Where requests may go: everywhere public, and into these networks.
#[derive(Debug, Clone)]
struct Guard(Arc<[IpNet]>);

impl Guard {
    fn allows(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        is_public(address) || self.0.iter().any(|network| network.contains(&address))
    }
}

/// Resolves a name to the addresses that are allowed; the connection is made to one of these.
impl Service<Name> for Guard {
    type Response = std::vec::IntoIter<SocketAddr>;
    type Error = Fault;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Fault>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Fault>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, name: Name) -> Self::Future {
        let guard = self.clone();
        Box::pin(async move {
            let found = resolve(name.as_str()).await?;
            let allowed: Vec<SocketAddr> = found.into_iter().filter(|address| guard.allows(address.ip())).collect();
            if allowed.is_empty() { Err(Fault::NotAllowed) } else { Ok(allowed.into_iter()) }
        })
    }
}

/// The addresses of a host. Names below `localhost` are this machine (RFC 6761, 6.3), also where the system knows none of them.
async fn resolve(name: &str) -> Result<Vec<SocketAddr>, Fault> {
    let name = name.trim_end_matches('.').to_ascii_lowercase();
    if name == "localhost" || name.ends_with(".localhost") {
        return Ok(vec![(Ipv4Addr::LOCALHOST, 0).into(), (Ipv6Addr::LOCALHOST, 0).into()]);
    }
    Ok(tokio::net::lookup_host((name, 0)).await.map_err(|_| Fault::Unknown)?.collect())
}

const fn v4(a: u8, b: u8, c: u8, d: u8, prefix: u8) -> Ipv4Net {
    Ipv4Net::new_assert(Ipv4Addr::new(a, b, c, d), prefix)
}

const fn v6(first: u16, second: u16, prefix: u8) -> Ipv6Net {
    Ipv6Net::new_assert(Ipv6Addr::new(first, second, 0, 0, 0, 0, 0, 0), prefix)
}

/// What is not globally reachable (IANA's registry of special-purpose addresses, RFC 6890), multicast and the reserved rest.
const NOT_PUBLIC: [Ipv4Net; 16] = [
    v4(0, 0, 0, 0, 8),
    v4(10, 0, 0, 0, 8),
    v4(100, 64, 0, 0, 10),
    v4(127, 0, 0, 0, 8),
    v4(169, 254, 0, 0, 16),
    v4(172, 16, 0, 0, 12),
    v4(192, 0, 0, 0, 24),
    v4(192, 0, 2, 0, 24),
    v4(192, 88, 99, 0, 24),
    v4(192, 168, 0, 0, 16),
    v4(198, 18, 0, 0, 15),
    v4(198, 51, 100, 0, 24),
    v4(203, 0, 113, 0, 24),
    v4(224, 0, 0, 0, 4),
    v4(240, 0, 0, 0, 4),
    v4(255, 255, 255, 255, 32),
];

/// The addresses that are given out on the internet, and what among them is none: protocols such as Teredo, documentation,
/// and 6to4, in which any IPv4 address can hide.
const GLOBAL: Ipv6Net = v6(0x2000, 0, 3);
const NOT_GLOBAL: [Ipv6Net; 4] = [v6(0x2001, 0, 23), v6(0x2001, 0xdb8, 32), v6(0x2002, 0, 16), v6(0x3fff, 0, 20)];
/// IPv4 behind a translator (RFC 6052): the last 32 bits are the address.
const NAT64: Ipv6Net = v6(0x64, 0xff9b, 96);

/// Whether an address is one of the internet's.
fn is_public(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(address) => !NOT_PUBLIC.iter().any(|network| network.contains(&address)),
        IpAddr::V6(address) if NAT64.contains(&address) => {
            let [.., a, b, c, d] = address.octets();
            is_public(Ipv4Addr::new(a, b, c, d).into())
        }
        IpAddr::V6(address) => {
            GLOBAL.contains(&address) && !NOT_GLOBAL.iter().any(|network| network.contains(&address))
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_public_is_told_in_every_form_that_an_address_can_take() {
        for (address, public) in [
            ("0.0.0.0", false),
            ("8.8.8.8", true),
            ("10.1.2.3", false),
            ("100.63.255.255", true),
            ("100.64.0.1", false),
            ("100.128.0.0", true),
            ("127.0.0.1", false),
            ("127.255.255.254", false),
            ("169.254.169.254", false),
            ("172.15.0.1", true),
            ("172.16.0.1", false),
            ("172.31.255.255", false),
            ("172.32.0.1", true),
            ("192.0.0.8", false),
            ("192.0.2.1", false),
            ("192.88.99.1", false),
            ("192.168.1.1", false),
            ("198.19.0.1", false),
            ("198.51.100.1", false),
            ("203.0.113.1", false),
            ("203.0.114.1", true),
            ("224.0.0.1", false),
            ("239.1.1.1", false),
            ("240.0.0.1", false),
            ("255.255.255.255", false),
            ("::", false),
            ("::1", false),
            ("::7f00:1", false),
            ("::ffff:127.0.0.1", false),
            ("::ffff:10.0.0.1", false),
            ("::ffff:8.8.8.8", true),
            ("64:ff9b::7f00:1", false),
            ("64:ff9b::a00:1", false),
            ("64:ff9b::808:808", true),
            ("64:ff9b:1::808:808", false),
            ("100::1", false),
            ("2001::1", false),
            ("2001:db8::1", false),
            ("2001:4860:4860::8888", true),
            ("2002:7f00:1::", false),
            ("2002:808:808::", false),
            ("3fff::1", false),
            ("5f00::1", false),
            ("fc00::1", false),
            ("fd12:3456::1", false),
            ("fe80::1", false),
            ("fec0::1", false),
            ("ff02::1", false),
        ] {
            assert_eq!(is_public(address.parse().unwrap()), public, "{address}");
        }
    }

    #[test]
    fn an_operator_allows_networks_and_nothing_beside_them() {
        let guard = Guard(Arc::from(["127.0.0.0/8".parse().unwrap(), "fd00::/16".parse().unwrap()]));
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
        let outgoing = Outgoing::new(&[], Ports::default()).unwrap();
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
            assert_eq!(outgoing.send(request).await.unwrap_err(), Fault::NotAllowed, "{host}");
        }
        for (address, fault) in [
            ("ftp://8.8.8.8/", Fault::Address),
            ("/path", Fault::Address),
            ("http://8.8.8.8:25/", Fault::Port(25)),
            ("https://localhost:22/", Fault::Port(22)),
            ("http://[::1]:6379/", Fault::Port(6379)),
        ] {
            let request = Request::get(address).body(Full::default()).unwrap();
            assert_eq!(outgoing.send(request).await.unwrap_err(), fault, "{address}");
        }
        let nobody = tokio::time::timeout(Duration::from_millis(1), listener.accept()).await;
        assert!(nobody.is_err());
    }
}
