//! `/v2/riskScreen` and `/v2/registrations/{id}/riskScreen`: stand-alone risk checks.

use std::sync::Arc;

use axum::extract::State;
use tillgate_domain::idempotency::EncodedResponse;
use tillgate_domain::ndc::Ndc;
use tillgate_domain::payment::Payment;
use tillgate_wire::payment::RiskCheckFields;

use crate::app_state::AppState;
use crate::extract::{MerchantRequest, PathId};
use crate::merchant_response::ApiResult;
use crate::response::{encode_response, http_status};

/// Handles `POST /v2/riskScreen`: checks an order with the account in its parameters.
pub(crate) async fn screen_order(State(state): State<Arc<AppState>>, merchant: MerchantRequest) -> ApiResult {
    merchant
        .respond_recorded(encode_check, async |MerchantRequest { entity, parameters, .. }, recorder| {
            state.gateway.screen_order(&entity, parameters, recorder).await
        })
        .await
}

/// Handles `POST /v2/registrations/{id}/riskScreen`: checks an order with a stored account.
pub(crate) async fn screen_registration(
    State(state): State<Arc<AppState>>,
    PathId(id): PathId,
    merchant: MerchantRequest,
) -> ApiResult {
    merchant
        .respond_recorded(encode_check, async |MerchantRequest { entity, parameters, .. }, recorder| {
            state.gateway.screen_registration(&entity, &id, parameters, recorder).await
        })
        .await
}

/// Builds the response of a check: its result and score, and the request. There is no payment, so there is no id. A
/// refused order has status 400, as a declined payment.
fn encode_check(checked: &Payment, ndc: &Ndc) -> EncodedResponse {
    encode_response(http_status(checked.result), RiskCheckFields::from(checked), ndc, checked.created)
}
