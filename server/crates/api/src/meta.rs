//! Metadata of the service: its result codes and its health.

use std::sync::{Arc, LazyLock};

use axum::body::Bytes;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use serde_json::{Value, json};
use tillgate_domain::access::setup_fault::SetupFault;
use tillgate_shared::result::ResultCode;

use super::AppState;
use super::response::{build_response, new_ndc};
use tillgate_wire::json_object::JsonObject;

/// The body of the list of result codes.
static RESULT_CODES: LazyLock<Bytes> = LazyLock::new(|| {
    let codes: Vec<Value> = ResultCode::all()
        .map(|code| json!({ "code": code.code(), "group": code.group().as_str(), "description": code.description() }))
        .collect();
    Bytes::from(json!({ "resultCodes": codes }).to_string())
});

/// Lists every result code with its group and its description. The bytes are the same for the life of a build.
pub(super) async fn list_result_codes() -> Response {
    let headers = [
        (header::CONTENT_TYPE, "application/json;charset=UTF-8"),
        (header::CACHE_CONTROL, "public, max-age=3600"),
        (header::ACCESS_CONTROL_ALLOW_ORIGIN, "*"),
    ];
    (headers, RESULT_CODES.clone()).into_response()
}

/// Responds 200 while the store can write and read, otherwise 503 with the reason. The check writes a row, at most
/// once per second; in between, the last result is repeated. Names the mistakes in the set-up in both cases.
pub(super) async fn read_health(State(state): State<Arc<AppState>>) -> Response {
    let ndc = new_ndc(None);
    match state.gateway.store.check_health().await {
        Ok(()) => {
            let fields = JsonObject::default().with("status", "ok");
            build_response(StatusCode::OK, add_warnings(fields, &state.setup_faults), &ndc)
        }
        Err(fault) => {
            let fields = JsonObject::default()
                .with("status", "unavailable")
                .with("reason", fault.as_str())
                .with("description", fault.description());
            let fields = add_warnings(fields, &state.setup_faults);
            let mut response = build_response(StatusCode::SERVICE_UNAVAILABLE, fields, &ndc);
            response.headers_mut().insert(header::RETRY_AFTER, fault.retry_after().into());
            response
        }
    }
}

/// Adds the mistakes in the set-up to the fields of `/health`, if there are any.
fn add_warnings<'a>(fields: JsonObject<'a>, faults: &[SetupFault]) -> JsonObject<'a> {
    if faults.is_empty() {
        return fields;
    }
    let describe = |fault: &SetupFault| {
        JsonObject::default().with("option", fault.as_str()).with("description", fault.description())
    };
    fields.with("warnings", faults.iter().map(describe).collect::<Vec<_>>())
}
