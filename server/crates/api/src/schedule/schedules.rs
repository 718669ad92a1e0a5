//! `/scheduling/v1/schedules`: payments by a registration at planned times, which merchants create, change, end and
//! read.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use tillgate_domain::idempotency::EncodedResponse;
use tillgate_domain::ndc::Ndc;
use tillgate_domain::schedule::Schedule;
use tillgate_gateway::schedule::FoundSchedules;
use tillgate_shared::result::codes;

use crate::AppState;
use crate::extract::{MerchantRequest, PathId};
use crate::json_object::JsonObject;
use crate::merchant_response::ApiResult;
use crate::response::{encode_response, success_fields};
use crate::schedule::view::detail_fields;
use crate::schedule::view::schedule_fields;

/// Handles `POST /scheduling/v1/schedules`: creates a schedule (SD).
pub(crate) async fn create(State(state): State<Arc<AppState>>, merchant: MerchantRequest) -> ApiResult {
    merchant
        .respond_recorded(encode_schedule, async |MerchantRequest { entity, parameters, own, .. }, recorder| {
            state.gateway.create_schedule(&entity, &parameters, &own, recorder).await
        })
        .await
}

/// Handles `POST /scheduling/v1/schedules/{id}/reschedule`: changes a schedule (RS).
pub(crate) async fn reschedule(
    State(state): State<Arc<AppState>>,
    PathId(id): PathId,
    merchant: MerchantRequest,
) -> ApiResult {
    merchant
        .respond_recorded(encode_schedule, async |MerchantRequest { entity, parameters, own, .. }, recorder| {
            state.gateway.reschedule(&entity, &id, &parameters, &own, recorder).await
        })
        .await
}

/// Handles `POST /scheduling/v1/schedules/{id}/deschedule` and `DELETE /scheduling/v1/schedules/{id}`: ends a schedule
/// (DS).
pub(crate) async fn deschedule(
    State(state): State<Arc<AppState>>,
    PathId(id): PathId,
    merchant: MerchantRequest,
) -> ApiResult {
    merchant
        .respond_recorded(encode_schedule, async |MerchantRequest { entity, parameters, .. }, recorder| {
            state.gateway.deschedule(&entity, &id, &parameters, recorder).await
        })
        .await
}

/// Handles `GET /scheduling/v1/schedules/{id}`: a schedule with its chain and its runs, or the schedules of a
/// registration.
pub(crate) async fn read(
    State(state): State<Arc<AppState>>,
    PathId(id): PathId,
    merchant: MerchantRequest,
) -> ApiResult {
    merchant
        .respond(async |merchant| match state.gateway.find_schedules(&merchant.entity, &id)? {
            FoundSchedules::One(details) => Ok(merchant.build_response(detail_fields(&details))),
            FoundSchedules::OfRegistration(schedules) => {
                let schedules: Vec<JsonObject<'_>> = schedules
                    .iter()
                    .map(|schedule| schedule_fields(schedule, &schedule.live, codes::REQUEST_SUCCEEDED))
                    .collect();
                Ok(merchant.build_response(success_fields().with("schedules", schedules)))
            }
        })
        .await
}

/// Builds the response to a request that created or changed a schedule. Its timestamp is that of the request, so that
/// it has the same bytes each time.
fn encode_schedule(schedule: &Schedule, ndc: &Ndc) -> EncodedResponse {
    let fields = schedule_fields(schedule, &schedule.live, codes::REQUEST_SUCCEEDED);
    encode_response(StatusCode::OK, fields, ndc, schedule.live.at)
}
