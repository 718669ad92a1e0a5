//! `/v1/policyReports`: browsers report violations of policies, ours and merchants', and merchants read them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use tillgate_shared::result::codes;

use super::Edge;
use super::error::ApiError;
use super::extract::{Id, Merchant};
use super::fields::{Field, Fields};
use super::reply::{ndc_of_checkout, reply, result, wire_time};
use crate::domain::id::EntityId;
use crate::domain::policy_report;
use crate::domain::refusal::Refusal;
use crate::gateway::Failure;

/// Longest body that is read.
const BODY_LIMIT: usize = 16 * 1024;
/// Longest time for a body to arrive.
const BODY_TIMEOUT: Duration = Duration::from_secs(15);
const WINDOW: Duration = Duration::from_secs(60);
/// Most requests with reports about one entity in a window, and about all together.
const MOST_OF_ENTITY: u32 = 60;
const MOST: u32 = 600;

/// Counts the requests of the current window: each costs a write.
#[derive(Default)]
pub struct ReportLimiter {
    /// Shared by all requests; locked for a look-up.
    window: Mutex<Window>,
}

#[derive(Default)]
struct Window {
    since: Option<Instant>,
    all: u32,
    of_entity: HashMap<EntityId, u32>,
    /// Requests that were not taken, since the start.
    dropped: HashMap<EntityId, u64>,
}

impl ReportLimiter {
    /// Returns true if another request about this entity may be written.
    fn admits(&self, entity: &EntityId) -> bool {
        let mut window = self.window.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        if window.since.is_none_or(|since| now.duration_since(since) > WINDOW) {
            window.since = Some(now);
            window.all = 0;
            window.of_entity.clear();
        }
        let of_entity = window.of_entity.get(entity).copied().unwrap_or(0);
        let admitted = window.all < MOST && of_entity < MOST_OF_ENTITY;
        if admitted {
            window.all += 1;
            window.of_entity.insert(entity.clone(), of_entity + 1);
        } else {
            *window.dropped.entry(entity.clone()).or_default() += 1;
        }
        admitted
    }

    fn dropped(&self, entity: &EntityId) -> u64 {
        let window = self.window.lock().unwrap_or_else(PoisonError::into_inner);
        window.dropped.get(entity).copied().unwrap_or(0)
    }
}

/// A browser's report. The id is a checkout's, in the policies of our own pages, or an entity's, in the merchants'.
pub(super) async fn add(State(edge): State<Arc<Edge>>, Id(id): Id, request: Request) -> Response {
    let ndc = ndc_of_checkout(&id);
    let taken = match take(&edge, &id, request).await {
        Ok(()) => reply(StatusCode::OK, Fields::default().with("result", result(codes::REQUEST_SUCCEEDED)), &ndc),
        Err(failure) => ApiError::new(failure, ndc).into_response(),
    };
    open_to_all(taken)
}

async fn take(edge: &Edge, id: &str, request: Request) -> Result<(), Failure> {
    let entity = match EntityId::parse(id).filter(|id| edge.gateway.directory.entity(id).is_some()) {
        Some(entity) => entity,
        None => edge.gateway.checkout_for_shopper(id)?.entity,
    };
    let kind = request.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    if !["application/csp-report", "application/reports+json", "application/json"].contains(&kind.as_str()) {
        return Err(Refusal::malformed("The body must be application/csp-report or application/reports+json").into());
    }
    if !edge.report_limiter.admits(&entity) {
        return Err(Refusal::too_many_attempts(60).into());
    }
    let Ok(body) = tokio::time::timeout(BODY_TIMEOUT, to_bytes(request.into_body(), BODY_LIMIT)).await else {
        return Err(Refusal::too_slow().into());
    };
    let body = body.map_err(|_| Refusal::too_large())?;
    let reports = policy_report::parse(&body).ok_or_else(|| Refusal::malformed("The body holds no policy report"))?;
    if !reports.is_empty() {
        edge.gateway.store.add_policy_reports(entity, reports, edge.gateway.now()).await?;
    }
    Ok(())
}

/// The browser asks before it reports from another origin, as the type of the body is not that of a form.
pub(super) async fn ask_first() -> Response {
    let mut response = open_to_all(Response::new(Body::empty()));
    *response.status_mut() = StatusCode::NO_CONTENT;
    let headers = response.headers_mut();
    headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("POST"));
    headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, HeaderValue::from_static("content-type"));
    headers.insert(header::ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("86400"));
    response
}

fn open_to_all(mut response: Response) -> Response {
    response.headers_mut().insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    response
}

/// Lists what was reported about a merchant's pages and forms.
pub(super) async fn list(State(edge): State<Arc<Edge>>, merchant: Merchant) -> Result<Response, ApiError> {
    let ndc = merchant.ndc;
    let violations = match edge.gateway.store.policy_reports(&merchant.entity.id) {
        Ok(violations) => violations,
        Err(error) => return Err(ApiError::new(error, ndc)),
    };
    let violations: Vec<Fields<'_>> = violations
        .iter()
        .map(|violation| {
            Fields::default()
                .with("directive", violation.report.directive.as_str())
                .with("blocked", violation.report.blocked.as_str())
                .with("document", violation.report.document.as_str())
                .with("source", violation.report.source.as_str())
                .with("disposition", if violation.report.enforced { "enforce" } else { "report" })
                .with("count", Field::Value(violation.count.into()))
                .with("first", wire_time(violation.first))
                .with("last", wire_time(violation.last))
        })
        .collect();
    let fields = Fields::default()
        .with("result", result(codes::REQUEST_SUCCEEDED))
        .with("policyReports", violations)
        .with("dropped", Field::Value(edge.report_limiter.dropped(&merchant.entity.id).into()));
    Ok(reply(StatusCode::OK, fields, &ndc))
}
