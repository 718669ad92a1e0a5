//! The host of the card frames (`--fields-url`). Browsers isolate pages by origin: if the frames have their own host,
//! no other page of the gateway can read the card data typed into them. [`reference::ROUTES`] lists the hosts of each
//! route.

use std::collections::HashMap;
use std::sync::LazyLock;

use axum::extract::{MatchedPath, Request};
use axum::http::{Method, header};
use tillgate_net::forwarded;

use crate::reference::{self, RouteHost};
use crate::{AppState, client};

/// The address of the card frames.
#[derive(Debug, Clone)]
pub struct FieldsUrl {
    /// The address, with a trailing slash.
    base: String,
    /// Its host name in lower case, without a port.
    name: String,
}

impl FieldsUrl {
    /// Checks the address of the frames against the public one: another host name, the same scheme, and only characters
    /// that are safe in a script.
    ///
    /// # Errors
    /// A sentence for the operator that says what is wrong.
    pub fn new(base: &str, public: &str) -> Result<Self, &'static str> {
        let (scheme, name) = scheme_and_host(base);
        let (public_scheme, public_name) = scheme_and_host(public);
        if name == public_name {
            return Err(
                "needs a separate host name, by which browsers and proxies distinguish the frames from other pages",
            );
        }
        if scheme != public_scheme {
            return Err("and --public-url have to begin with the same scheme");
        }
        // The address becomes part of a script.
        if !base.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._~:/[]%".contains(&byte)) {
            return Err("may consist of letters, digits and -._~:/[]% only");
        }
        Ok(Self { base: base.to_owned(), name })
    }

    /// Returns the address, with a trailing slash.
    pub fn as_str(&self) -> &str {
        &self.base
    }
}

/// Returns the scheme of an address, and its host name without port, both in lower case. Both are empty if there is no
/// `://`.
fn scheme_and_host(address: &str) -> (String, String) {
    let (scheme, rest) = address.split_once("://").unwrap_or_default();
    let authority = rest.split('/').next().unwrap_or_default();
    (scheme.to_ascii_lowercase(), host_name(authority))
}

/// Returns the name in `user@name:port`, in lower case. An IPv6 address keeps its brackets.
fn host_name(authority: &str) -> String {
    let after_user = authority.rsplit('@').next().unwrap_or_default();
    let end = match after_user.rfind(':') {
        Some(colon) if !after_user[colon..].contains(']') => colon,
        _ => after_user.len(),
    };
    after_user[..end].to_ascii_lowercase()
}

/// Returns true if the requested host has the route. Without a host for the frames, and for `Both`, every host has it.
/// An address or method that is not in the table belongs to the public host.
pub(crate) fn has_route(state: &AppState, request: &Request) -> bool {
    if state.pages_host.as_ref().is_some_and(|pages| !pages.has_path(state, request)) {
        return false;
    }
    let Some(fields) = &state.fields_url else { return true };
    let requested = if is_requested_host(state, &fields.name, request) { RouteHost::Fields } else { RouteHost::Public };
    let host = request
        .extensions()
        .get::<MatchedPath>()
        .and_then(|path| HOSTS.get(path.as_str())?.iter().find(|(method, _)| is_method(request.method(), *method)));
    // On the public host, an unsupported method gets 405; the fields host responds 404, so that it does not reveal its
    // routes.
    host.map_or(requested == RouteHost::Public, |(_, host)| *host == RouteHost::Both || *host == requested)
}

/// The hosts of each route, by its path and method.
static HOSTS: LazyLock<HashMap<&'static str, Vec<(reference::HttpMethod, RouteHost)>>> = LazyLock::new(|| {
    let mut hosts: HashMap<_, Vec<_>> = HashMap::new();
    for route in reference::ROUTES.iter() {
        hosts.entry(route.path).or_default().push((route.method, route.host));
    }
    hosts
});

/// Returns true if a route's method handles the requested one. GET handles HEAD too.
fn is_method(requested: &Method, method: reference::HttpMethod) -> bool {
    requested.as_str() == method.as_str() || (requested == Method::HEAD && method == reference::HttpMethod::Get)
}

/// Returns true if the browser requested the host with this name, whatever its port: by `X-Forwarded-Host` of a trusted
/// proxy, otherwise by the request's address or `Host`. False if none of them is there.
fn is_requested_host(state: &AppState, name: &str, request: &Request) -> bool {
    let is_behind_proxy = client::is_behind_proxy(state, request.extensions());
    let reported = is_behind_proxy.then(|| forwarded::read_host(request.headers())).flatten();
    let host = reported.as_deref().or_else(|| request.uri().authority().map(|authority| authority.as_str()));
    let host = host.or_else(|| request.headers().get(header::HOST)?.to_str().ok());
    host.is_some_and(|host| host_name(host.trim()) == name)
}

/// Further pages, such as the back office, with a host of their own (`--backoffice-url`).
#[derive(Debug, Clone)]
pub struct PagesHost {
    /// Host name in lower case, without a port.
    name: String,
    /// The path of the pages.
    path: &'static str,
}

impl PagesHost {
    /// Takes the host of an address for the pages below a path.
    pub fn new(address: &str, path: &'static str) -> Self {
        let (_, name) = scheme_and_host(address);
        Self { name, path }
    }

    /// Returns true if an address has the same host.
    pub fn is_host_of(&self, address: &str) -> bool {
        scheme_and_host(address).1 == self.name
    }

    /// Returns true if the requested host has the requested path: its host has only the pages, and no other host has
    /// them.
    fn has_path(&self, state: &AppState, request: &Request) -> bool {
        let rest = request.uri().path().strip_prefix(self.path);
        let is_page = rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        is_page == is_requested_host(state, &self.name, request)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use crate::checkout::fields_host::*;

    #[test]
    fn a_host_is_known_by_its_name_whatever_its_case_and_port() {
        for (authority, name) in [
            ("fields.pay.example", "fields.pay.example"),
            ("Fields.PAY.example:8443", "fields.pay.example"),
            ("[::1]:8080", "[::1]"),
            ("[::1]", "[::1]"),
            ("", ""),
        ] {
            assert_eq!(host_name(authority), name);
        }
    }

    #[test]
    fn an_address_that_would_not_separate_the_frames_is_refused() {
        let public = "https://pay.example/";
        assert_eq!(
            FieldsUrl::new("https://fields.pay.example/", public).unwrap().as_str(),
            "https://fields.pay.example/"
        );
        for base in [
            "https://pay.example/",
            "https://PAY.example:8443/",
            "http://fields.pay.example/",
            "https://fields.pay.example/\"+alert(1)+\"/",
            "https://fields.pay.example/'/",
        ] {
            assert!(FieldsUrl::new(base, public).is_err(), "{base}");
        }
    }
}
