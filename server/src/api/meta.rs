//! What the service says about itself: its result codes and its health.

use std::sync::{Arc, LazyLock};

use axum::body::Bytes;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use serde_json::{Value, json};
use tillgate_shared::result::ResultCode;

use super::Edge;
use super::fields::Fields;
use super::reply::{fresh_ndc, reply};

static RESULT_CODES: LazyLock<Bytes> = LazyLock::new(|| {
    let codes: Vec<Value> = ResultCode::all()
        .map(|code| json!({ "code": code.code(), "group": code.group().as_str(), "description": code.description() }))
        .collect();
    Bytes::from(json!({ "resultCodes": codes }).to_string())
});

/// Every result code with its group and its description; the same bytes for a build's whole life.
pub(super) async fn result_codes() -> Response {
    let headers = [
        (header::CONTENT_TYPE, "application/json;charset=UTF-8"),
        (header::CACHE_CONTROL, "public, max-age=3600"),
        (header::ACCESS_CONTROL_ALLOW_ORIGIN, "*"),
    ];
    (headers, RESULT_CODES.clone()).into_response()
}

/// 200 while the store writes and reads, 503 with the reason otherwise. A row is written, at most once a second.
pub(super) async fn health(State(edge): State<Arc<Edge>>) -> Response {
    let ndc = fresh_ndc(None);
    match edge.gateway.store.check_health().await {
        Ok(()) => reply(StatusCode::OK, Fields::default().with("status", "ok"), &ndc),
        Err(sickness) => {
            let fields = Fields::default()
                .with("status", "unavailable")
                .with("reason", sickness.word())
                .with("description", sickness.description());
            let mut response = reply(StatusCode::SERVICE_UNAVAILABLE, fields, &ndc);
            response.headers_mut().insert(header::RETRY_AFTER, sickness.retry_after().into());
            response
        }
    }
}
