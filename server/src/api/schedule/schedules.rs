//! `/scheduling/v1/schedules`: payments by a registration at planned times, which merchants create, change, end and
//! read.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use tillgate_domain::idempotency::EncodedResponse;
use tillgate_domain::ndc::Ndc;
use tillgate_domain::schedule::Schedule;
use tillgate_gateway::Failure;
use tillgate_gateway::schedule::FoundSchedules;
use tillgate_shared::result::codes;

use crate::api::AppState;
use crate::api::error::ApiError;
use crate::api::extract::{MerchantRequest, PathId};
use crate::api::json_object::JsonObject;
use crate::api::response::{build_response, encode_response, into_http_response, result_fields};
use crate::api::schedule::view::detail_fields;
use crate::api::schedule::view::schedule_fields;

/// Handles `POST /scheduling/v1/schedules`: creates a schedule (SD).
pub(in crate::api) async fn create(
    State(state): State<Arc<AppState>>,
    merchant: MerchantRequest,
) -> Result<Response, ApiError> {
    let ndc = merchant.ndc.clone();
    let recorder = merchant.response_recorder(schedule_encoder(&ndc));
    let MerchantRequest { entity, parameters, own, .. } = merchant;
    respond_with_schedule(state.gateway.create_schedule(&entity, &parameters, &own, recorder).await, ndc)
}

/// Handles `POST /scheduling/v1/schedules/{id}/reschedule`: changes a schedule (RS).
pub(in crate::api) async fn reschedule(
    State(state): State<Arc<AppState>>,
    PathId(id): PathId,
    merchant: MerchantRequest,
) -> Result<Response, ApiError> {
    let ndc = merchant.ndc.clone();
    let recorder = merchant.response_recorder(schedule_encoder(&ndc));
    let MerchantRequest { entity, parameters, own, .. } = merchant;
    respond_with_schedule(state.gateway.reschedule(&entity, &id, &parameters, &own, recorder).await, ndc)
}

/// Handles `POST /scheduling/v1/schedules/{id}/deschedule` and `DELETE /scheduling/v1/schedules/{id}`: ends a schedule
/// (DS).
pub(in crate::api) async fn deschedule(
    State(state): State<Arc<AppState>>,
    PathId(id): PathId,
    merchant: MerchantRequest,
) -> Result<Response, ApiError> {
    let ndc = merchant.ndc.clone();
    let recorder = merchant.response_recorder(schedule_encoder(&ndc));
    let MerchantRequest { entity, parameters, .. } = merchant;
    respond_with_schedule(state.gateway.deschedule(&entity, &id, &parameters, recorder).await, ndc)
}

/// Handles `GET /scheduling/v1/schedules/{id}`: a schedule with its chain and its runs, or the schedules of a
/// registration.
pub(in crate::api) async fn read(
    State(state): State<Arc<AppState>>,
    PathId(id): PathId,
    merchant: MerchantRequest,
) -> Result<Response, ApiError> {
    let ndc = merchant.ndc;
    match state.gateway.find_schedules(&merchant.entity, &id) {
        Ok(FoundSchedules::One(details)) => Ok(build_response(StatusCode::OK, detail_fields(&details), &ndc)),
        Ok(FoundSchedules::OfRegistration(schedules)) => {
            let schedules: Vec<JsonObject<'_>> = schedules
                .iter()
                .map(|schedule| schedule_fields(schedule, &schedule.live, codes::REQUEST_SUCCEEDED))
                .collect();
            let fields = JsonObject::default()
                .with("result", result_fields(codes::REQUEST_SUCCEEDED))
                .with("schedules", schedules);
            Ok(build_response(StatusCode::OK, fields, &ndc))
        }
        Err(failure) => Err(ApiError::new(failure, ndc)),
    }
}

/// Returns the function with which the response recorder builds the response about a schedule.
fn schedule_encoder(ndc: &Ndc) -> impl Fn(&Schedule) -> EncodedResponse + Send + Sync + 'static {
    let ndc = ndc.clone();
    move |schedule| encode_schedule(schedule, &ndc)
}

/// Builds the response about a schedule or its failure.
fn respond_with_schedule(outcome: Result<Schedule, Failure>, ndc: Ndc) -> Result<Response, ApiError> {
    match outcome {
        Ok(schedule) => Ok(into_http_response(encode_schedule(&schedule, &ndc))),
        Err(failure) => Err(ApiError::new(failure, ndc)),
    }
}

/// Builds the response to a request that created or changed a schedule. Its timestamp is that of the request, so that
/// it has the same bytes each time.
fn encode_schedule(schedule: &Schedule, ndc: &Ndc) -> EncodedResponse {
    let fields = schedule_fields(schedule, &schedule.live, codes::REQUEST_SUCCEEDED);
    encode_response(StatusCode::OK, fields, ndc, schedule.live.at)
}
