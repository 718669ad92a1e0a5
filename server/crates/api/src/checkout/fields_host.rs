//! The host of the card frames (`--fields-url`). Browsers isolate pages by origin: if the frames have their own host,
//! no other page of the gateway can read the card data typed into them. [`reference::ROUTES`] lists the hosts of each
//! route.

use std::collections::HashMap;
use std::sync::LazyLock;

use axum::extract::{MatchedPath, Request};
use axum::http::{Method, header};
use tillgate_net::forwarded;

use super::host_names::{PagesHost, host_name};
use crate::app_state::AppState;
use crate::client;
use crate::reference::{self, RouteHost};

/// Returns true if the requested host has the route. Without a host for the frames, and for `Both`, every host has it.
/// An address or method that is not in the table belongs to the public host.
pub(crate) fn has_route(state: &AppState, request: &Request) -> bool {
    if state.pages_host.as_ref().is_some_and(|pages| !is_host_of_path(state, pages, request)) {
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

/// Returns true if the requested host has the requested path: the host of the pages has only the pages, and no other
/// host has them.
fn is_host_of_path(state: &AppState, pages: &PagesHost, request: &Request) -> bool {
    pages.has_path(request.uri().path()) == is_requested_host(state, &pages.name, request)
}
