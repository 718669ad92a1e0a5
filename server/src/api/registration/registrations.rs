//! `/v1/registrations`: stored payment data, which merchants create, read, pay with, extend and delete.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use tillgate_domain::idempotency::EncodedResponse;
use tillgate_domain::ndc::Ndc;
use tillgate_domain::registration::Registration;
use tillgate_gateway::Failure;
use tillgate_gateway::payment::pay::Addresses;

use crate::api::error::ApiError;
use crate::api::extract::{MerchantRequest, PathId, PublicUrl};
use crate::api::json_object::JsonObject;
use crate::api::payment::payments;
use crate::api::response::{encode_response, into_http_response};
use crate::api::{AppState, view};

/// The `paymentType` in responses about a registration that is created or read.
pub(in crate::api) const REGISTERED: &str = "RG";
/// The same if its retention is extended.
const EXTENDED: &str = "TE";
/// The same if it is deleted.
const DEREGISTERED: &str = "DR";

/// Handles `POST /v1/registrations`: stores an account under a new id.
pub(in crate::api) async fn create(
    State(state): State<Arc<AppState>>,
    merchant: MerchantRequest,
) -> Result<Response, ApiError> {
    let ndc = merchant.ndc.clone();
    let recorder = merchant.response_recorder(registration_encoder(REGISTERED, &ndc));
    let outcome = state.gateway.register_account(&merchant.entity, merchant.parameters, recorder).await;
    respond_with_registration(outcome, REGISTERED, ndc)
}

/// Handles `GET /v1/registrations/{id}`: responds with a registration that has not ended, or with the code of its end.
pub(in crate::api) async fn read(
    State(state): State<Arc<AppState>>,
    PathId(id): PathId,
    merchant: MerchantRequest,
) -> Result<Response, ApiError> {
    let ndc = merchant.ndc.clone();
    respond_with_registration(state.gateway.load_live_registration(&merchant.entity, &id), REGISTERED, ndc)
}

/// Handles `DELETE /v1/registrations/{id}`: deletes the account, and ends its standing instructions.
pub(in crate::api) async fn delete(
    State(state): State<Arc<AppState>>,
    PathId(id): PathId,
    merchant: MerchantRequest,
) -> Result<Response, ApiError> {
    let ndc = merchant.ndc.clone();
    let recorder = merchant.response_recorder(registration_encoder(DEREGISTERED, &ndc));
    respond_with_registration(
        state.gateway.delete_registration(&merchant.entity, &id, recorder).await,
        DEREGISTERED,
        ndc,
    )
}

/// Handles `POST /v1/registrations/{id}/extendlife`: extends the retention of a registration.
pub(in crate::api) async fn extend(
    State(state): State<Arc<AppState>>,
    PathId(id): PathId,
    merchant: MerchantRequest,
) -> Result<Response, ApiError> {
    let ndc = merchant.ndc.clone();
    let recorder = merchant.response_recorder(registration_encoder(EXTENDED, &ndc));
    let outcome = state.gateway.extend_registration(&merchant.entity, &id, &merchant.parameters, recorder).await;
    respond_with_registration(outcome, EXTENDED, ndc)
}

/// Handles `POST /v1/registrations/{id}/payments`: makes a payment with the stored account.
pub(in crate::api) async fn pay_by_registration(
    State(state): State<Arc<AppState>>,
    PathId(id): PathId,
    PublicUrl(public): PublicUrl,
    merchant: MerchantRequest,
) -> Result<Response, ApiError> {
    let ndc = merchant.ndc.clone();
    let recorder = merchant.response_recorder({
        let ndc = ndc.clone();
        move |payment| payments::encode_payment(payment, &ndc)
    });
    let addresses = Addresses { public: &public, result: None, shop_origin: None, shopper: None };
    let MerchantRequest { entity, parameters, scopes, .. } = merchant;
    match state.gateway.pay_by_registration(&entity, &id, parameters, scopes, addresses, recorder).await {
        Ok(payment) => Ok(into_http_response(payments::encode_payment(&payment, &ndc))),
        Err(failure) => Err(ApiError::new(failure, ndc)),
    }
}

/// Returns the function with which the response recorder builds the response about a registration.
fn registration_encoder(
    payment_type: &'static str,
    ndc: &Ndc,
) -> impl Fn(&Registration) -> EncodedResponse + Send + Sync + 'static {
    let ndc = ndc.clone();
    move |registration| encode_registration(registration, payment_type, &ndc)
}

/// Builds the response about a registration or its failure. `payment_type` says what was done with it.
fn respond_with_registration(
    outcome: Result<Registration, Failure>,
    payment_type: &'static str,
    ndc: Ndc,
) -> Result<Response, ApiError> {
    match outcome {
        Ok(registration) => Ok(into_http_response(encode_registration(&registration, payment_type, &ndc))),
        Err(failure) => Err(ApiError::new(failure, ndc)),
    }
}

/// Returns the fields of a created registration, for the status of its checkout and for webhooks.
pub(in crate::api) fn registered_fields(registration: &Registration) -> JsonObject<'_> {
    view::registration_fields(registration, REGISTERED)
}

/// Builds the response about a registration, 400 if it was rejected. Its timestamp is the registration's creation, so
/// that it has the same bytes each time.
pub(in crate::api) fn encode_registration(
    registration: &Registration,
    payment_type: &'static str,
    ndc: &Ndc,
) -> EncodedResponse {
    let fields = view::registration_fields(registration, payment_type);
    encode_response(view::http_status(registration.result), fields, ndc, registration.created)
}
