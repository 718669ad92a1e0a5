//! Access log: one line per request with method, route, id, status and duration.
//!
//! A line contains nothing that a client chose. The route is logged as its pattern and the id as a log tag, because a
//! path may contain a capability or a card number, and a query string, a header or a body may contain tokens and card
//! data.

use std::time::Instant;

use axum::extract::{MatchedPath, Request};
use axum::middleware::Next;
use axum::response::Response;
use tillgate_domain::id::log_tag_of_path;

/// Route name logged for requests that match no route.
const NO_ROUTE: &str = "/{other}";

/// Runs a request, and logs it afterwards with its duration in microseconds. Measures nothing if the log is off. The
/// duration does not include sending the body.
pub(super) async fn log_request(request: Request, next: Next) -> Response {
    if !tracing::enabled!(target: "tillgate::access", tracing::Level::INFO) {
        return next.run(request).await;
    }
    let started = Instant::now();
    let method = method_name(request.method());
    // Both are reference-counted, so the clones copy no text.
    let (address, route) = (request.uri().clone(), request.extensions().get::<MatchedPath>().cloned());
    let response = next.run(request).await;
    let microseconds = started.elapsed().as_micros();
    let status = response.status().as_u16();
    let route = route.as_ref().map_or(NO_ROUTE, MatchedPath::as_str);
    let id = log_tag_of_path(address.path());
    tracing::info!(target: "tillgate::access", method, route, id, status, microseconds);
    response
}

/// Returns the method's name, or `OTHER` for a method that is not standard.
fn method_name(method: &axum::http::Method) -> &'static str {
    const KNOWN: [&str; 9] = ["GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH", "CONNECT", "TRACE"];
    KNOWN.into_iter().find(|known| *known == method.as_str()).unwrap_or("OTHER")
}
