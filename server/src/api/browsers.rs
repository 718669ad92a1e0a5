//! Refuses requests of browsers where the table of routes says so: a script that holds credentials cannot use them in a page,
//! and what the form's frames may ask no other page may ask. Requests without `Sec-Fetch-Site` and `Origin` come from servers
//! or from browsers that are too old to send either.

use std::collections::HashMap;
use std::sync::LazyLock;

use axum::extract::{MatchedPath, Request};
use axum::http::{HeaderMap, Method, header};
use axum::response::{IntoResponse as _, Response};

use super::Edge;
use super::docs::{Browsers, ROUTES};
use super::error::ApiError;
use super::fields_host::FieldsUrl;
use super::reply::ndc_of_path;
use crate::domain::refusal::Refusal;

// `Sec-Fetch-Mode` is no sign of a browser: Node's `fetch` sends it too.
const SITE: &str = "sec-fetch-site";

/// The rule of each route, by method and path.
static RULES: LazyLock<HashMap<(&str, &str), Browsers>> =
    LazyLock::new(|| ROUTES.iter().map(|row| ((row.method.as_str(), row.path), row.browsers)).collect());

/// Refuses a browser's request that the table of routes does not allow, or returns `None`.
pub(super) fn refuse(edge: &Edge, request: &Request) -> Option<Response> {
    let headers = request.headers();
    // Servers' requests end here, which is most of them.
    if !headers.contains_key(SITE) && !headers.contains_key(header::ORIGIN) {
        return None;
    }
    let method = if request.method() == Method::HEAD { Method::GET.as_str() } else { request.method().as_str() };
    let path = request.extensions().get::<MatchedPath>().map(MatchedPath::as_str).unwrap_or_default();
    let refusal = match RULES.get(&(method, path))? {
        Browsers::Refused => Refusal::browser_not_allowed(),
        Browsers::OwnPages if !is_from_own_page(edge, headers) => Refusal::other_page_not_allowed(),
        _ => return None,
    };
    Some(ApiError::new(refusal, ndc_of_path(request.uri().path(), None)).into_response())
}

/// Returns true if a page of our own origin made the request. Browsers without `Sec-Fetch-Site` (Safari before 16.4) name the
/// page's origin, or `null` where a form is sent from a page that keeps its address to itself, as all of ours do.
fn is_from_own_page(edge: &Edge, headers: &HeaderMap) -> bool {
    let text = |name: &str| headers.get(name).map(|value| value.to_str().unwrap_or("?"));
    if let Some(site) = text(SITE) {
        return site == "same-origin";
    }
    let authority = |url: &str| url.split("//").nth(1).and_then(|rest| rest.split('/').next()).map(str::to_owned);
    match text(header::ORIGIN.as_str()) {
        None | Some("null") => true,
        Some(origin) => {
            let configured = [edge.public_url.as_deref(), edge.fields_url.as_ref().map(FieldsUrl::base)];
            authority(origin).is_some_and(|page| {
                text(header::HOST.as_str()) == Some(page.as_str())
                    || configured.into_iter().flatten().filter_map(authority).any(|own| own == page)
            })
        }
    }
}
