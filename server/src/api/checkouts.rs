//! `/v1/checkouts`: prepared by the merchant, submitted by the shopper's browser, read by the merchant.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use jiff::Timestamp;
use tillgate_shared::form::Duplicates;
use tillgate_shared::result::{ResultCode, codes};

use super::error::ApiError;
use super::extract::{Id, Merchant, parameters};
use super::fields::Fields;
use super::reply::{Ndc, answer_at, body_at, described, reply, result, send};
use super::{Edge, client, registrations, view};
use crate::domain::checkout::{Checkout, Standing};
use crate::domain::idempotency::Answer;
use crate::gateway::Failure;
use crate::gateway::checkout::Status;
use crate::gateway::submit::Submitted;

pub(super) async fn create(State(edge): State<Arc<Edge>>, merchant: Merchant) -> Result<Response, ApiError> {
    let integrity = merchant.parameters.get("integrity") == Some("true");
    let answer = {
        let edge = Arc::clone(&edge);
        move |checkout: &Checkout| {
            let integrity = integrity.then(|| edge.builds.current().loader_integrity.as_str());
            about(checkout, codes::CHECKOUT_CREATED, integrity, checkout.created)
        }
    };
    let once = merchant.once(answer.clone());
    let checkout = edge
        .gateway
        .create_checkout(&merchant.entity, merchant.parameters, &edge.builds.current().id, once)
        .await
        .map_err(|failure| ApiError::new(failure, Ndc::fresh(Some(&merchant.entity.id))))?;
    Ok(send(answer(&checkout)))
}

pub(super) async fn update(
    State(edge): State<Arc<Edge>>,
    Id(id): Id,
    merchant: Merchant,
) -> Result<Response, ApiError> {
    let now = Timestamp::now();
    let answer = move |checkout: &Checkout| about(checkout, codes::CHECKOUT_UPDATED, None, now);
    let once = merchant.once(answer);
    let checkout = edge
        .gateway
        .update_checkout(&merchant.entity, &id, merchant.parameters, once)
        .await
        .map_err(|failure| ApiError::new(failure, Ndc::of_checkout(&id)))?;
    Ok(send(answer(&checkout)))
}

fn about(checkout: &Checkout, code: ResultCode, integrity: Option<&str>, time: Timestamp) -> Answer {
    let mut fields = Fields::default().with("result", result(code)).with("id", checkout.id.as_str());
    if let Some(integrity) = integrity {
        fields.set("integrity", integrity);
    }
    answer_at(StatusCode::OK, fields, &Ndc::of_checkout(checkout.id.as_str()), time)
}

pub(super) async fn status(
    State(edge): State<Arc<Edge>>,
    Id(id): Id,
    merchant: Merchant,
) -> Result<Response, ApiError> {
    if let Some(answer) = edge.settled.get(&merchant.entity.id, &id) {
        return Ok(answer);
    }
    let ndc = Ndc::of_checkout(&id);
    match edge.gateway.checkout_status(&merchant.entity, &id) {
        Ok(Status::Attempted(payment, standing)) => {
            let fields = view::payment(&payment).with(STANDING, standing.word());
            if standing == Standing::Paid {
                let body = body_at(fields, &ndc, payment.created);
                return Ok(edge.settled.keep(&merchant.entity.id, &id, view::status(payment.result), body));
            }
            Ok(send(answer_at(view::status(payment.result), fields, &ndc, payment.created)))
        }
        other => without_payment(other, &id, ndc),
    }
}

pub(super) async fn registration_status(
    State(edge): State<Arc<Edge>>,
    Id(id): Id,
    merchant: Merchant,
) -> Result<Response, ApiError> {
    without_payment(edge.gateway.registration_status(&merchant.entity, &id), &id, Ndc::of_checkout(&id))
}

/// The status of a checkout in which nobody was charged.
fn without_payment(status: Result<Status, Failure>, id: &str, ndc: Ndc) -> Result<Response, ApiError> {
    match status {
        Ok(Status::Attempted(payment, standing)) => {
            let fields = view::payment(&payment).with(STANDING, standing.word());
            Ok(send(answer_at(view::status(payment.result), fields, &ndc, payment.created)))
        }
        Ok(Status::Registered(registration, standing)) => {
            let fields = registrations::fields(&registration).with(STANDING, standing.word());
            Ok(send(answer_at(view::status(registration.result), fields, &ndc, registration.created)))
        }
        Ok(Status::Pending) => Ok(unpaid(id, codes::PENDING, codes::PENDING.description(), Standing::Open, &ndc)),
        Ok(Status::Expired) => {
            let words = "The checkout expired after 30 minutes without a payment";
            Ok(unpaid(id, codes::SESSION_TIMEOUT, words, Standing::Expired, &ndc))
        }
        Err(failure) => Err(ApiError::new(failure, ndc)),
    }
}

/// The field that tells the cases of a status apart: a decline that may be tried again from one that may not, and a
/// checkout that still waits for its shopper from one whose payment is on its way.
const STANDING: &str = "checkoutState";

/// No payment was attempted: either it may still come, or the half hour is over, which is final.
fn unpaid(id: &str, code: ResultCode, description: &str, standing: Standing, ndc: &Ndc) -> Response {
    let fields = Fields::default().with("result", described(code, description)).with("id", id);
    reply(view::status(code), fields.with(STANDING, standing.word()), ndc)
}

/// The hosted form's submit. Approved and declined answer alike: the outcome is the merchant's to tell, and a stranger
/// who tries numbers learns nothing here. A brand that has a page of its own gets the shopper first.
pub(super) async fn submit(State(edge): State<Arc<Edge>>, Id(id): Id, request: Request) -> Result<Response, ApiError> {
    submitted(&edge, &id, false, request).await
}

/// The submit of a tokenisation form.
pub(super) async fn register(
    State(edge): State<Arc<Edge>>,
    Id(id): Id,
    request: Request,
) -> Result<Response, ApiError> {
    submitted(&edge, &id, true, request).await
}

async fn submitted(edge: &Arc<Edge>, id: &str, registration: bool, request: Request) -> Result<Response, ApiError> {
    let ndc = Ndc::of_checkout(id);
    let (parts, body) = request.into_parts();
    let (shopper, public_url) = (client::address(edge, &parts), client::public_url(edge, &parts));
    let form = match parameters(Request::from_parts(parts, body), Duplicates::LastWins).await {
        Ok(form) => form,
        Err(failure) => return Err(ApiError::new(failure, ndc)),
    };
    let outcome = edge.gateway.submit(id, registration, form, shopper, &public_url).await;
    let Submitted { checkout, redirect } = match outcome {
        Ok(submitted) => submitted,
        Err(failure) => return Err(ApiError::new(failure, ndc)),
    };
    let path = checkout.resource_path();
    let (code, redirect) = match &redirect {
        Some(page) => (codes::PENDING, view::redirect(page)),
        None => (codes::REQUEST_SUCCEEDED, view::way_back(&checkout, &path)),
    };
    let fields = Fields::default()
        .with("result", result(code))
        .with("id", checkout.id.as_str())
        .with("resourcePath", path.as_str())
        .with("redirect", redirect);
    Ok(reply(StatusCode::OK, fields, &ndc))
}
