//! The browser of a request: its address, the address that it asked for, and its cookies.

use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{Extensions, HeaderMap, StatusCode, header};
use tillgate_gateway::access::link_token::LinkToken;
use tillgate_gateway::access::sign_in::SignInClient;
use tillgate_net::{client_address, forwarded};

use super::cookies::Cookie;
use crate::OfficeState;
use crate::layout::texts::Texts;

/// Header of the requests that the script of a page makes by itself.
const AUTOMATIC: &str = "x-automatic";

/// The browser of a request.
#[derive(Clone)]
pub struct OfficeClient {
    /// The client's address.
    pub address: IpAddr,
    /// The address that the browser asked for, with a trailing slash.
    pub base: String,
    /// True if the browser uses HTTPS.
    pub is_secure: bool,
    /// The texts of its language.
    pub texts: &'static Texts,
    /// True if the script of a page reads it again, without anybody's doing.
    pub is_automatic: bool,
    /// The browser, as it names itself.
    agent: String,
    /// The mark of a known browser.
    device: Option<String>,
    /// The token of its session.
    pub(super) token: Option<LinkToken>,
}

impl OfficeClient {
    /// Reads the browser of a request.
    pub(super) fn read(state: &OfficeState, headers: &HeaderMap, extensions: &Extensions) -> Self {
        let base = read_base(state, headers, extensions);
        let is_secure = base.starts_with("https://");
        let text = |name| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
        Self {
            address: client_address::resolve_address(&state.trusted_proxies, headers, extensions),
            is_secure,
            texts: Texts::choose(text(header::ACCEPT_LANGUAGE)),
            is_automatic: headers.contains_key(AUTOMATIC),
            agent: text(header::USER_AGENT).to_owned(),
            device: Cookie::Device.read(headers, is_secure).map(str::to_owned),
            token: Cookie::Session.read(headers, is_secure).and_then(LinkToken::parse),
            base,
        }
    }

    /// Returns the browser as the use cases of the sign-in take it.
    pub(super) fn for_sign_in(&self) -> SignInClient {
        SignInClient { address: self.address, agent: self.agent.clone(), device: self.device.clone() }
    }

    /// Returns true if passwords and cookies travel encrypted, or stay on this machine.
    pub(super) fn is_private(&self) -> bool {
        self.is_secure || is_loopback(&self.base)
    }

    /// Returns true if a page of our own origin made a request: by `Sec-Fetch-Site`, which no page can set, and without
    /// it (Safari before 16.4) by the origin. A request with neither is refused.
    pub(super) fn is_own_request(&self, headers: &HeaderMap) -> bool {
        let text = |name: &str| headers.get(name).map(|value| value.to_str().unwrap_or("?"));
        match (text("sec-fetch-site"), text("origin")) {
            (Some("same-origin"), _) => true,
            // The user has sent the form again, by reloading its answer.
            (Some("none"), None) => true,
            (None, Some(origin)) => origin == self.base.trim_end_matches('/'),
            _ => false,
        }
    }
}

/// Returns the address that the browser asked for: the configured one without its path, or one derived from the
/// request.
fn read_base(state: &OfficeState, headers: &HeaderMap, extensions: &Extensions) -> String {
    if let Some(configured) = &state.public_url {
        return origin_of(configured);
    }
    let is_behind_proxy = client_address::is_behind_proxy(&state.trusted_proxies, extensions);
    let reported = |read: fn(&HeaderMap) -> Option<String>| is_behind_proxy.then(|| read(headers)).flatten();
    let host = reported(forwarded::read_host)
        .or_else(|| Some(headers.get(header::HOST)?.to_str().ok()?.to_owned()))
        .unwrap_or_else(|| "localhost".to_owned());
    let scheme = if reported(forwarded::read_scheme).as_deref() == Some("https") { "https" } else { "http" };
    format!("{scheme}://{}/", host.to_ascii_lowercase())
}

/// Returns the scheme and the host of an address, with a trailing slash.
fn origin_of(address: &str) -> String {
    let (scheme, rest) = address.split_once("://").unwrap_or(("http", address));
    let host = rest.split('/').next().unwrap_or_default();
    format!("{scheme}://{}/", host.to_ascii_lowercase())
}

/// Returns true if the host of an address is this machine for every browser.
fn is_loopback(base: &str) -> bool {
    let host = base.split_once("://").map_or("", |(_, rest)| rest.trim_end_matches('/'));
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    name == "localhost"
        || name.ends_with(".localhost")
        || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

impl FromRequestParts<Arc<OfficeState>> for OfficeClient {
    type Rejection = StatusCode;

    async fn from_request_parts(parts: &mut Parts, state: &Arc<OfficeState>) -> Result<Self, StatusCode> {
        Ok(parts
            .extensions
            .get::<Self>()
            .cloned()
            .unwrap_or_else(|| Self::read(state, &parts.headers, &parts.extensions)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_and_addresses_of_this_machine_are_loopback() {
        for base in ["http://localhost/", "http://pay.localhost:8080/", "http://127.0.0.1:80/", "http://[::1]:8080/"] {
            assert!(is_loopback(base), "{base}");
        }
        for base in [
            "http://pay.example/",
            "http://localhost.example/",
            "http://127.0.0.1.example/",
            "http://192.0.2.1/",
            "",
            "http://evillocalhost/",
            "http://[2001:db8::1]/",
        ] {
            assert!(!is_loopback(base), "{base}");
        }
        assert_eq!(origin_of("https://Pay.example:8443/a/b/"), "https://pay.example:8443/");
    }
}
