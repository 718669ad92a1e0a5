//! `/v1/policyReports`: browsers report policy violations of our pages and of merchants' pages, and merchants read
//! them.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use tillgate_domain::id::EntityId;
use tillgate_domain::policy_report;
use tillgate_domain::refusal::Refusal;
use tillgate_gateway::Failure;

use super::report_limiter::list_sources;
use crate::app_state::AppState;
use crate::client;
use crate::extract::{MerchantRequest, PathId};
use crate::merchant_response::{ApiResult, respond_to_shopper};
use crate::received::read_limited_body;
use crate::response::{build_response, set_request_clock};
use tillgate_wire::checkout::{NotedFields, PolicyReportFields, PolicyReportsFields};
use tillgate_wire::{ResultFields, WireTime};

/// Maximum size of a body, in bytes.
const BODY_LIMIT: usize = 16 * 1024;

/// Stores a browser's report, and responds to any origin. The id is that of a checkout in the policies of our own
/// pages, or of an entity in those of merchants.
pub(crate) async fn receive_report(
    State(state): State<Arc<AppState>>,
    PathId(id): PathId,
    request: Request,
) -> Response {
    let stored = respond_to_shopper(&id, async |ndc| {
        store_report(&state, &id, request).await?;
        Ok(build_response(StatusCode::OK, NotedFields { result: ResultFields::success() }, &ndc))
    });
    allow_any_origin(stored.await.into_response())
}

/// Stores the reports in a body for the entity, or the checkout's entity, with this id. A body without a report of a
/// violation stores nothing.
///
/// # Errors
/// 404 for an unknown id; 400 for another content type, or a body that cannot be parsed or ends early; 413 above 16
/// KiB, 408 after 15 seconds, 429 if there are too many.
async fn store_report(state: &AppState, id: &str, request: Request) -> Result<(), Failure> {
    let (parts, body) = request.into_parts();
    let client = client::resolve_address(state, &parts);
    let request = Request::from_parts(parts, body);
    let (entity, checkout) = match EntityId::parse(id).filter(|id| state.gateway.directory.find_entity(id).is_some()) {
        Some(entity) => (entity, None),
        None => (state.gateway.load_checkout(id)?.entity, Some(id)),
    };
    if let Some(entity) = state.gateway.directory.find_entity(&entity) {
        set_request_clock(&entity);
    }
    let sources = list_sources(&entity, client, checkout);
    let content_type =
        request.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let content_type = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    if !["application/csp-report", "application/reports+json", "application/json"].contains(&content_type.as_str()) {
        return Err(
            Refusal::malformed_body("The body must be application/csp-report or application/reports+json").into()
        );
    }
    if !state.report_limiter.allows_request(&entity, &sources) {
        return Err(Refusal::too_many_reports(60).into());
    }
    let body = read_limited_body(request, BODY_LIMIT).await?;
    let reports = policy_report::parse_reports(&body)
        .ok_or_else(|| Refusal::malformed_body("The body holds no policy report"))?;
    if !reports.is_empty() {
        let limit = state.report_limiter.remaining_additions(&sources);
        let added = state.gateway.store.add_policy_reports(entity, reports, limit, state.gateway.now()).await?;
        state.report_limiter.record_additions(&sources, added);
    }
    Ok(())
}

/// Responds to the browser's CORS preflight request: any origin may POST with a content type. Browsers send one because
/// the content type is not that of a form.
pub(crate) async fn respond_to_preflight() -> Response {
    let mut response = allow_any_origin(Response::new(Body::empty()));
    *response.status_mut() = StatusCode::NO_CONTENT;
    let headers = response.headers_mut();
    headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("POST"));
    headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, HeaderValue::from_static("content-type"));
    headers.insert(header::ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("86400"));
    response
}

/// Allows pages of every origin to read the response.
fn allow_any_origin(mut response: Response) -> Response {
    response.headers_mut().insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    response
}

/// Lists the violations about a merchant's pages and forms, the latest first, and the number of requests that were
/// dropped.
pub(crate) async fn list(State(state): State<Arc<AppState>>, merchant: MerchantRequest) -> ApiResult {
    merchant.respond(async |merchant| build_list(&state, &merchant)).await
}

fn build_list(state: &AppState, merchant: &MerchantRequest) -> Result<Response, Failure> {
    let violations = state.gateway.store.load_policy_reports(&merchant.entity.id)?;
    let policy_reports = violations.iter().map(|violation| {
        let (first, last) = (WireTime(violation.first), WireTime(violation.last));
        PolicyReportFields::new(&violation.report, violation.count, first, last)
    });
    Ok(merchant.build_response(PolicyReportsFields {
        result: ResultFields::success(),
        policy_reports: policy_reports.collect(),
        dropped: state.report_limiter.dropped_count(&merchant.entity.id),
    }))
}
