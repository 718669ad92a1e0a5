//! Admits browser requests according to the route table. Merchant credentials must not be used by scripts in a page,
//! some routes are only for the form's own frames, and a form that another site posts to one of our pages is no press
//! of a button there. A request without `Sec-Fetch-Site` and `Origin` comes from a
//! server, or from a browser that is too old to send either header.

use std::collections::HashMap;
use std::sync::LazyLock;

use axum::body::Body;
use axum::extract::{MatchedPath, Request};
use axum::http::{HeaderMap, Method, header};
use axum::response::{IntoResponse as _, Response};
use tillgate_domain::refusal::Refusal;

use crate::app_state::AppState;
use crate::checkout::host_names::FieldsUrl;
use crate::error_response::ApiError;
use crate::reference::{BrowserAccess, ROUTES};
use crate::response::ndc_of_path;

/// Header that identifies a browser. `Sec-Fetch-Mode` does not: Node's `fetch` sends it too.
const SITE: &str = "sec-fetch-site";

/// The rule of each route, by method and path.
static RULES: LazyLock<HashMap<(&str, &str), BrowserAccess>> =
    LazyLock::new(|| ROUTES.iter().map(|row| ((row.method.as_str(), row.path), row.browser_access)).collect());

/// Returns the request if its route admits it, without its fields if they are those of another site. HEAD counts as
/// GET, and a path or method without a row in the table is admitted.
///
/// # Errors
/// 403 for a request of a browser (it has `Sec-Fetch-Site` or `Origin`) if the route is for servers, or if it is for
/// our own pages and another page made the request.
#[allow(clippy::result_large_err)] // both are moved once
pub(crate) fn admit_browser_request(state: &AppState, request: Request) -> Result<Request, Response> {
    let headers = request.headers();
    // Most requests come from servers and return here.
    if !headers.contains_key(SITE) && !headers.contains_key(header::ORIGIN) {
        return Ok(request);
    }
    let method = if request.method() == Method::HEAD { Method::GET.as_str() } else { request.method().as_str() };
    let path = request.extensions().get::<MatchedPath>().map(MatchedPath::as_str).unwrap_or_default();
    let refusal = match RULES.get(&(method, path)) {
        Some(BrowserAccess::Refused) => Refusal::browser_not_allowed(),
        Some(BrowserAccess::OwnPages) if !is_from_own_page(state, headers) => Refusal::other_page_not_allowed(),
        Some(BrowserAccess::Visits) if !is_from_own_page(state, headers) => return Ok(without_fields(request)),
        _ => return Ok(request),
    };
    Err(ApiError::new(refusal, ndc_of_path(request.uri().path(), None)).into_response())
}

/// Returns a request with an empty form in the place of its body.
fn without_fields(request: Request) -> Request {
    let (mut parts, _) = request.into_parts();
    for name in [header::CONTENT_LENGTH, header::CONTENT_TYPE, header::CONTENT_ENCODING, header::TRANSFER_ENCODING] {
        parts.headers.remove(name);
    }
    Request::from_parts(parts, Body::empty())
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
