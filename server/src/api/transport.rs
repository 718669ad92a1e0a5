//! Transport of requests for live entities: over HTTPS, which a trusted proxy in front of the gateway terminates and reports.
//! A request that came over plain HTTP could have been read and changed on its way, card number and token included.

use std::sync::Arc;

use axum::RequestExt as _;
use axum::extract::{MatchedPath, RawPathParams, Request};
use axum::http::{Extensions, HeaderMap};
use axum::response::{IntoResponse as _, Response};

use super::error::ApiError;
use super::reply::ndc_of_path;
use super::{Edge, client};
use crate::domain::entity::Entity;
use crate::domain::id::{EntityId, PageId};
use crate::domain::refusal::Refusal;

/// Returns the reason why a request cannot be one for a live entity, or `None` if it can.
pub(super) fn fault(edge: &Edge, headers: &HeaderMap, extensions: &Extensions) -> Option<Refusal> {
    if edge.public_url.is_none() {
        return Some(Refusal::no_live_entities());
    }
    // Proxies append: the last value is that of the proxy next to us.
    let schemes = headers.get_all("x-forwarded-proto").iter().next_back().and_then(|value| value.to_str().ok());
    let scheme = schemes.and_then(|schemes| schemes.rsplit(',').next()).map(str::trim);
    let is_https = scheme.is_some_and(|scheme| scheme.eq_ignore_ascii_case("https"));
    if is_https && client::is_behind_proxy(edge, extensions) { None } else { Some(Refusal::plain_http()) }
}

/// Refuses a browser's request for a checkout or a payment page of a live entity, or returns `None`. Requests of merchants'
/// servers are judged where their credentials are read.
pub(super) async fn refuse(edge: &Edge, request: &mut Request) -> Option<Response> {
    if !edge.gateway.directory.has_live() {
        return None;
    }
    let refusal = fault(edge, request.headers(), request.extensions())?;
    let is_live = entity_of(edge, request).await.is_some_and(|entity| entity.live);
    is_live.then(|| ApiError::new(refusal, ndc_of_path(request.uri().path(), None)).into_response())
}

/// The entity whose checkout or payment a browser's request names.
async fn entity_of(edge: &Edge, request: &mut Request) -> Option<Arc<Entity>> {
    let path = request.extensions().get::<MatchedPath>()?.as_str().to_owned();
    let parameters = request.extract_parts::<RawPathParams>().await.ok()?;
    let entity = match parameters.iter().find(|(name, _)| *name == "id") {
        Some((_, id)) if path.starts_with("/v1/checkouts/") || path.starts_with("/v1/simulator/wallet/") => {
            entity_of_checkout(edge, id)
        }
        Some((_, id)) => Some(edge.gateway.store.payment_of_page(&PageId::parse(id)?).ok()??.entity),
        None => {
            let query = request.uri().query().unwrap_or_default().as_bytes();
            let (_, id) = form_urlencoded::parse(query).filter(|(name, _)| name == "checkoutId").last()?;
            entity_of_checkout(edge, id.strip_suffix("/registration").unwrap_or(&id))
        }
    };
    edge.gateway.directory.entity(&entity?)
}

fn entity_of_checkout(edge: &Edge, id: &str) -> Option<EntityId> {
    Some(edge.gateway.checkout_for_shopper(id).ok()?.entity)
}
