//! `/v1/query`: payments by id, by the number on the statement, by the merchant's reference, and by day.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use jiff::Timestamp;
use serde_json::Value;
use tillgate_shared::result::codes;

use super::error::ApiError;
use super::extract::{Id, Merchant};
use super::fields::Fields;
use super::kept::question;
use super::reply::{Ndc, answer_at, result, send, wire_time};
use super::{Edge, payments, view};
use crate::domain::entity::Entity;
use crate::domain::idempotency::Answer;
use crate::domain::payment::Payment;
use crate::gateway::query::{Found, Page};

/// A payment by its id or short id: alone, it answers as its own status does; with what belongs to it, as a list.
pub(super) async fn one(State(edge): State<Arc<Edge>>, Id(id): Id, merchant: Merchant) -> Result<Response, ApiError> {
    let ndc = Ndc::fresh(Some(&merchant.entity.id));
    match edge.gateway.query_id(&merchant.entity, &id, &merchant.parameters) {
        Ok(Found::One(payment)) => Ok(send(payments::answer(&payment, &ndc))),
        Ok(Found::Linked(payments)) => {
            let page = Page { payments, cursor: None, pages: None, watched: None };
            Ok(send(list(&merchant.entity, &page, &ndc)))
        }
        Err(failure) => Err(ApiError::new(failure, ndc)),
    }
}

/// The payments that a query finds.
pub(super) async fn many(State(edge): State<Arc<Edge>>, merchant: Merchant) -> Result<Response, ApiError> {
    let asked = merchant.parameters.iter().filter(|(name, _)| !name.starts_with("authentication."));
    let question = question(&edge.gateway.directory, &merchant.entity.id, "query", asked);
    if let Some(answer) = edge.kept.get(&question, &edge.gateway.store.changed) {
        return Ok(answer);
    }
    let ndc = Ndc::fresh(Some(&merchant.entity.id));
    match edge.gateway.query(&merchant.entity, &merchant.parameters) {
        Ok(page) => {
            let answer = list(&merchant.entity, &page, &ndc);
            Ok(match page.watched {
                Some(watched) => edge.kept.keep(question, answer, watched),
                None => send(answer),
            })
        }
        Err(failure) => Err(ApiError::new(failure, ndc)),
    }
}

fn list(entity: &Entity, page: &Page, ndc: &Ndc) -> Answer {
    let entries: Vec<Fields<'_>> = page.payments.iter().map(|payment| entry(entity, payment)).collect();
    let mut fields = Fields::default().with("result", result(codes::REQUEST_SUCCEEDED)).with("payments", entries);
    if let Some(cursor) = &page.cursor {
        fields.set("cursor", cursor.as_str());
    }
    if let Some(pages) = page.pages {
        fields.set("pages", Value::from(pages));
    }
    answer_at(StatusCode::OK, fields, ndc, Timestamp::now())
}

/// A payment among others: what its own answer has, what it refers to, and when it was made; and, where a merchant asks
/// for all of its channels, whose it is.
fn entry<'a>(entity: &Entity, payment: &'a Payment) -> Fields<'a> {
    let mut fields = view::payment(payment);
    if let Some(referenced) = &payment.referenced {
        fields.set("referencedId", referenced.as_str());
    }
    if payment.entity != entity.id {
        fields.set("entityId", payment.entity.as_str());
    }
    fields.with("timestamp", wire_time(payment.created))
}
