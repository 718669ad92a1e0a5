//! The host of the card frames (`--fields-url`). Browsers isolate pages by origin: where the frames have a host of their own,
//! no other page of the gateway can read what is typed into them. Each route names its hosts in [`docs::ROUTES`].

use std::collections::HashMap;
use std::sync::LazyLock;

use axum::extract::{MatchedPath, Request};
use axum::http::{HeaderMap, Method, header};

use super::docs::{self, Host};
use super::{Edge, client};

/// The address of the card frames.
#[derive(Debug, Clone)]
pub struct FieldsUrl {
    /// The address, with a slash at its end.
    base: String,
    /// Its host name in lower case, without a port.
    name: String,
}

impl FieldsUrl {
    /// Checks the address against the public one.
    ///
    /// # Errors
    /// A sentence that says what is wrong, for the operator.
    pub fn new(base: &str, public: &str) -> Result<Self, &'static str> {
        let (scheme, name) = parts(base);
        let (public_scheme, public_name) = parts(public);
        if name == public_name {
            return Err("needs a host name of its own: browsers and proxies tell the frames from other pages by it");
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

    /// The address, with a slash at its end.
    pub fn base(&self) -> &str {
        &self.base
    }
}

/// The scheme of an address, and its host name in lower case.
fn parts(address: &str) -> (String, String) {
    let (scheme, rest) = address.split_once("://").unwrap_or_default();
    let authority = rest.split('/').next().unwrap_or_default();
    (scheme.to_ascii_lowercase(), host_name(authority))
}

/// The name in `name:port`, in lower case.
fn host_name(authority: &str) -> String {
    let after_user = authority.rsplit('@').next().unwrap_or_default();
    let end = match after_user.rfind(':') {
        Some(colon) if !after_user[colon..].contains(']') => colon,
        _ => after_user.len(),
    };
    after_user[..end].to_ascii_lowercase()
}

/// Returns true if the route exists on the host that the browser asked.
pub(super) fn has_route(edge: &Edge, request: &Request) -> bool {
    let Some(fields) = &edge.fields_url else { return true };
    let asked = if is_for(edge, fields, request) { Host::Fields } else { Host::Public };
    let host = request
        .extensions()
        .get::<MatchedPath>()
        .and_then(|path| HOSTS.get(path.as_str())?.iter().find(|(method, _)| is_method(request.method(), *method)));
    // A method that a public route does not know is told as such; the fields host tells nothing of its routes.
    host.map_or(asked == Host::Public, |(_, host)| *host == Host::Both || *host == asked)
}

/// The hosts of each route, by its path and method.
static HOSTS: LazyLock<HashMap<&'static str, Vec<(docs::Method, Host)>>> = LazyLock::new(|| {
    let mut hosts: HashMap<_, Vec<_>> = HashMap::new();
    for route in docs::ROUTES {
        hosts.entry(route.path).or_default().push((route.method, route.host));
    }
    hosts
});

fn is_method(asked: &Method, method: docs::Method) -> bool {
    asked.as_str() == method.as_str() || (asked == Method::HEAD && method == docs::Method::Get)
}

/// Returns true if the browser asked the host of the card frames.
fn is_for(edge: &Edge, fields: &FieldsUrl, request: &Request) -> bool {
    let forwarded = client::is_behind_proxy(edge, request.extensions()).then(|| forwarded(request.headers())).flatten();
    let host = forwarded.or_else(|| request.uri().authority().map(|authority| authority.as_str()));
    let host = host.or_else(|| request.headers().get(header::HOST)?.to_str().ok());
    host.is_some_and(|host| host_name(host.trim()) == fields.name)
}

/// The host that the proxy next to us was asked for: proxies append, so it is the last one.
fn forwarded(headers: &HeaderMap) -> Option<&str> {
    let all = headers.get_all("x-forwarded-host").iter().next_back()?.to_str().ok()?;
    all.rsplit(',').next().map(str::trim).filter(|host| !host.is_empty())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

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
            FieldsUrl::new("https://fields.pay.example/", public).unwrap().base(),
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
