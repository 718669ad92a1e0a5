//! The address of an acquirer's host, checked when it is configured.

use std::net::IpAddr;

use axum::http::Uri;
use axum::http::uri::{Authority, PathAndQuery, Scheme};
use tillgate_domain::delivery::target_url::{TargetUrl, TargetUrlError};

/// A base address: `https://…`, or `http://…` for the local machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostAddress {
    scheme: Scheme,
    authority: Authority,
    /// The path before the routes: empty, or with a leading slash and without a trailing one.
    prefix: String,
}

/// The reason why a text is not an address of a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum HostAddressError {
    /// The text is no URL with a scheme, a host, and optionally a port and a path.
    #[error("an address looks like https://acquirer.example/gateway; this one {0}")]
    Malformed(#[from] TargetUrlError),
    /// The address has a part behind its path.
    #[error("an address looks like https://acquirer.example/gateway, without a query and a fragment")]
    ExtraPart,
    /// Card numbers would be sent over a network without encryption.
    #[error("the address of an acquirer's host begins with https://, except on 127.0.0.1, [::1] and localhost")]
    Plaintext,
}

impl HostAddress {
    /// Parses a base address. The host `localhost` becomes 127.0.0.1, and slashes at the end are dropped.
    ///
    /// # Errors
    /// [`HostAddressError::Plaintext`] for `http://` with a host that is not the local machine,
    /// [`HostAddressError::ExtraPart`] for a query or fragment, [`HostAddressError::Malformed`] for any other fault.
    pub fn parse(text: &str) -> Result<Self, HostAddressError> {
        let target = TargetUrl::parse(text)?;
        if text.contains(['?', '#']) {
            return Err(HostAddressError::ExtraPart);
        }
        let uri = target.uri();
        let (Some(scheme), Some(authority)) = (uri.scheme(), uri.authority()) else {
            return Err(TargetUrlError::Host.into());
        };
        let authority = match loopback_address(authority.host()) {
            _ if target.is_https() => authority.clone(),
            // Other names are not resolved: in some network they could belong to another machine.
            Some(address) => build_authority(address, authority.port_u16()).ok_or(TargetUrlError::Host)?,
            None => return Err(HostAddressError::Plaintext),
        };
        let prefix = uri.path().trim_end_matches('/').to_owned();
        Ok(Self { scheme: scheme.clone(), authority, prefix })
    }

    /// Returns the path of a route on this host, as it is signed: the address's own path, followed by the route.
    pub(crate) fn route_path(&self, route: &str) -> String {
        format!("{}{route}", self.prefix)
    }

    /// Returns the address of a path on this host. `None` if the path is not valid in an address.
    pub(crate) fn build_uri(&self, path: &str) -> Option<Uri> {
        let path = PathAndQuery::try_from(path).ok()?;
        Uri::builder().scheme(self.scheme.clone()).authority(self.authority.clone()).path_and_query(path).build().ok()
    }
}

/// Maximum length of a page's address, in characters.
const PAGE_LIMIT: usize = 2048;

/// Returns true if a shopper may be redirected to this address: `https://…`, or `http://…` for the local machine,
/// without a user, and at most 2048 visible ASCII characters.
pub(crate) fn is_redirect_allowed(text: &str) -> bool {
    let has_valid_format = text.len() <= PAGE_LIMIT && text.bytes().all(|byte| byte.is_ascii_graphic());
    let Some(uri) = text.parse::<Uri>().ok().filter(|_| has_valid_format) else { return false };
    match (uri.scheme_str(), uri.authority()) {
        (_, Some(authority)) if authority.as_str().contains('@') || authority.host().is_empty() => false,
        (Some("https"), Some(_)) => true,
        (Some("http"), Some(authority)) => loopback_address(authority.host()).is_some(),
        _ => false,
    }
}

/// Returns the loopback address of a host: a loopback IP address as it is written, 127.0.0.1 for `localhost`. `None`
/// for any other host; names are not resolved.
fn loopback_address(host: &str) -> Option<&str> {
    let address = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    match address {
        Ok(address) => address.is_loopback().then_some(host),
        Err(_) => host.eq_ignore_ascii_case("localhost").then_some("127.0.0.1"),
    }
}

/// Returns `host:port`, or `host` without a port. `None` if the text is no valid authority.
fn build_authority(host: &str, port: Option<u16>) -> Option<Authority> {
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
            ("http://2130706433", "http://127.0.0.1/v1/authorize"),
            ("https://acquirer.example:", "https://acquirer.example/v1/authorize"),
            ("https://bücher.example/grüße/", "https://xn--bcher-kva.example/gr%C3%BC%C3%9Fe/v1/authorize"),
        ] {
            let address = HostAddress::parse(text).unwrap();
            assert_eq!(address.build_uri(&address.route_path("/v1/authorize")).unwrap().to_string(), uri);
        }
    }

    #[test]
    fn a_shopper_is_sent_to_an_encrypted_page_or_one_of_this_machine() {
        for (page, is_good) in [
            ("https://acquirer.example/pay/1?x=2", true),
            ("http://127.0.0.1:8090/pay/1", true),
            ("http://acquirer.example/pay/1", false),
            ("https://user@acquirer.example/", false),
            ("//acquirer.example/", false),
            ("/pay/1", false),
            ("javascript:alert(1)", false),
            ("data:text/html,x", false),
            ("", false),
        ] {
            assert_eq!(is_redirect_allowed(page), is_good, "{page}");
        }
        assert!(!is_redirect_allowed(&format!("https://acquirer.example/{}", "x".repeat(PAGE_LIMIT))));
    }

    #[test]
    fn another_address_is_refused() {
        use HostAddressError::{ExtraPart, Malformed, Plaintext};
        for (text, error) in [
            ("", Malformed(TargetUrlError::Scheme)),
            ("acquirer.example", Malformed(TargetUrlError::Scheme)),
            ("/v1", Malformed(TargetUrlError::Scheme)),
            ("ftp://127.0.0.1", Malformed(TargetUrlError::Scheme)),
            ("https://user:password@acquirer.example", Malformed(TargetUrlError::User)),
            ("https://acquirer.example:65536", Malformed(TargetUrlError::Port)),
            ("https://acquirer..example", Malformed(TargetUrlError::Host)),
            ("https://acquirer.example?key=1", ExtraPart),
            ("https://acquirer.example/#part", ExtraPart),
            ("http://acquirer.example", Plaintext),
            ("http://10.0.0.1:8090", Plaintext),
            ("http://localhost.example", Plaintext),
            ("http://127.0.0.1.example", Plaintext),
            ("http://[::ffff:127.0.0.1]", Plaintext),
        ] {
            assert_eq!(HostAddress::parse(text), Err(error), "{text}");
        }
    }
}
