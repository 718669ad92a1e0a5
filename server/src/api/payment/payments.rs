//! `/v1/payments`: server-to-server payments, their captures, reversals and refunds, and their status.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use tillgate_domain::idempotency::EncodedResponse;
use tillgate_domain::ndc::Ndc;
use tillgate_domain::payment::Payment;
use tillgate_gateway::payment::pay::Addresses;

use crate::api::error::ApiError;
use crate::api::extract::{MerchantRequest, PathId, PublicUrl};
use crate::api::payment::state;
use crate::api::registration::registrations;
use crate::api::response::{encode_response, into_http_response};
use crate::api::{AppState, view};

/// Handles `POST /v1/payments`: makes a payment, or a follow-up payment if the parameters refer to an earlier one. A
/// declined payment is a response with 400, not an error.
pub(in crate::api) async fn create(
    State(state): State<Arc<AppState>>,
    PublicUrl(public): PublicUrl,
    merchant: MerchantRequest,
) -> Result<Response, ApiError> {
    let ndc = merchant.ndc.clone();
    let recorder = merchant.response_recorder({
        let ndc = ndc.clone();
        move |payment| encode_payment(payment, &ndc)
    });
    let addresses = Addresses { public: &public, result: None, shop_origin: None, shopper: None };
    match state.gateway.pay(&merchant.entity, merchant.parameters, merchant.scopes, addresses, recorder).await {
        Ok(payment) => Ok(into_http_response(encode_payment(&payment, &ndc))),
        Err(failure) => Err(ApiError::new(failure, ndc)),
    }
}

/// Handles `GET /v1/payments/{id}`: the payment with its state after follow-up payments. If there is no such payment,
/// looks for a registration with this id; the error is that of the payment.
pub(in crate::api) async fn read(
    State(state): State<Arc<AppState>>,
    PathId(id): PathId,
    merchant: MerchantRequest,
) -> Result<Response, ApiError> {
    let ndc = merchant.ndc.clone();
    match state.gateway.load_payment(&merchant.entity, &id) {
        Ok((payment, status)) => {
            let mut fields = view::payment_fields(&payment);
            state::add_state_fields(&mut fields, &status);
            Ok(into_http_response(encode_response(payment_http_status(&payment), fields, &ndc, payment.created)))
        }
        // Shops request any id that they were given at this address, also a registration's (contract, 0.20).
        Err(failure) => match state.gateway.load_live_registration(&merchant.entity, &id) {
            Ok(registration) => Ok(into_http_response(registrations::encode_registration(
                &registration,
                registrations::REGISTERED,
                &ndc,
            ))),
            Err(_) => Err(ApiError::new(failure, ndc)),
        },
    }
}

/// Handles `POST /v1/payments/{id}`: captures, reverses, refunds or charges back the payment. The response is about the
/// follow-up payment.
pub(in crate::api) async fn modify(
    State(state): State<Arc<AppState>>,
    PathId(id): PathId,
    merchant: MerchantRequest,
) -> Result<Response, ApiError> {
    let ndc = merchant.ndc.clone();
    let recorder = merchant.response_recorder({
        let ndc = ndc.clone();
        move |payment| encode_payment(payment, &ndc)
    });
    let MerchantRequest { entity, parameters, scopes, .. } = merchant;
    match state.gateway.modify_payment(&entity, &id, parameters, scopes, recorder).await {
        Ok(payment) => Ok(into_http_response(encode_payment(&payment, &ndc))),
        Err(failure) => Err(ApiError::new(failure, ndc)),
    }
}

/// Returns 200 for an approved payment, also if its code is the reason of a chargeback, otherwise the status of its
/// code.
fn payment_http_status(payment: &Payment) -> StatusCode {
    if payment.is_approved() { StatusCode::OK } else { view::http_status(payment.result) }
}

/// Builds the response about a payment, without its follow-up payments. Its timestamp is the payment's creation, so
/// that it has the same bytes each time.
pub(in crate::api) fn encode_payment(payment: &Payment, ndc: &Ndc) -> EncodedResponse {
    encode_response(payment_http_status(payment), view::payment_fields(payment), ndc, payment.created)
}
