//! Refuses browser requests according to the route table. Merchant credentials must not be used by scripts in a page,
//! and some routes are only for the form's own frames. A request without `Sec-Fetch-Site` and `Origin` comes from a
//! server, or from a browser that is too old to send either header.

use std::collections::HashMap;
use std::sync::LazyLock;

use axum::extract::{MatchedPath, Request};
use axum::http::{HeaderMap, Method, header};
use axum::response::{IntoResponse as _, Response};

use super::AppState;
use super::docs::{BrowserAccess, ROUTES};
use super::error::ApiError;
use super::fields_host::FieldsUrl;
use super::response::ndc_of_path;
use crate::domain::refusal::Refusal;

/// Header that identifies a browser. `Sec-Fetch-Mode` does not: Node's `fetch` sends it too.
const SITE: &str = "sec-fetch-site";

/// The rule of each route, by method and path.
static RULES: LazyLock<HashMap<(&str, &str), BrowserAccess>> =
    LazyLock::new(|| ROUTES.iter().map(|row| ((row.method.as_str(), row.path), row.browser_access)).collect());

/// Refuses a request of a browser (it has `Sec-Fetch-Site` or `Origin`) with 403 if the route is for servers, or if it
/// is for our own pages and another page made the request. Returns `None` if the request is allowed; HEAD counts as
/// GET, and a path or method without a row in the table is allowed.
pub(super) fn refuse_browser_request(state: &AppState, request: &Request) -> Option<Response> {
    let headers = request.headers();
    // Most requests come from servers and return here.
    if !headers.contains_key(SITE) && !headers.contains_key(header::ORIGIN) {
        return None;
    }
    let method = if request.method() == Method::HEAD { Method::GET.as_str() } else { request.method().as_str() };
    let path = request.extensions().get::<MatchedPath>().map(MatchedPath::as_str).unwrap_or_default();
    let refusal = match RULES.get(&(method, path))? {
        BrowserAccess::Refused => Refusal::browser_not_allowed(),
        BrowserAccess::OwnPages if !is_from_own_page(state, headers) => Refusal::other_page_not_allowed(),
        _ => return None,
    };
    Some(ApiError::new(refusal, ndc_of_path(request.uri().path(), None)).into_response())
}

/// Returns true if a page of our own origin made the request: `Sec-Fetch-Site` is `same-origin`, or without that header
/// (Safari before 16.4) the origin is absent, `null` (pages with the referrer policy `no-referrer`, as all of ours), or
/// on the requested or a configured host. The scheme is not compared.
fn is_from_own_page(state: &AppState, headers: &HeaderMap) -> bool {
    let text = |name: &str| headers.get(name).map(|value| value.to_str().unwrap_or("?"));
    if let Some(site) = text(SITE) {
        return site == "same-origin";
    }
    let authority = |url: &str| url.split("//").nth(1).and_then(|rest| rest.split('/').next()).map(str::to_owned);
    match text(header::ORIGIN.as_str()) {
        None | Some("null") => true,
        Some(origin) => {
            let configured = [state.public_url.as_deref(), state.fields_url.as_ref().map(FieldsUrl::as_str)];
            authority(origin).is_some_and(|page| {
                text(header::HOST.as_str()) == Some(page.as_str())
                    || configured.into_iter().flatten().filter_map(authority).any(|own| own == page)
            })
        }
    }
}
