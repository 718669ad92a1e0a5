//! Where a request comes from, and under which address the shopper's browser reached us.

use std::net::{IpAddr, SocketAddr};

use axum::extract::ConnectInfo;
use axum::http::request::Parts;
use axum::http::{Extensions, HeaderMap, header};
use ipnet::IpNet;
use tillgate_shared::format::mask::{Strictness, has_card_number};
use tillgate_shared::parameter::{Parameters, find};

use super::Edge;

/// The client's address. `X-Forwarded-For` is read from its right end, and only as far as the hops are trusted
/// proxies: everything left of the first untrusted one is the client's own invention.
pub(super) fn address(edge: &Edge, parts: &Parts) -> IpAddr {
    let peer =
        parts.extensions.get::<ConnectInfo<SocketAddr>>().map_or(IpAddr::from([127, 0, 0, 1]), |info| info.0.ip());
    forwarded(peer.to_canonical(), &parts.headers, &edge.trusted_proxies)
}

fn forwarded(peer: IpAddr, headers: &HeaderMap, trusted: &[IpNet]) -> IpAddr {
    let mut client = peer;
    let hops = headers.get_all("x-forwarded-for").iter().rev().filter_map(|value| value.to_str().ok());
    for hop in hops.flat_map(|value| value.rsplit(',')) {
        if !is_trusted(client, trusted) {
            break;
        }
        match hop.trim().parse::<IpAddr>() {
            Ok(address) => client = address.to_canonical(),
            Err(_) => break,
        }
    }
    client
}

/// Returns true if a trusted proxy has sent the request.
pub(super) fn is_behind_proxy(edge: &Edge, extensions: &Extensions) -> bool {
    let peer = extensions.get::<ConnectInfo<SocketAddr>>().map(|info| info.0.ip().to_canonical());
    peer.is_some_and(|peer| is_trusted(peer, &edge.trusted_proxies))
}

fn is_trusted(address: IpAddr, trusted: &[IpNet]) -> bool {
    trusted.iter().any(|network| network.contains(&address))
}

/// Completes what the form tells of the browser with what no script can know (specification, document 2:
/// `customer.browser`): the headers of its request.
pub(super) fn tell_browser(headers: &HeaderMap, form: &mut Parameters) {
    if form.with_prefix("customer.browser.").next().is_none() {
        return;
    }
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok()).filter(|value| !value.is_empty());
    let language = text(header::ACCEPT_LANGUAGE).and_then(|all| all.split([',', ';']).next()).map(str::trim);
    for (name, value) in [
        ("customer.browser.acceptHeader", text(header::ACCEPT)),
        ("customer.browser.userAgent", text(header::USER_AGENT)),
        ("customer.browser.language", language.filter(|tag| *tag != "*")),
    ] {
        // What is no value of the catalogue is left out: nobody has sent it.
        if let Some(value) = value
            && !form.contains(name)
            && find(name).is_some_and(|row| row.format.check(value).is_ok())
        {
            form.set(name, value);
        }
    }
}

/// The address that browsers use, with a slash at its end: the configured one, or what this request says.
pub(super) fn public_url(edge: &Edge, parts: &Parts) -> String {
    if let Some(configured) = &edge.public_url {
        return configured.clone();
    }
    let behind_proxy = is_behind_proxy(edge, &parts.extensions);
    let text = |name: &str| parts.headers.get(name).and_then(|value| value.to_str().ok());
    let scheme = match text("x-forwarded-proto") {
        Some("https") if behind_proxy => "https",
        _ => "http",
    };
    // The host becomes part of addresses that are stored.
    let host =
        text(header::HOST.as_str()).filter(|host| !has_card_number(host, Strictness::InUse)).unwrap_or("localhost");
    format!("{scheme}://{host}/")
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn client(peer: &str, header: &str, trusted: &[&str]) -> String {
        let mut headers = HeaderMap::new();
        headers.insert("x-forwarded-for", header.parse().unwrap());
        let trusted: Vec<IpNet> = trusted.iter().map(|network| network.parse().unwrap()).collect();
        forwarded(peer.parse().unwrap(), &headers, &trusted).to_string()
    }

    #[test]
    fn a_forwarded_address_is_believed_from_a_trusted_proxy_only() {
        assert_eq!(client("10.0.0.1", "203.0.113.9", &["10.0.0.0/8"]), "203.0.113.9");
        assert_eq!(client("198.51.100.7", "203.0.113.9", &["10.0.0.0/8"]), "198.51.100.7");
        assert_eq!(client("10.0.0.1", "203.0.113.9", &[]), "10.0.0.1");
    }

    #[test]
    fn what_a_client_invents_left_of_its_own_address_is_ignored() {
        assert_eq!(client("10.0.0.1", "1.2.3.4, 203.0.113.9, 10.0.0.2", &["10.0.0.0/8"]), "203.0.113.9");
        assert_eq!(client("10.0.0.1", "1.2.3.4, junk", &["10.0.0.0/8"]), "10.0.0.1");
    }
}
