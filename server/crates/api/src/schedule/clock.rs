//! `/v1/clock/{advance}`: advances a sandbox entity's clock, to test what happens later.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use tillgate_domain::idempotency::EncodedResponse;
use tillgate_domain::ndc::Ndc;
use tillgate_gateway::schedule::clock::ClockReading;
use tillgate_wire::schedule::ClockFields;

use crate::app_state::AppState;
use crate::extract::{MerchantRequest, PathId};
use crate::merchant_response::ApiResult;
use crate::response::encode_response;

/// Moves the entity's clock forward by the duration in the path (`30m`, `25h`), and responds with its new time after
/// what became due has run, or with the number of runs that are still due. 404 for a live entity.
pub(crate) async fn advance(
    State(state): State<Arc<AppState>>,
    PathId(by): PathId,
    merchant: MerchantRequest,
) -> ApiResult {
    merchant
        .respond_recorded(encode_time, async |merchant, recorder| {
            state.gateway.advance_clock(&merchant.entity, &by, recorder).await
        })
        .await
}

/// Builds the response with the clock's time, and with its lead over the machine's clock.
fn encode_time(time: &ClockReading, ndc: &Ndc) -> EncodedResponse {
    encode_response(StatusCode::OK, ClockFields::new(time.now, time.ahead, time.still_due), ndc, time.now)
}
