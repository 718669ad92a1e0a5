//! `/v1/query`: payments by id, by short id, by the merchant's reference, and by date.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use jiff::Timestamp;
use tillgate_domain::access::entity::Entity;
use tillgate_domain::idempotency::EncodedResponse;
use tillgate_domain::ndc::Ndc;
use tillgate_domain::refusal::Refusal;
use tillgate_gateway::payment::query::{QueryCost, QueryPage, QueryResult};
use tillgate_gateway::{Failure, Gateway};
use tillgate_store::Cancellation;
use tillgate_wire::payment::PaymentListFields;

use crate::app_state::AppState;
use crate::extract::{MerchantRequest, PathId};
use crate::merchant_response::ApiResult;
use crate::payment::payments;
use crate::payment::response_cache::cache_key;
use crate::response::{encode_response, into_http_response};

/// Handles `GET /v1/query/{id}`: a payment by its id or short id, alone in the form of its status, or with its linked
/// payments as a list.
pub(crate) async fn query_by_id(
    State(state): State<Arc<AppState>>,
    PathId(id): PathId,
    merchant: MerchantRequest,
) -> ApiResult {
    merchant
        .respond(async |MerchantRequest { entity, parameters, ndc, .. }| {
            let found = run_query(&state, Arc::clone(&entity), move |gateway, cost| {
                let found = gateway.query_by_id(&entity, &id, &parameters, cost)?;
                Ok(found.map(|found| match found {
                    QueryResult::One(payment) => payments::encode_payment(&payment, &ndc),
                    QueryResult::Linked(payments) => {
                        let page = QueryPage { payments, cursor: None, pages: None, cache_stamp: None };
                        encode_list(&entity, &page, &ndc)
                    }
                }))
            });
            found.await.map(into_http_response)
        })
        .await
}

/// Handles `GET /v1/query`: the payments that match a query. The response is cached, by all parameters but the
/// credentials, if its data can be watched for changes.
pub(crate) async fn query_payments(State(state): State<Arc<AppState>>, merchant: MerchantRequest) -> ApiResult {
    let filters = merchant.parameters.iter().filter(|(name, _)| !name.starts_with("authentication."));
    let key = cache_key(&state.gateway.directory, &merchant.entity.id, "query", filters);
    if let Some(response) = state.response_cache.get(&key, &state.gateway.store.change_log) {
        return Ok(response);
    }
    merchant
        .respond(async |MerchantRequest { entity, parameters, ndc, .. }| {
            let found = run_query(&state, Arc::clone(&entity), move |gateway, cost| {
                let page = gateway.query_payments(&entity, &parameters, cost)?;
                Ok(page.map(|page| (encode_list(&entity, &page, &ndc), page.cache_stamp)))
            });
            Ok(match found.await? {
                (response, Some(stamp)) => state.response_cache.store_and_respond(key, response, stamp),
                (response, None) => into_http_response(response),
            })
        })
        .await
}

/// Runs a query immediately if it is brief (`query` does not return `None`), otherwise in the queue of its merchant's
/// long reads.
///
/// # Errors
/// Those of `query`, and 429 if the queue is full or the wait too long.
async fn run_query<T: Send + 'static>(
    state: &Arc<AppState>,
    entity: Arc<Entity>,
    query: impl Fn(&Gateway, QueryCost<'_>) -> Result<Option<T>, Failure> + Send + 'static,
) -> Result<T, Failure> {
    if let Some(found) = query(&state.gateway, QueryCost::Brief)? {
        return Ok(found);
    }
    // Channels share the queue of their merchant.
    let tenant = entity.merchant_or_self();
    let shared = Arc::clone(state);
    let read = move |cancelled: &Cancellation<'_>| query(&shared.gateway, QueryCost::Long(cancelled));
    let found = state.gateway.store.long_reads.run_read(tenant, read).await??;
    // A long read is cancelled if its client disconnects. Its incomplete result is sent to nobody.
    found.ok_or_else(|| Refusal::no_payment_found().into())
}

/// Builds the response with a page of payments. `cursor` and `pages` are left out if the page has none.
fn encode_list(entity: &Entity, page: &QueryPage, ndc: &Ndc) -> EncodedResponse {
    let fields = PaymentListFields::new(&entity.id, page.payments.iter(), page.cursor.as_ref(), page.pages);
    encode_response(StatusCode::OK, fields, ndc, Timestamp::now() + entity.ahead)
}
