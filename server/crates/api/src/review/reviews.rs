//! `/v2/reviews`: the queue of held payments. Analysts list, claim, note and decide them; the user id of the token is
//! the id of the analyst.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use tillgate_domain::access::entity::Entity;
use tillgate_domain::idempotency::EncodedResponse;
use tillgate_domain::ndc::Ndc;
use tillgate_domain::payment::Payment;
use tillgate_domain::payment::query::PAGE_SIZE;
use tillgate_domain::review::decision::DecisionType;
use tillgate_domain::review::filter::ReviewFilter;
use tillgate_domain::review::queue::{QueueChange, QueuedReview, ReviewClock};
use tillgate_gateway::review::queue::{ReviewOutcome, ReviewRemarks};
use tillgate_gateway::{Failure, Gateway};
use tillgate_store::Cancellation;
use tillgate_wire::review::{
    ChangedReviewFields, ListedReviewFields, ReviewDetailFields, ReviewFields, ReviewListFields,
};

use crate::app_state::AppState;
use crate::extract::{MerchantRequest, PathId};
use crate::merchant_response::ApiResult;
use crate::response::{encode_response, into_http_response};

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
        let reviews = page.reviews.iter().map(|(review, payment)| {
            ListedReviewFields::new(&owner.id, review, payment, describe_review(gateway, review, payment, clock))
        });
        let fields = ReviewListFields::new(reviews.collect(), page.cursor.as_ref());
        Ok::<_, Failure>(encode_response(StatusCode::OK, fields, &ndc, clock.entity_now()))
    };
    // Channels share the queue of their merchant.
    let response = state.gateway.store.long_reads.run_read(entity.merchant_or_self(), read).await??;
    Ok(into_http_response(response))
}

/// Builds the state of a review.
fn describe_review<'a>(
    gateway: &Gateway,
    review: &'a QueuedReview,
    payment: &Payment,
    clock: ReviewClock,
) -> ReviewFields<'a> {
    ReviewFields::new(review, gateway.review_deadline(review, payment), clock)
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
            let described = describe_review(&state.gateway, &review, &payment, clock);
            let fields = ReviewDetailFields::new(&entity.id, described, &payment, &actions);
            Ok(merchant.build_response(fields))
        })
        .await
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
    let described = describe_review(gateway, review, payment, *clock);
    let fields = ChangedReviewFields::new(&entity.id, described, payment);
    encode_response(StatusCode::OK, fields, ndc, clock.entity_now())
}
