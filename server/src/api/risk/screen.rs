//! `/v2/riskScreen` and `/v2/registrations/{id}/riskScreen`: stand-alone risk checks.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use tillgate_domain::idempotency::EncodedResponse;
use tillgate_domain::ndc::Ndc;
use tillgate_domain::payment::Payment;

use crate::api::error::ApiError;
use crate::api::extract::{MerchantRequest, PathId};
use crate::api::json_object::JsonObject;
use crate::api::response::{encode_response, into_http_response, result_fields};
use crate::api::{AppState, view};

/// Handles `POST /v2/riskScreen`: checks an order with the account in its parameters.
pub(in crate::api) async fn screen_order(
    State(state): State<Arc<AppState>>,
    merchant: MerchantRequest,
) -> Result<Response, ApiError> {
    let ndc = merchant.ndc.clone();
    let recorder = merchant.response_recorder({
        let ndc = ndc.clone();
        move |checked: &Payment| encode_check(checked, &ndc)
    });
    match state.gateway.screen_order(&merchant.entity, merchant.parameters, recorder).await {
        Ok(checked) => Ok(into_http_response(encode_check(&checked, &ndc))),
        Err(failure) => Err(ApiError::new(failure, ndc)),
    }
}

/// Handles `POST /v2/registrations/{id}/riskScreen`: checks an order with a stored account.
pub(in crate::api) async fn screen_registration(
    State(state): State<Arc<AppState>>,
    PathId(id): PathId,
    merchant: MerchantRequest,
) -> Result<Response, ApiError> {
    let ndc = merchant.ndc.clone();
    let recorder = merchant.response_recorder({
        let ndc = ndc.clone();
        move |checked: &Payment| encode_check(checked, &ndc)
    });
    match state.gateway.screen_registration(&merchant.entity, &id, merchant.parameters, recorder).await {
        Ok(checked) => Ok(into_http_response(encode_check(&checked, &ndc))),
        Err(failure) => Err(ApiError::new(failure, ndc)),
    }
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
    view::echo_parameters(&mut fields, &checked.parameters);
    view::add_risk_score(&mut fields, checked);
    encode_response(view::http_status(checked.result), fields, ndc, checked.created)
}
