//! `/v1/clock/{advance}`: advances a sandbox entity's clock, to test what happens later.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use serde_json::Value;
use tillgate_domain::idempotency::EncodedResponse;
use tillgate_domain::ndc::Ndc;
use tillgate_gateway::schedule::clock::ClockReading;
use tillgate_shared::result::codes;

use crate::api::AppState;
use crate::api::error::ApiError;
use crate::api::extract::{MerchantRequest, PathId};
use crate::api::json_object::JsonObject;
use crate::api::response::{encode_response, into_http_response, result_fields, wire_time};

/// Moves the entity's clock forward by the duration in the path (`30m`, `25h`), and responds with its new time after
/// what became due has run, or with the number of runs that are still due. 404 for a live entity.
pub(in crate::api) async fn advance(
    State(state): State<Arc<AppState>>,
    PathId(by): PathId,
    merchant: MerchantRequest,
) -> Result<Response, ApiError> {
    let ndc = merchant.ndc.clone();
    let recorder = merchant.response_recorder({
        let ndc = ndc.clone();
        move |time| encode_time(time, &ndc)
    });
    match state.gateway.advance_clock(&merchant.entity, &by, recorder).await {
        Ok(time) => Ok(into_http_response(encode_time(&time, &ndc))),
        Err(failure) => Err(ApiError::new(failure, ndc)),
    }
}

/// Builds the response with the clock's time, and with its lead over the machine's clock.
fn encode_time(time: &ClockReading, ndc: &Ndc) -> EncodedResponse {
    let mut fields = JsonObject::default()
        .with("result", result_fields(codes::REQUEST_SUCCEEDED))
        .with("now", wire_time(time.now))
        .with("ahead", format!("{:#}", time.ahead));
    if time.still_due > 0 {
        fields.set("stillDue", Value::from(time.still_due));
    }
    encode_response(StatusCode::OK, fields, ndc, time.now)
}
