//! `/v1/payments`: pay server to server, capture, reverse or refund what was paid, and read what came of it.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;

use super::error::ApiError;
use super::extract::{Id, Merchant, PublicUrl};
use super::reply::{answer_at, send};
use super::{Edge, registrations, state, view};
use crate::domain::idempotency::Answer;
use crate::domain::ndc::Ndc;
use crate::domain::payment::Payment;
use crate::gateway::pay::Addresses;

pub(super) async fn create(
    State(edge): State<Arc<Edge>>,
    PublicUrl(public): PublicUrl,
    merchant: Merchant,
) -> Result<Response, ApiError> {
    let ndc = merchant.ndc.clone();
    let once = merchant.once({
        let ndc = ndc.clone();
        move |payment| answer(payment, &ndc)
    });
    let addresses = Addresses { public: &public, result: None, shop_origin: None, shopper: None };
    match edge.gateway.pay(&merchant.entity, merchant.parameters, addresses, once).await {
        Ok(payment) => Ok(send(answer(&payment, &ndc))),
        Err(failure) => Err(ApiError::new(failure, ndc)),
    }
}

pub(super) async fn read(State(edge): State<Arc<Edge>>, Id(id): Id, merchant: Merchant) -> Result<Response, ApiError> {
    let ndc = merchant.ndc.clone();
    match edge.gateway.payment(&merchant.entity, &id) {
        Ok((payment, standing)) => {
            let mut fields = view::payment(&payment);
            state::add(&mut fields, &standing);
            Ok(send(answer_at(status(&payment), fields, &ndc, payment.created)))
        }
        // Shops ask for whatever id they were given at this address (contract, 0.20).
        Err(failure) => match edge.gateway.live_registration(&merchant.entity, &id) {
            Ok(registration) => Ok(send(registrations::answer(&registration, registrations::REGISTERED, &ndc))),
            Err(_) => Err(ApiError::new(failure, ndc)),
        },
    }
}

pub(super) async fn refer(State(edge): State<Arc<Edge>>, Id(id): Id, merchant: Merchant) -> Result<Response, ApiError> {
    let ndc = merchant.ndc.clone();
    let once = merchant.once({
        let ndc = ndc.clone();
        move |payment| answer(payment, &ndc)
    });
    match edge.gateway.refer(&merchant.entity, &id, merchant.parameters, once).await {
        Ok(payment) => Ok(send(answer(&payment, &ndc))),
        Err(failure) => Err(ApiError::new(failure, ndc)),
    }
}

/// What was carried out is 200, also where its code is the reason of a chargeback.
fn status(payment: &Payment) -> StatusCode {
    if payment.approved() { StatusCode::OK } else { view::status(payment.result) }
}

/// A payment as its own answer.
pub(super) fn answer(payment: &Payment, ndc: &Ndc) -> Answer {
    answer_at(status(payment), view::payment(payment), ndc, payment.created)
}
