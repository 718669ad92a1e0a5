//! `/v1/policyReports`: browsers report policy violations of our pages and of merchants' pages, and merchants read
//! them.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use ipnet::IpNet;
use tillgate_domain::id::EntityId;
use tillgate_domain::policy_report;
use tillgate_domain::refusal::Refusal;
use tillgate_gateway::Failure;

use crate::extract::{MerchantRequest, PathId};
use crate::merchant_response::{ApiResult, respond_to_shopper};
use crate::received::read_limited_body;
use crate::response::{build_response, set_request_clock};
use crate::{AppState, client};
use tillgate_wire::checkout::{NotedFields, PolicyReportFields, PolicyReportsFields};
use tillgate_wire::{ResultFields, WireTime};

/// Maximum size of a body, in bytes.
const BODY_LIMIT: usize = 16 * 1024;
/// Time after which the counts start again.
const WINDOW: Duration = Duration::from_secs(60);
/// Maximum number of requests with reports in a window, for one entity.
const MAX_REQUESTS_PER_ENTITY: u32 = 60;
/// The same for all entities.
const MAX_REQUESTS: u32 = 600;
/// The same for one network of clients, and for one checkout, so that one of them cannot use up the entity's.
const MAX_REQUESTS_PER_SOURCE: u32 = 20;
/// Maximum number of new violations that one network of clients, or one checkout, adds to an entity's list in a day.
/// Further violations are counted as others.
const MAX_NEW_PER_SOURCE: u32 = 20;
/// Maximum number of sources whose new violations are counted. Further ones add none until the next day.
const MAX_SOURCES: usize = 10_000;
/// Time after which the counts of new violations start again.
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Counts the requests of the current window, because each costs a write, and the new violations of each source.
#[derive(Default)]
pub struct ReportLimiter {
    /// Shared by all requests; locked only for a look-up.
    window: Mutex<Window>,
    /// Shared by all requests; locked only for a look-up.
    added: Mutex<AddedViolations>,
}

/// The sender of a report about an entity: a network of clients, or a checkout.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct ReportSource {
    entity: EntityId,
    name: String,
}

/// Number of new violations of each source since the start of the day.
#[derive(Default)]
struct AddedViolations {
    since: Option<Instant>,
    of_source: HashMap<ReportSource, u32>,
}

/// Returns the sources of a report: the client's /24 or /48, and the checkout that it names.
fn list_sources(entity: &EntityId, client: IpAddr, checkout: Option<&str>) -> Vec<ReportSource> {
    let length = if client.is_ipv4() { 24 } else { 48 };
    let network = IpNet::new(client, length).map_or_else(|_| client.to_string(), |network| network.trunc().to_string());
    let names = std::iter::once(network).chain(checkout.map(str::to_owned));
    names.map(|name| ReportSource { entity: entity.clone(), name }).collect()
}

/// The counts of the current window.
#[derive(Default)]
struct Window {
    since: Option<Instant>,
    all: u32,
    of_entity: HashMap<EntityId, u32>,
    of_source: HashMap<ReportSource, u32>,
    /// Number of refused requests since the start of the process.
    dropped: HashMap<EntityId, u64>,
}

impl ReportLimiter {
    /// Counts a request about this entity, and returns true if it may be written. A refused one is counted as dropped
    /// instead. A window begins with the first request after the end of the one before.
    fn allows_request(&self, entity: &EntityId, sources: &[ReportSource]) -> bool {
        let mut window = self.window.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        if window.since.is_none_or(|since| now.duration_since(since) > WINDOW) {
            window.since = Some(now);
            window.all = 0;
            window.of_entity.clear();
            window.of_source.clear();
        }
        let of_entity = window.of_entity.get(entity).copied().unwrap_or(0);
        let has_share = |source| window.of_source.get(source).copied().unwrap_or(0) < MAX_REQUESTS_PER_SOURCE;
        let admitted =
            window.all < MAX_REQUESTS && of_entity < MAX_REQUESTS_PER_ENTITY && sources.iter().all(has_share);
        if admitted {
            for source in sources {
                *window.of_source.entry(source.clone()).or_default() += 1;
            }
            window.all += 1;
            window.of_entity.insert(entity.clone(), of_entity + 1);
        } else {
            *window.dropped.entry(entity.clone()).or_default() += 1;
        }
        admitted
    }

    /// Returns the number of new violations that the sources may add today.
    fn remaining_additions(&self, sources: &[ReportSource]) -> u32 {
        let mut added = self.added.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        if added.since.is_none_or(|since| now.duration_since(since) > DAY) {
            added.since = Some(now);
            added.of_source.clear();
        }
        let is_full = added.of_source.len() >= MAX_SOURCES;
        let remaining = |source| match added.of_source.get(source) {
            Some(count) => MAX_NEW_PER_SOURCE.saturating_sub(*count),
            None if is_full => 0,
            None => MAX_NEW_PER_SOURCE,
        };
        sources.iter().map(remaining).min().unwrap_or(0)
    }

    /// Counts new violations of the sources.
    fn record_additions(&self, sources: &[ReportSource], number: u32) {
        if number > 0 {
            let mut added = self.added.lock().unwrap_or_else(PoisonError::into_inner);
            for source in sources {
                *added.of_source.entry(source.clone()).or_default() += number;
            }
        }
    }

    /// Returns the number of refused requests about this entity since the start of the process.
    fn dropped_count(&self, entity: &EntityId) -> u64 {
        let window = self.window.lock().unwrap_or_else(PoisonError::into_inner);
        window.dropped.get(entity).copied().unwrap_or(0)
    }
}

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
