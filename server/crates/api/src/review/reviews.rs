//! `/v2/reviews`: the queue of held payments. Analysts list, claim, note and decide them; the user id of the token is
//! the id of the analyst.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use serde_json::{Value, json};
use tillgate_domain::access::entity::Entity;
use tillgate_domain::id::PaymentId;
use tillgate_domain::idempotency::EncodedResponse;
use tillgate_domain::ndc::Ndc;
use tillgate_domain::payment::Payment;
use tillgate_domain::payment::query::PAGE_SIZE;
use tillgate_domain::review::decision::DecisionType;
use tillgate_domain::review::filter::ReviewFilter;
use tillgate_domain::review::queue::{QueueChange, QueuedReview, ReviewAction, ReviewClock};
use tillgate_gateway::review::queue::{ReviewOutcome, ReviewRemarks};
use tillgate_gateway::{Failure, Gateway};
use tillgate_store::Cancellation;

use crate::AppState;
use crate::extract::{MerchantRequest, PathId};
use crate::merchant_response::ApiResult;
use crate::payment::query;
use crate::response::{encode_response, into_http_response, list_fields, success_fields, wire_time};
use crate::risk::rules::optional_time;
use tillgate_wire::json_object::{FieldValue, JsonObject};

/// Handles `GET /v2/reviews`: a page of the queue, those that are held longest first.
pub(crate) async fn list_reviews(State(state): State<Arc<AppState>>, merchant: MerchantRequest) -> ApiResult {
    merchant.respond(async |merchant| build_list(&state, merchant).await).await
}

async fn build_list(state: &Arc<AppState>, merchant: MerchantRequest) -> Result<Response, Failure> {
    let filter = ReviewFilter::from_parameters(&merchant.parameters, &merchant.own, merchant.analyst())?;
    let limit = merchant.page_limit(PAGE_SIZE);
    let cursor = merchant.parameters.get("cursor").map(str::to_owned);
    let MerchantRequest { entity, ndc, .. } = merchant;
    let (shared, owner) = (Arc::clone(state), Arc::clone(&entity));
    let read = move |_: &Cancellation<'_>| {
        let gateway = &shared.gateway;
        let page = gateway.list_reviews(&owner, &filter, cursor.as_deref(), limit)?;
        let clock = gateway.review_clock(&owner);
        let reviews: Vec<JsonObject<'_>> = page
            .reviews
            .iter()
            .map(|(review, payment)| {
                entry_fields(&owner, review, payment).with("review", review_fields(gateway, review, payment, clock))
            })
            .collect();
        let fields = list_fields("reviews", reviews, page.cursor.as_ref().map(PaymentId::as_str));
        Ok::<_, Failure>(encode_response(StatusCode::OK, fields, &ndc, clock.entity_now()))
    };
    // Channels share the queue of their merchant.
    let response = state.gateway.store.long_reads.run_read(entity.merchant_or_self(), read).await??;
    Ok(into_http_response(response))
}

/// Builds the entry of a review in a list: what an analyst has to know to choose one.
fn entry_fields<'a>(entity: &Entity, review: &'a QueuedReview, payment: &'a Payment) -> JsonObject<'a> {
    let mut fields = JsonObject::default()
        .with("id", payment.id.as_str())
        .with("paymentType", payment.payment_type.code())
        .with("paymentBrand", payment.brand.as_str())
        .with("amount", payment.amount.to_string())
        .with("currency", payment.amount.currency().code());
    if review.entity != entity.id {
        fields.set("entityId", review.entity.as_str());
    }
    if let Some(reference) = payment.merchant_transaction_id() {
        fields.set("merchantTransactionId", reference);
    }
    if let Some(decision) = payment.risk.as_ref().and_then(|risk| risk.decision.as_ref()) {
        fields.set("score", decision.score.to_string());
        fields.set("fired", json!(decision.fired));
    }
    fields
}

/// Builds the state of a review: its times, the analyst who has claimed it, and the decision that ended it.
fn review_fields<'a>(
    gateway: &Gateway,
    review: &'a QueuedReview,
    payment: &Payment,
    clock: ReviewClock,
) -> JsonObject<'a> {
    let mut fields = JsonObject::default()
        .with("state", review.state().as_str())
        .with("since", wire_time(clock.to_entity_time(review.since)))
        .with("deadline", optional_time(gateway.review_deadline(review, payment)));
    if let Some(claim) = review.active_claim(clock.now) {
        let claim = JsonObject::default()
            .with("analyst", claim.analyst.as_str())
            .with("since", wire_time(clock.to_entity_time(claim.since)))
            .with("until", wire_time(clock.to_entity_time(claim.end())));
        fields.set("claim", claim);
    }
    if let Some(decision) = &review.decision {
        fields.set("decision", action_fields(decision));
    }
    fields
}

fn action_fields(action: &ReviewAction) -> JsonObject<'_> {
    let mut fields = JsonObject::default()
        .with("action", action.kind.as_str())
        .with("analyst", action.analyst.as_str())
        .with("at", wire_time(action.at));
    if let Some(reason) = action.reason {
        fields.set("reason", reason.to_string());
    }
    if let Some(note) = &action.note {
        fields.set("note", note.as_str());
    }
    if let Some(date) = action.sent_process_date() {
        fields.set("processDate", wire_time(date));
    }
    fields
}

/// Handles `GET /v2/reviews/{id}`: a review with its payment, its risk decision and its audit.
pub(crate) async fn read_review(
    State(state): State<Arc<AppState>>,
    PathId(id): PathId,
    merchant: MerchantRequest,
) -> ApiResult {
    merchant
        .respond(async |merchant| {
            let entity = &merchant.entity;
            let (review, payment, actions) = state.gateway.find_review(entity, &id)?;
            let clock = state.gateway.review_clock(entity);
            let fields = success_fields()
                .with("review", review_fields(&state.gateway, &review, &payment, clock))
                .with("riskDecision", decision_fields(&payment))
                .with("payment", query::list_entry_fields(entity, &payment))
                .with("actions", actions.iter().map(action_fields).collect::<Vec<_>>());
            Ok(merchant.build_response(fields))
        })
        .await
}

/// Returns the decision of the risk check: its rules and inputs by name. `null` if there is none.
fn decision_fields(payment: &Payment) -> FieldValue<'static> {
    let decision = payment.risk.as_ref().and_then(|risk| risk.decision.as_ref());
    FieldValue::Json(decision.map_or(Value::Null, |decision| {
        json!({
            "outcome": decision.outcome.as_str(),
            "score": decision.score.to_string(),
            "version": decision.version,
            "fired": decision.fired,
            "inputs": decision.inputs,
        })
    }))
}

/// Handles `POST /v2/reviews/{id}/claim`: reserves a payment for the analyst.
pub(crate) async fn claim(State(state): State<Arc<AppState>>, id: PathId, merchant: MerchantRequest) -> ApiResult {
    change_review(state, id, merchant, QueueChange::Claim).await
}

/// Handles `POST /v2/reviews/{id}/release`: gives a payment back.
pub(crate) async fn release(State(state): State<Arc<AppState>>, id: PathId, merchant: MerchantRequest) -> ApiResult {
    change_review(state, id, merchant, QueueChange::Release).await
}

/// Handles `POST /v2/reviews/{id}/note`: adds a note.
pub(crate) async fn add_note(State(state): State<Arc<AppState>>, id: PathId, merchant: MerchantRequest) -> ApiResult {
    change_review(state, id, merchant, QueueChange::Note).await
}

/// Handles `POST /v2/reviews/{id}/approve`: accepts a payment.
pub(crate) async fn approve(State(state): State<Arc<AppState>>, id: PathId, merchant: MerchantRequest) -> ApiResult {
    decide(state, id, merchant, DecisionType::Approve).await
}

/// Handles `POST /v2/reviews/{id}/cancel`: cancels a payment.
pub(crate) async fn cancel(State(state): State<Arc<AppState>>, id: PathId, merchant: MerchantRequest) -> ApiResult {
    decide(state, id, merchant, DecisionType::Cancel).await
}

/// Handles `POST /v2/reviews/{id}/pend`: keeps a payment held, and tells the merchant so.
pub(crate) async fn pend(State(state): State<Arc<AppState>>, id: PathId, merchant: MerchantRequest) -> ApiResult {
    decide(state, id, merchant, DecisionType::Pending).await
}

async fn change_review(
    state: Arc<AppState>,
    PathId(id): PathId,
    merchant: MerchantRequest,
    change: QueueChange,
) -> ApiResult {
    let encode = outcome_encoder(&state, &merchant);
    merchant
        .respond_recorded(encode, async |merchant, recorder| {
            let wish = (merchant.analyst().to_owned(), ReviewRemarks::for_change(change, &merchant.own)?);
            state.gateway.change_review(&merchant.entity, &id, change, wish, recorder).await
        })
        .await
}

async fn decide(
    state: Arc<AppState>,
    PathId(id): PathId,
    merchant: MerchantRequest,
    decision: DecisionType,
) -> ApiResult {
    let encode = outcome_encoder(&state, &merchant);
    merchant
        .respond_recorded(encode, async |merchant, recorder| {
            let wish = (merchant.analyst().to_owned(), ReviewRemarks::for_decision(decision, &merchant.own)?);
            state.gateway.decide_queued_payment(&merchant.entity, &id, decision, wish, recorder).await
        })
        .await
}

/// Returns the function that builds the response about a changed review.
fn outcome_encoder(
    state: &Arc<AppState>,
    merchant: &MerchantRequest,
) -> impl Fn(&ReviewOutcome, &Ndc) -> EncodedResponse + Clone + Send + Sync + 'static {
    let (state, entity) = (Arc::clone(state), Arc::clone(&merchant.entity));
    move |outcome, ndc| encode_outcome(&state.gateway, &entity, outcome, ndc)
}

fn encode_outcome(gateway: &Gateway, entity: &Entity, outcome: &ReviewOutcome, ndc: &Ndc) -> EncodedResponse {
    let ReviewOutcome { review, payment, clock } = outcome;
    let fields = success_fields()
        .with("review", review_fields(gateway, review, payment, *clock))
        .with("payment", query::list_entry_fields(entity, payment));
    encode_response(StatusCode::OK, fields, ndc, clock.entity_now())
}
