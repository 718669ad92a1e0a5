//! `/scheduling/v1/schedules`: payments by a registration at planned times, which merchants create, change, end and
//! read.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use tillgate_domain::idempotency::EncodedResponse;
use tillgate_domain::ndc::Ndc;
use tillgate_domain::schedule::Schedule;
use tillgate_gateway::schedule::{FoundSchedules, ScheduleDetails};
use tillgate_wire::schedule::{ScheduleDetailFields, ScheduleFields, ScheduleListFields};

use crate::app_state::AppState;
use crate::extract::{MerchantRequest, PathId};
use crate::merchant_response::ApiResult;
use crate::response::encode_response;

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
            FoundSchedules::One(details) => {
                let ScheduleDetails { schedule, step, steps, runs } = &*details;
                Ok(merchant.build_response(ScheduleDetailFields::new(schedule, step, steps, runs)))
            }
            FoundSchedules::OfRegistration(schedules) => {
                Ok(merchant.build_response(ScheduleListFields::new(&schedules)))
            }
        })
        .await
}

/// Builds the response to a request that created or changed a schedule. Its timestamp is that of the request, so that
/// it has the same bytes each time.
fn encode_schedule(schedule: &Schedule, ndc: &Ndc) -> EncodedResponse {
    encode_response(StatusCode::OK, ScheduleFields::of_live(schedule), ndc, schedule.live.at)
}
