//! Address of the client of a request, behind proxies that are trusted.

use std::net::{IpAddr, SocketAddr};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::extract::ConnectInfo;
use axum::http::{Extensions, HeaderMap};
use ipnet::IpNet;
use tillgate_shared::format::mask::mask_card_numbers;
use tillgate_shared::format::text::truncate_text;

use crate::forwarded::{self, Hop};

/// Time between two warnings about headers that cannot be read.
const WARNING_INTERVAL: Duration = Duration::from_secs(60);
/// Time of the last warning about a header that cannot be read.
static LAST_WARNING: Mutex<Option<Instant>> = Mutex::new(None);
/// Maximum number of characters of an unreadable header in a warning.
const MAX_LOGGED: usize = 100;

/// Returns the client's address, 127.0.0.1 if the connection has none. The headers of proxies are read from their right
/// end, and only while the hops are trusted proxies: the client can forge everything to the left of the first untrusted
/// address.
pub fn resolve_address(trusted: &[IpNet], headers: &HeaderMap, extensions: &Extensions) -> IpAddr {
    let peer = extensions.get::<ConnectInfo<SocketAddr>>().map_or(IpAddr::from([127, 0, 0, 1]), |info| info.0.ip());
    let (client, unreadable) = forwarded_client(peer.to_canonical(), headers, trusted);
    if let Some(text) = unreadable {
        warn_unreadable(client, &text);
    }
    client
}

/// Follows the hops from `peer` on, as long as the address found last is trusted. Stops at a hop that is no address,
/// and returns its text if it cannot be read.
fn forwarded_client(peer: IpAddr, headers: &HeaderMap, trusted: &[IpNet]) -> (IpAddr, Option<String>) {
    let mut client = peer;
    if !is_trusted(client, trusted) {
        return (client, None);
    }
    for hop in forwarded::read_hops(headers) {
        match hop {
            _ if !is_trusted(client, trusted) => break,
            Hop::Address(address) => client = address,
            Hop::Hidden => break,
            Hop::Unreadable(text) => return (client, Some(text)),
        }
    }
    (client, None)
}

/// Logs that the header of a trusted proxy cannot be read, at most once a minute, because every request may have one.
fn warn_unreadable(proxy: IpAddr, text: &str) {
    let mut last = LAST_WARNING.lock().unwrap_or_else(PoisonError::into_inner);
    if last.is_some_and(|last| last.elapsed() < WARNING_INTERVAL) {
        return;
    }
    *last = Some(Instant::now());
    let hop = mask_card_numbers(truncate_text(text, MAX_LOGGED));
    tracing::warn!(%proxy, ?hop, "a trusted proxy failed to report an address, so it counts as the client");
}

/// Returns true if the connection comes from a trusted proxy.
pub fn is_behind_proxy(trusted: &[IpNet], extensions: &Extensions) -> bool {
    let peer = extensions.get::<ConnectInfo<SocketAddr>>().map(|info| info.0.ip().to_canonical());
    peer.is_some_and(|peer| is_trusted(peer, trusted))
}

/// Returns true if one of the trusted networks contains the address.
fn is_trusted(address: IpAddr, trusted: &[IpNet]) -> bool {
    trusted.iter().any(|network| network.contains(&address))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// Returns the client of a request from `peer` with an `X-Forwarded-For` of `header`.
    fn resolve_client(peer: &str, header: &str, trusted: &[&str]) -> String {
        let mut headers = HeaderMap::new();
        headers.insert("x-forwarded-for", header.parse().unwrap());
        let trusted: Vec<IpNet> = trusted.iter().map(|network| network.parse().unwrap()).collect();
        forwarded_client(peer.parse().unwrap(), &headers, &trusted).0.to_string()
    }

    #[test]
    fn a_forwarded_address_is_believed_from_a_trusted_proxy_only() {
        assert_eq!(resolve_client("10.0.0.1", "203.0.113.9", &["10.0.0.0/8"]), "203.0.113.9");
        assert_eq!(resolve_client("198.51.100.7", "203.0.113.9", &["10.0.0.0/8"]), "198.51.100.7");
        assert_eq!(resolve_client("10.0.0.1", "203.0.113.9", &[]), "10.0.0.1");
    }

    #[test]
    fn what_a_client_invents_left_of_its_own_address_is_ignored() {
        assert_eq!(resolve_client("10.0.0.1", "1.2.3.4, 203.0.113.9, 10.0.0.2", &["10.0.0.0/8"]), "203.0.113.9");
        assert_eq!(resolve_client("10.0.0.1", "1.2.3.4, junk", &["10.0.0.0/8"]), "10.0.0.1");
        assert_eq!(resolve_client("10.0.0.1", "1.2.3.4, 203.0.113.9:51234,", &["10.0.0.0/8"]), "203.0.113.9");
        assert_eq!(resolve_client("10.0.0.1", "1.2.3.4, \"[::ffff:203.0.113.9]:1\"", &["10.0.0.0/8"]), "203.0.113.9");
        assert_eq!(resolve_client("10.0.0.1", "1.2.3.4, unknown", &["10.0.0.0/8"]), "10.0.0.1");
    }
}
