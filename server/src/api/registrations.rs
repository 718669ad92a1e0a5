//! `/v1/registrations`: stored payment data, made, read, paid with, kept for longer and deleted.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;

use super::error::ApiError;
use super::extract::{Id, Merchant, PublicUrl};
use super::fields::Fields;
use super::reply::{answer_at, send};
use super::{Edge, payments, view};
use crate::domain::idempotency::Answer;
use crate::domain::ndc::Ndc;
use crate::domain::registration::Registration;
use crate::gateway::Failure;
use crate::gateway::pay::Addresses;

/// What a registration's answer is about, as its `paymentType` says.
pub(super) const REGISTERED: &str = "RG";
const EXTENDED: &str = "TE";
const DEREGISTERED: &str = "DR";

pub(super) async fn create(State(edge): State<Arc<Edge>>, merchant: Merchant) -> Result<Response, ApiError> {
    let ndc = merchant.ndc.clone();
    let once = merchant.once(about(REGISTERED, &ndc));
    let outcome = edge.gateway.register(&merchant.entity, merchant.parameters, once).await;
    reply(outcome, REGISTERED, ndc)
}

pub(super) async fn read(State(edge): State<Arc<Edge>>, Id(id): Id, merchant: Merchant) -> Result<Response, ApiError> {
    let ndc = merchant.ndc.clone();
    reply(edge.gateway.live_registration(&merchant.entity, &id), REGISTERED, ndc)
}

pub(super) async fn delete(
    State(edge): State<Arc<Edge>>,
    Id(id): Id,
    merchant: Merchant,
) -> Result<Response, ApiError> {
    let ndc = merchant.ndc.clone();
    let once = merchant.once(about(DEREGISTERED, &ndc));
    reply(edge.gateway.deregister(&merchant.entity, &id, once).await, DEREGISTERED, ndc)
}

pub(super) async fn extend(
    State(edge): State<Arc<Edge>>,
    Id(id): Id,
    merchant: Merchant,
) -> Result<Response, ApiError> {
    let ndc = merchant.ndc.clone();
    let once = merchant.once(about(EXTENDED, &ndc));
    let outcome = edge.gateway.extend_registration(&merchant.entity, &id, &merchant.parameters, once).await;
    reply(outcome, EXTENDED, ndc)
}

pub(super) async fn pay(
    State(edge): State<Arc<Edge>>,
    Id(id): Id,
    PublicUrl(public): PublicUrl,
    merchant: Merchant,
) -> Result<Response, ApiError> {
    let ndc = merchant.ndc.clone();
    let once = merchant.once({
        let ndc = ndc.clone();
        move |payment| payments::answer(payment, &ndc)
    });
    let addresses = Addresses { public: &public, result: None, shop_origin: None, shopper: None };
    match edge.gateway.pay_by_registration(&merchant.entity, &id, merchant.parameters, addresses, once).await {
        Ok(payment) => Ok(send(payments::answer(&payment, &ndc))),
        Err(failure) => Err(ApiError::new(failure, ndc)),
    }
}

/// The answer about a registration, for a named request to keep.
fn about(what: &'static str, ndc: &Ndc) -> impl Fn(&Registration) -> Answer + Send + Sync + 'static {
    let ndc = ndc.clone();
    move |registration| answer(registration, what, &ndc)
}

fn reply(outcome: Result<Registration, Failure>, what: &'static str, ndc: Ndc) -> Result<Response, ApiError> {
    match outcome {
        Ok(registration) => Ok(send(answer(&registration, what, &ndc))),
        Err(failure) => Err(ApiError::new(failure, ndc)),
    }
}

/// The fields of a registration, as the status of the checkout that made it shows them.
pub(super) fn fields(registration: &Registration) -> Fields<'_> {
    view::registration(registration, REGISTERED)
}

pub(super) fn answer(registration: &Registration, what: &'static str, ndc: &Ndc) -> Answer {
    let fields = view::registration(registration, what);
    answer_at(view::status(registration.result), fields, ndc, registration.created)
}
