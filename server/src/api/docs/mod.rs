//! What the service says about its own routes: the table that describes each once, and the two documents made of it and
//! of the catalogue of parameters, `/openapi.json` for programs and `/reference` for people.

mod openapi;
mod options;
mod page;
mod page_text;
mod responses;
mod route;
mod schema;
mod table;
mod test_data;

use std::sync::LazyLock;

use axum::body::Bytes;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
pub use route::{Body, Browsers, Caller, Host, Method, Own, Route, Section, Takes};
pub use table::ROUTES;

use super::reply::json;

/// How long a document may be kept; a new build may say more.
const CACHE: HeaderValue = HeaderValue::from_static("public, max-age=300");

static OPENAPI: LazyLock<Bytes> = LazyLock::new(|| Bytes::from(openapi::document().to_string()));
static PAGE: LazyLock<(Bytes, HeaderValue)> = LazyLock::new(|| {
    let (page, policy) = page::document();
    (Bytes::from(page), policy)
});

/// The OpenAPI description; the same bytes for a build's whole life. Any page may read it: it tells nothing that the
/// source does not.
pub(super) async fn openapi() -> Response {
    let mut response = json(StatusCode::OK, OPENAPI.clone());
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, CACHE);
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    response
}

/// The reference page: one document without scripts and without anything to load, so that it can be saved and read
/// where there is no network.
pub(super) async fn reference() -> Response {
    let (page, policy) = &*PAGE;
    let mut response = Response::new(page.clone().into());
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/html;charset=UTF-8"));
    headers.insert(header::CACHE_CONTROL, CACHE);
    headers.insert(header::CONTENT_SECURITY_POLICY, policy.clone());
    response
}
