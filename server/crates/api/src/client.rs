//! Client address of a request, and the public address under which the shopper's browser reached the gateway.

use std::net::IpAddr;

use axum::http::request::Parts;
use axum::http::{Extensions, HeaderMap, header};
use tillgate_net::{client_address, forwarded};
use tillgate_shared::format::mask::{Strictness, has_card_number};
use tillgate_shared::parameter::{Parameters, find_parameter};

use super::app_state::AppState;

/// Returns the client's address, as [`client_address::resolve_address`] finds it.
pub(super) fn resolve_address(state: &AppState, parts: &Parts) -> IpAddr {
    client_address::resolve_address(&state.trusted_proxies, &parts.headers, &parts.extensions)
}

/// Returns true if the connection comes from a trusted proxy.
pub(super) fn is_behind_proxy(state: &AppState, extensions: &Extensions) -> bool {
    client_address::is_behind_proxy(&state.trusted_proxies, extensions)
}

/// Adds accept header, user agent and first language of the request to the browser data that the form sends
/// (specification, document 2: `customer.browser`). Adds nothing if the form sends no such data, and replaces nothing
/// that it sends.
pub(super) fn add_browser_fields(headers: &HeaderMap, form: &mut Parameters) {
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
        // A header value that the parameter's format does not allow is left out, because the merchant did not send it.
        if let Some(value) = value
            && !form.contains(name)
            && find_parameter(name).is_some_and(|row| row.format.check_value(value).is_ok())
        {
            form.set(name, value);
        }
    }
}

/// Returns the address that browsers use, with a trailing slash: the configured one, or one derived from the request's
/// `Host` (without a usable one, `localhost`). Its scheme is `http` unless a trusted proxy reports `https`.
pub(super) fn public_url(state: &AppState, parts: &Parts) -> String {
    if let Some(configured) = &state.public_url {
        return configured.clone();
    }
    let behind_proxy = is_behind_proxy(state, &parts.extensions);
    let text = |name: &str| parts.headers.get(name).and_then(|value| value.to_str().ok());
    let scheme = match forwarded::read_scheme(&parts.headers).as_deref() {
        Some("https") if behind_proxy => "https",
        _ => "http",
    };
    // The host becomes part of stored addresses, which must not contain a card number.
    let host =
        text(header::HOST.as_str()).filter(|host| !has_card_number(host, Strictness::InUse)).unwrap_or("localhost");
    format!("{scheme}://{host}/")
}
