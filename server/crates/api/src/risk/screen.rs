//! `/v2/riskScreen` and `/v2/registrations/{id}/riskScreen`: stand-alone risk checks.

use std::sync::Arc;

use axum::extract::State;
use tillgate_domain::idempotency::EncodedResponse;
use tillgate_domain::ndc::Ndc;
use tillgate_domain::payment::Payment;

use crate::extract::{MerchantRequest, PathId};
use crate::merchant_response::ApiResult;
use crate::response::{encode_response, result_fields};
use crate::{AppState, view};
use tillgate_wire::echo_parameters;
use tillgate_wire::json_object::JsonObject;

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
    let mut fields = JsonObject::new()
        .with("paymentType", checked.payment_type.code())
        .with("paymentBrand", checked.brand.as_str())
        .with("amount", checked.amount.to_string())
        .with("currency", checked.amount.currency().code())
        .with("descriptor", checked.descriptor.as_str())
        .with("result", result_fields(checked.result));
    view::add_account(&mut fields, &checked.account);
    if let Some(registration) = &checked.registration {
        fields.set("registrationId", registration.as_str());
    }
    echo_parameters(&mut fields, &checked.parameters);
    view::add_risk_score(&mut fields, checked);
    encode_response(view::http_status(checked.result), fields, ndc, checked.created)
}
