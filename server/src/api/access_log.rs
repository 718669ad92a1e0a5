//! One line a request: method, path, status, duration. Never a query string, a header or a body: those carry tokens
//! and card data.

use std::time::Instant;

use axum::extract::Request;
use axum::middleware::Next;
use axum::response::Response;

pub(super) async fn log(request: Request, next: Next) -> Response {
    if !tracing::enabled!(target: "tillgate::access", tracing::Level::INFO) {
        return next.run(request).await;
    }
    let started = Instant::now();
    let method = request.method().clone();
    // Bytes shared with the request's own address: nothing is copied.
    let address = request.uri().clone();
    let response = next.run(request).await;
    let microseconds = started.elapsed().as_micros();
    let status = response.status().as_u16();
    tracing::info!(target: "tillgate::access", %method, path = address.path(), status, microseconds);
    response
}
