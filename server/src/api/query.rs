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
use super::reply::{answer_at, result, send, wire_time};
use super::{Edge, payments, view};
use crate::domain::entity::Entity;
use crate::domain::idempotency::Answer;
use crate::domain::ndc::Ndc;
use crate::domain::payment::Payment;
use crate::domain::refusal::Refusal;
use crate::gateway::query::{Effort, Found, Page};
use crate::gateway::{Failure, Gateway};
use crate::store::Cancelled;

/// A payment by its id or short id: alone, it answers as its own status does; with what belongs to it, as a list.
pub(super) async fn one(State(edge): State<Arc<Edge>>, Id(id): Id, merchant: Merchant) -> Result<Response, ApiError> {
    let Merchant { entity, parameters, ndc, .. } = merchant;
    let error = ndc.clone();
    let found = run(&edge, Arc::clone(&entity), move |gateway, effort| {
        let found = gateway.query_id(&entity, &id, &parameters, effort)?;
        Ok(found.map(|found| match found {
            Found::One(payment) => payments::answer(&payment, &ndc),
            Found::Linked(payments) => {
                list(&entity, &Page { payments, cursor: None, pages: None, watched: None }, &ndc)
            }
        }))
    });
    found.await.map(send).map_err(|failure| ApiError::new(failure, error))
}

/// The payments that a query finds.
pub(super) async fn many(State(edge): State<Arc<Edge>>, merchant: Merchant) -> Result<Response, ApiError> {
    let asked = merchant.parameters.iter().filter(|(name, _)| !name.starts_with("authentication."));
    let question = question(&edge.gateway.directory, &merchant.entity.id, "query", asked);
    if let Some(answer) = edge.kept.get(&question, &edge.gateway.store.changed) {
        return Ok(answer);
    }
    let Merchant { entity, parameters, ndc, .. } = merchant;
    let error = ndc.clone();
    let found = run(&edge, Arc::clone(&entity), move |gateway, effort| {
        let page = gateway.query(&entity, &parameters, effort)?;
        Ok(page.map(|page| (list(&entity, &page, &ndc), page.watched)))
    });
    match found.await {
        Ok((answer, Some(watched))) => Ok(edge.kept.keep(question, answer, watched)),
        Ok((answer, None)) => Ok(send(answer)),
        Err(failure) => Err(ApiError::new(failure, error)),
    }
}

/// Runs a query at once if it is brief, otherwise among the long reads of its merchant.
async fn run<T: Send + 'static>(
    edge: &Arc<Edge>,
    entity: Arc<Entity>,
    query: impl Fn(&Gateway, Effort<'_>) -> Result<Option<T>, Failure> + Send + 'static,
) -> Result<T, Failure> {
    if let Some(found) = query(&edge.gateway, Effort::Brief)? {
        return Ok(found);
    }
    // Channels share their merchant's turns.
    let tenant = entity.merchant_or_self();
    let long = Arc::clone(edge);
    let read = move |cancelled: &Cancelled<'_>| query(&long.gateway, Effort::Long(cancelled));
    let found = edge.gateway.store.long_reads.run(tenant, read).await??;
    // A long read of a client that is gone finds less, and nobody sees it.
    found.ok_or_else(|| Refusal::nothing_found().into())
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
