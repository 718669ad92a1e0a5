//! Documentation of the routes: the table that describes each route, and the two documents generated from it and from
//! the catalogue of parameters, `/openapi.json` for programs and `/reference` for people.

mod openapi;
mod options;
mod page;
mod page_text;
mod response_content;
mod responses;
mod route;
mod schema;
mod table;

use std::sync::{Arc, LazyLock, OnceLock};

use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::Response;
pub use response_content::ResponseContent;
pub use route::{
    AcceptedParameters, BrowserAccess, Caller, HttpMethod, Route, RouteHost, RouteParameter, RouteSection,
};
pub use table::ROUTES;

use super::app_state::AppState;
use crate::form::EncodedFile;
use crate::served_file::file_response;

/// Cache lifetime of a document. It is short, because a new build may change the document.
const CACHE: &str = "public, max-age=300";

/// The documents are compressed at their first load and never again, because anyone may load them: a megabyte of text
/// would keep a thread busy at each load.
static OPENAPI: LazyLock<EncodedFile> = LazyLock::new(|| encode_openapi(&openapi::build_document()));
static PAGE: LazyLock<(EncodedFile, HeaderValue)> = LazyLock::new(|| {
    let (page, policy) = page::build_document();
    (EncodedFile::compress("text/html;charset=UTF-8", Bytes::from(page)), policy)
});

/// The document of a gateway whose public address has a path, which is the same for the life of the process.
static OPENAPI_BELOW_PATH: OnceLock<EncodedFile> = OnceLock::new();

fn encode_openapi(document: &serde_json::Value) -> EncodedFile {
    EncodedFile::compress("application/json;charset=UTF-8", Bytes::from(document.to_string()))
}

/// Serves the OpenAPI description. The bytes are the same for the life of the process. Any page may read it, because
/// it contains nothing secret.
pub(super) async fn serve_openapi(State(state): State<Arc<AppState>>, headers: HeaderMap) -> Response {
    let document = match public_path(state.public_url.as_deref()) {
        "" => &*OPENAPI,
        path => OPENAPI_BELOW_PATH.get_or_init(|| {
            let mut document = openapi::build_document();
            document["servers"] = serde_json::json!([{ "url": format!("/{path}") }]);
            encode_openapi(&document)
        }),
    };
    file_response(document, &headers, CACHE)
}

/// Returns the path of the public address without slashes at its ends: `pay` of `https://host/pay/`. Empty without one.
fn public_path(public_url: Option<&str>) -> &str {
    let rest = public_url.and_then(|url| url.split_once("://")).map(|(_, rest)| rest).unwrap_or_default();
    rest.split_once('/').map(|(_, path)| path.trim_matches('/')).unwrap_or_default()
}

/// Serves the reference page: one document without scripts and without anything to load, so that it can be saved and
/// read offline.
pub(super) async fn serve_reference(headers: HeaderMap) -> Response {
    let (page, policy) = &*PAGE;
    let mut response = file_response(page, &headers, CACHE);
    response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, policy.clone());
    response
}
