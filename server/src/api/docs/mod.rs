//! Documentation of the routes: the table that describes each route, and the two documents generated from it and from
//! the catalogue of parameters, `/openapi.json` for programs and `/reference` for people.

mod dispute_schemas;
mod openapi;
mod options;
mod page;
mod page_text;
mod reconciliation_schemas;
mod response_schemas;
mod responses;
mod route;
mod schedule_schemas;
mod schema;
mod table;

use std::sync::{Arc, LazyLock, OnceLock};

use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
pub use route::{
    AcceptedParameters, BrowserAccess, Caller, HttpMethod, ResponseContent, Route, RouteHost, RouteParameter,
    RouteSection,
};
pub use table::ROUTES;

use super::AppState;
use super::response::json_response;

/// Cache lifetime of a document. It is short, because a new build may change the document.
const CACHE: HeaderValue = HeaderValue::from_static("public, max-age=300");

static OPENAPI: LazyLock<Bytes> = LazyLock::new(|| Bytes::from(openapi::build_document().to_string()));
static PAGE: LazyLock<(Bytes, HeaderValue)> = LazyLock::new(|| {
    let (page, policy) = page::build_document();
    (Bytes::from(page), policy)
});

/// The document of a gateway whose public address has a path, which is the same for the life of the process.
static OPENAPI_BELOW_PATH: OnceLock<Bytes> = OnceLock::new();

/// Serves the OpenAPI description. The bytes are the same for the life of the process. Any page may read it, because
/// it contains nothing secret.
pub(super) async fn serve_openapi(State(state): State<Arc<AppState>>) -> Response {
    let document = match public_path(state.public_url.as_deref()) {
        "" => &*OPENAPI,
        path => OPENAPI_BELOW_PATH.get_or_init(|| {
            let mut document = openapi::build_document();
            document["servers"] = serde_json::json!([{ "url": format!("/{path}") }]);
            Bytes::from(document.to_string())
        }),
    };
    let mut response = json_response(StatusCode::OK, document.clone());
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, CACHE);
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    response
}

/// Returns the path of the public address without slashes at its ends: `pay` of `https://host/pay/`. Empty without one.
fn public_path(public_url: Option<&str>) -> &str {
    let rest = public_url.and_then(|url| url.split_once("://")).map(|(_, rest)| rest).unwrap_or_default();
    rest.split_once('/').map(|(_, path)| path.trim_matches('/')).unwrap_or_default()
}

/// Serves the reference page: one document without scripts and without anything to load, so that it can be saved and
/// read offline.
pub(super) async fn serve_reference() -> Response {
    let (page, policy) = &*PAGE;
    let mut response = Response::new(page.clone().into());
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/html;charset=UTF-8"));
    headers.insert(header::CACHE_CONTROL, CACHE);
    headers.insert(header::CONTENT_SECURITY_POLICY, policy.clone());
    response
}
