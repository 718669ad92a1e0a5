//! `/v1/registrations`: stored payment data, which merchants create, read, pay with, extend and delete.

use std::sync::Arc;

use axum::extract::State;
use tillgate_domain::idempotency::EncodedResponse;
use tillgate_domain::ndc::Ndc;
use tillgate_domain::registration::Registration;
use tillgate_gateway::payment::addresses::Addresses;
use tillgate_wire::registration::RegistrationFields;

use crate::app_state::AppState;
use crate::extract::{MerchantRequest, PathId, PublicUrl};
use crate::merchant_response::ApiResult;
use crate::payment::payments::encode_payment;
use crate::response::{encode_response, http_status, into_http_response};

/// The `paymentType` in responses about a registration whose retention is extended.
const EXTENDED: &str = "TE";
/// The same if it is deleted.
const DEREGISTERED: &str = "DR";

/// Handles `POST /v1/registrations`: stores an account under a new id.
pub(crate) async fn create(State(state): State<Arc<AppState>>, merchant: MerchantRequest) -> ApiResult {
    merchant
        .respond_recorded(encode_registered, async |MerchantRequest { entity, parameters, .. }, recorder| {
            state.gateway.register_account(&entity, parameters, recorder).await
        })
        .await
}

/// Handles `GET /v1/registrations/{id}`: responds with a registration that has not ended, or with the code of its end.
pub(crate) async fn read(
    State(state): State<Arc<AppState>>,
    PathId(id): PathId,
    merchant: MerchantRequest,
) -> ApiResult {
    merchant
        .respond(async |MerchantRequest { entity, ndc, .. }| {
            let registration = state.gateway.load_live_registration(&entity, &id)?;
            Ok(into_http_response(encode_registered(&registration, &ndc)))
        })
        .await
}

/// Handles `DELETE /v1/registrations/{id}`: deletes the account, and ends its standing instructions.
pub(crate) async fn delete(
    State(state): State<Arc<AppState>>,
    PathId(id): PathId,
    merchant: MerchantRequest,
) -> ApiResult {
    let encode = |registration: &Registration, ndc: &Ndc| encode_registration(registration, DEREGISTERED, ndc);
    merchant
        .respond_recorded(encode, async |merchant, recorder| {
            state.gateway.delete_registration(&merchant.entity, &id, recorder).await
        })
        .await
}

/// Handles `POST /v1/registrations/{id}/extendlife`: extends the retention of a registration.
pub(crate) async fn extend(
    State(state): State<Arc<AppState>>,
    PathId(id): PathId,
    merchant: MerchantRequest,
) -> ApiResult {
    let encode = |registration: &Registration, ndc: &Ndc| encode_registration(registration, EXTENDED, ndc);
    merchant
        .respond_recorded(encode, async |merchant, recorder| {
            state.gateway.extend_registration(&merchant.entity, &id, &merchant.parameters, recorder).await
        })
        .await
}

/// Handles `POST /v1/registrations/{id}/payments`: makes a payment with the stored account.
pub(crate) async fn pay_by_registration(
    State(state): State<Arc<AppState>>,
    PathId(id): PathId,
    PublicUrl(public): PublicUrl,
    merchant: MerchantRequest,
) -> ApiResult {
    let addresses = Addresses { public: &public, result: None, shop_origin: None, shopper: None };
    merchant
        .respond_recorded(encode_payment, async |MerchantRequest { entity, parameters, scopes, .. }, recorder| {
            state.gateway.pay_by_registration(&entity, &id, parameters, scopes, addresses, recorder).await
        })
        .await
}

/// Builds the response about a registration that is created or read.
pub(crate) fn encode_registered(registration: &Registration, ndc: &Ndc) -> EncodedResponse {
    encode_fields(registration, RegistrationFields::from(registration), ndc)
}

/// Builds the response about a registration. `payment_type` says what was done with the registration.
fn encode_registration(registration: &Registration, payment_type: &'static str, ndc: &Ndc) -> EncodedResponse {
    encode_fields(registration, RegistrationFields::new(registration, payment_type), ndc)
}

/// Builds the response with these fields of a registration, 400 if it was rejected. Its timestamp is the registration's
/// creation, so that it has the same bytes each time.
fn encode_fields(registration: &Registration, fields: RegistrationFields<'_>, ndc: &Ndc) -> EncodedResponse {
    encode_response(http_status(registration.result), fields, ndc, registration.created)
}
