//! Metadata of the service: its result codes and its health.

use std::sync::{Arc, LazyLock};

use axum::body::Bytes;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use tillgate_domain::access::setup_fault::SetupFault;
use tillgate_wire::service::{HealthFields, LineFields, ResultCodesFields};

use super::app_state::AppState;
use super::response::{build_response, new_ndc};

/// The body of the list of result codes.
static RESULT_CODES: LazyLock<Bytes> =
    LazyLock::new(|| Bytes::from(serde_json::to_vec(&ResultCodesFields::list_all()).unwrap_or_default()));

/// Lists every result code with its group and its description. The bytes are the same for the life of a build.
pub(super) async fn list_result_codes() -> Response {
    let headers = [
        (header::CONTENT_TYPE, "application/json;charset=UTF-8"),
        (header::CACHE_CONTROL, "public, max-age=3600"),
        (header::ACCESS_CONTROL_ALLOW_ORIGIN, "*"),
    ];
    (headers, RESULT_CODES.clone()).into_response()
}

/// Responds 200 while the store can write and read, otherwise 503 with the reason. Also responds 503 while the server
/// is about to stop, so that a proxy sends requests elsewhere. The check writes a row, at most once per second; in
/// between, the last result is repeated. Names the mistakes in the set-up and the lines to acquirers in all cases.
pub(super) async fn read_health(State(state): State<Arc<AppState>>) -> Response {
    let ndc = new_ndc(None);
    let mut faults = state.setup_faults.clone();
    let store = &state.gateway.store;
    faults.extend(store.is_clock_off().then_some(SetupFault::Clock));
    faults.extend(store.lacks_commits().then_some(SetupFault::LostCommits));
    let lines = state.gateway.connectors.lines().iter().map(|line| line.read_state());
    // Neither addresses nor errors: everybody can read this.
    let lines: Vec<_> =
        lines.map(|line| LineFields { name: line.name.to_string(), phase: line.phase.as_str() }).collect();
    if state.draining.has_begun() {
        let fields = HealthFields::draining(&faults).with_lines(lines);
        return build_response(StatusCode::SERVICE_UNAVAILABLE, fields, &ndc);
    }
    match state.gateway.store.check_health().await {
        Ok(()) => build_response(StatusCode::OK, HealthFields::ok(&faults).with_lines(lines), &ndc),
        Err(fault) => {
            let fields = HealthFields::unavailable(fault.as_str(), fault.description(), &faults).with_lines(lines);
            let mut response = build_response(StatusCode::SERVICE_UNAVAILABLE, fields, &ndc);
            response.headers_mut().insert(header::RETRY_AFTER, fault.retry_after().into());
            response
        }
    }
}
