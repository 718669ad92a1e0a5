//! Transport rules for live entities: requests must use HTTPS, which a trusted proxy in front of the gateway
//! terminates and reports. A request over plain HTTP could be read and changed in transit, including card number and
//! token.

use std::sync::Arc;

use axum::RequestExt as _;
use axum::extract::{MatchedPath, RawPathParams, Request};
use axum::http::{Extensions, HeaderMap};
use axum::response::{IntoResponse as _, Response};
use tillgate_domain::access::entity::Entity;
use tillgate_domain::id::{EntityId, PageId};
use tillgate_domain::refusal::Refusal;
use tillgate_net::forwarded;

use crate::app_state::AppState;
use crate::client;
use crate::error_response::ApiError;
use crate::response::{ndc_of_path, set_request_clock};

/// Returns the reason why a request cannot be for a live entity: the gateway has no public address, its set-up opens it
/// to strangers, its clock is wrong, or no trusted proxy reports HTTPS. Returns `None` if it can.
pub(crate) fn live_entity_refusal(state: &AppState, headers: &HeaderMap, extensions: &Extensions) -> Option<Refusal> {
    if state.public_url.is_none() {
        return Some(Refusal::no_live_entities());
    }
    if let Some(fault) = state.setup_faults.first() {
        return Some(Refusal::unsafe_setup(*fault));
    }
    if state.gateway.store.is_clock_off() {
        return Some(Refusal::wrong_clock());
    }
    // `Forwarded` does not count here: a proxy that writes other headers passes on that of the client.
    let is_reported = headers.contains_key("x-forwarded-proto");
    let is_https = is_reported && forwarded::read_scheme(headers).is_some_and(|scheme| scheme == "https");
    if is_https && client::is_behind_proxy(state, extensions) { None } else { Some(Refusal::https_required()) }
}

/// Refuses a browser's request for a checkout or a payment page of a live entity, with 403. Returns `None` if the
/// request is allowed, or is about neither. Requests of merchants' servers are checked where their credentials are
/// read.
pub(crate) async fn refuse_insecure_request(state: &AppState, request: &mut Request) -> Option<Response> {
    if !state.gateway.directory.has_live_entity() {
        return None;
    }
    let refusal = live_entity_refusal(state, request.headers(), request.extensions())?;
    let is_live = find_requested_entity(state, request).await.is_some_and(|entity| entity.live);
    is_live.then(|| ApiError::new(refusal, ndc_of_path(request.uri().path(), None)).into_response())
}

/// Sets the clock of a request about a checkout to the clock of its entity: a browser sends no credentials, so nothing
/// else tells whose clock its response shows. The clock of a merchant's request is set where its credentials are read.
pub(crate) async fn set_checkout_clock(state: &AppState, request: &mut Request) {
    // Without a moved clock, all clocks are the machine's, and the checkout need not be loaded for its own.
    let is_about_checkout = request.uri().path().starts_with("/v1/checkouts/");
    if is_about_checkout
        && state.gateway.directory.has_moved_clock()
        && let Some(entity) = find_requested_entity(state, request).await
    {
        set_request_clock(&entity);
    }
}

/// Returns the entity of the checkout or payment in a browser's request: by the `{id}` of its path, otherwise by
/// `checkoutId` in its query. Returns `None` if there is no such id, for policy reports, and if the store cannot be
/// read.
async fn find_requested_entity(state: &AppState, request: &mut Request) -> Option<Arc<Entity>> {
    let path = request.extensions().get::<MatchedPath>()?.as_str().to_owned();
    let parameters = request.extract_parts::<RawPathParams>().await.ok()?;
    let entity = match parameters.iter().find(|(name, _)| *name == "id") {
        // Violation reports are accepted over plain HTTP too. Review decisions are checked by their handler.
        Some(_) if path.starts_with("/v1/policyReports/") || path.starts_with("/v2/reviewDecisions/") => None,
        // Ids of checkouts and of pages have different formats.
        Some((_, id)) => match PageId::parse(id) {
            Some(page) => Some(state.gateway.store.load_payment_of_page(&page).ok()??.entity),
            None => entity_of_checkout(state, id),
        },
        None => {
            let query = request.uri().query().unwrap_or_default().as_bytes();
            let (_, id) = form_urlencoded::parse(query).filter(|(name, _)| name == "checkoutId").last()?;
            entity_of_checkout(state, id.strip_suffix("/registration").unwrap_or(&id))
        }
    };
    state.gateway.directory.find_entity(&entity?)
}

/// Returns the id of a checkout's entity, or `None` if the checkout is unknown or cannot be read.
fn entity_of_checkout(state: &AppState, id: &str) -> Option<EntityId> {
    Some(state.gateway.load_checkout(id).ok()?.entity)
}
