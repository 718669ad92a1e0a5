//! `/v1/clock/{advance}`: moves a sandbox entity's clock, for tests of what happens later.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use tillgate_shared::result::codes;

use super::Edge;
use super::error::ApiError;
use super::extract::{Id, Merchant};
use super::fields::Fields;
use super::reply::{answer_at, result, send, wire_time};
use crate::domain::idempotency::Answer;
use crate::domain::ndc::Ndc;
use crate::gateway::clock::Time;

pub(super) async fn advance(
    State(edge): State<Arc<Edge>>,
    Id(by): Id,
    merchant: Merchant,
) -> Result<Response, ApiError> {
    let ndc = merchant.ndc.clone();
    let once = merchant.once({
        let ndc = ndc.clone();
        move |time| answer(time, &ndc)
    });
    match edge.gateway.advance_clock(&merchant.entity, &by, once).await {
        Ok(time) => Ok(send(answer(&time, &ndc))),
        Err(failure) => Err(ApiError::new(failure, ndc)),
    }
}

fn answer(time: &Time, ndc: &Ndc) -> Answer {
    let fields = Fields::default()
        .with("result", result(codes::REQUEST_SUCCEEDED))
        .with("now", wire_time(time.now))
        .with("ahead", format!("{:#}", time.ahead));
    answer_at(StatusCode::OK, fields, ndc, time.now)
}
