//! `/v1/payments`: server-to-server payments, their captures, reversals and refunds, and their status.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use tillgate_domain::idempotency::EncodedResponse;
use tillgate_domain::ndc::Ndc;
use tillgate_domain::payment::Payment;
use tillgate_gateway::payment::addresses::Addresses;
use tillgate_wire::payment::{PaymentFields, PaymentStatusFields};

use crate::app_state::AppState;
use crate::extract::{MerchantRequest, PathId, PublicUrl};
use crate::merchant_response::ApiResult;
use crate::registration::registrations;
use crate::response::{build_response_at, encode_response, http_status, into_http_response};

/// Handles `POST /v1/payments`: makes a payment, or a follow-up payment if the parameters refer to an earlier one. A
/// declined payment is a response with 400, not an error.
pub(crate) async fn create(
    State(state): State<Arc<AppState>>,
    PublicUrl(public): PublicUrl,
    merchant: MerchantRequest,
) -> ApiResult {
    let addresses = Addresses { public: &public, result: None, shop_origin: None, shopper: None };
    merchant
        .respond_recorded(encode_payment, async |MerchantRequest { entity, parameters, scopes, .. }, recorder| {
            state.gateway.pay(&entity, parameters, scopes, addresses, recorder).await
        })
        .await
}

/// Handles `GET /v1/payments/{id}`: the payment with its state after follow-up payments. If there is no such payment,
/// looks for a registration with this id; the error is that of the payment.
pub(crate) async fn read(
    State(state): State<Arc<AppState>>,
    PathId(id): PathId,
    merchant: MerchantRequest,
) -> ApiResult {
    merchant
        .respond(async |MerchantRequest { entity, ndc, .. }| match state.gateway.load_payment(&entity, &id) {
            Ok((payment, status)) => {
                let fields = PaymentStatusFields::new(&payment, &status);
                Ok(build_response_at(payment_http_status(&payment), fields, &ndc, payment.created))
            }
            // Shops request any id that they were given at this address, also a registration's (contract, 0.20).
            Err(failure) => match state.gateway.load_live_registration(&entity, &id) {
                Ok(registration) => Ok(into_http_response(registrations::encode_registered(&registration, &ndc))),
                Err(_) => Err(failure),
            },
        })
        .await
}

/// Handles `POST /v1/payments/{id}`: captures, raises, reverses, refunds or charges back the payment. The response is
/// about the follow-up payment.
pub(crate) async fn modify(
    State(state): State<Arc<AppState>>,
    PathId(id): PathId,
    merchant: MerchantRequest,
) -> ApiResult {
    merchant
        .respond_recorded(encode_payment, async |MerchantRequest { entity, parameters, scopes, .. }, recorder| {
            state.gateway.modify_payment(&entity, &id, parameters, scopes, recorder).await
        })
        .await
}

/// Returns 200 for an approved payment, also if its code is the reason of a chargeback, otherwise the status of its
/// code.
fn payment_http_status(payment: &Payment) -> StatusCode {
    if payment.is_approved() { StatusCode::OK } else { http_status(payment.result) }
}

/// Builds the response about a payment, without its follow-up payments. Its timestamp is the payment's creation, so
/// that it has the same bytes each time.
pub(crate) fn encode_payment(payment: &Payment, ndc: &Ndc) -> EncodedResponse {
    encode_response(payment_http_status(payment), PaymentFields::from(payment), ndc, payment.created)
}
