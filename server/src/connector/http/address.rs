//! The address of an acquirer's host, checked when it is configured.

use std::net::IpAddr;

use axum::http::Uri;
use axum::http::uri::{Authority, PathAndQuery, Scheme};

/// A base address: `https://…`, or `http://…` on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostAddress {
    scheme: Scheme,
    authority: Authority,
    /// The path before the routes; empty, or begins with a slash and does not end with one.
    prefix: String,
}

/// The reason why a text is no address of a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum HostAddressError {
    /// It is no URL with a scheme, a host and perhaps a port and a path.
    #[error("an address looks like https://acquirer.example/gateway, without a user, a query and a fragment")]
    Malformed,
    /// It would send card numbers over a network in the clear.
    #[error("the address of an acquirer's host begins with https://, except on 127.0.0.1, [::1] and localhost")]
    Plaintext,
}

impl HostAddress {
    /// Reads an address.
    ///
    /// # Errors
    /// If the text is no such address.
    pub fn parse(text: &str) -> Result<Self, HostAddressError> {
        let uri: Uri = text.parse().map_err(|_| HostAddressError::Malformed)?;
        let (Some(scheme), Some(authority)) = (uri.scheme(), uri.authority()) else {
            return Err(HostAddressError::Malformed);
        };
        let host = authority.host();
        let is_odd =
            uri.query().is_some() || text.contains(['@', '#']) || host.is_empty() || authority.as_str().ends_with(':');
        if is_odd {
            return Err(HostAddressError::Malformed);
        }
        let prefix = uri.path().trim_end_matches('/').to_owned();
        let authority = match (scheme.as_str(), loopback(host)) {
            ("https", _) => authority.clone(),
            // The name is not resolved: it could be another machine's in some network.
            ("http", Some(address)) => with_host(address, authority.port_u16()).ok_or(HostAddressError::Malformed)?,
            ("http", None) => return Err(HostAddressError::Plaintext),
            _ => return Err(HostAddressError::Malformed),
        };
        Ok(Self { scheme: scheme.clone(), authority, prefix })
    }

    /// The path of a route on this host, as it is signed.
    pub(super) fn path(&self, route: &str) -> String {
        format!("{}{route}", self.prefix)
    }

    /// The address of a path on this host.
    pub(super) fn uri(&self, path: &str) -> Option<Uri> {
        let path = PathAndQuery::try_from(path).ok()?;
        Uri::builder().scheme(self.scheme.clone()).authority(self.authority.clone()).path_and_query(path).build().ok()
    }
}

/// The address of this machine that a host is; `None` if it is another one.
fn loopback(host: &str) -> Option<&str> {
    let address = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    match address {
        Ok(address) => address.is_loopback().then_some(host),
        Err(_) => host.eq_ignore_ascii_case("localhost").then_some("127.0.0.1"),
    }
}

fn with_host(host: &str, port: Option<u16>) -> Option<Authority> {
    match port {
        Some(port) => format!("{host}:{port}").parse().ok(),
        None => host.parse().ok(),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_https_or_this_machine() {
        for (text, uri) in [
            ("https://acquirer.example", "https://acquirer.example/v1/authorize"),
            ("https://acquirer.example:8443/gateway/", "https://acquirer.example:8443/gateway/v1/authorize"),
            ("http://127.0.0.1:8090", "http://127.0.0.1:8090/v1/authorize"),
            ("http://127.8.9.1:8090/", "http://127.8.9.1:8090/v1/authorize"),
            ("http://[::1]:8090", "http://[::1]:8090/v1/authorize"),
            ("http://localhost:8090", "http://127.0.0.1:8090/v1/authorize"),
            ("http://LOCALHOST", "http://127.0.0.1/v1/authorize"),
        ] {
            let address = HostAddress::parse(text).unwrap();
            assert_eq!(address.uri(&address.path("/v1/authorize")).unwrap().to_string(), uri);
        }
    }

    #[test]
    fn another_address_is_refused() {
        use HostAddressError::{Malformed, Plaintext};
        for (text, error) in [
            ("", Malformed),
            ("acquirer.example", Malformed),
            ("/v1", Malformed),
            ("ftp://127.0.0.1", Malformed),
            ("https://user:password@acquirer.example", Malformed),
            ("https://acquirer.example?key=1", Malformed),
            ("https://acquirer.example/#part", Malformed),
            ("https://acquirer.example:", Malformed),
            ("http://acquirer.example", Plaintext),
            ("http://10.0.0.1:8090", Plaintext),
            ("http://localhost.example", Plaintext),
            ("http://127.0.0.1.example", Plaintext),
            ("http://2130706433", Plaintext),
            ("http://[::ffff:127.0.0.1]", Plaintext),
        ] {
            assert_eq!(HostAddress::parse(text), Err(error), "{text}");
        }
    }
}
