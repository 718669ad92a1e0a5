//! `POST /v2/reviewDecisions/{id}`: an outside review system decides a held payment. The body has the pairs of the
//! entity's callback configuration, and so have the responses the form of such callbacks: an empty body, or the text of
//! the status.

use std::net::IpAddr;
use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::Response;
use tillgate_domain::access::entity::Entity;
use tillgate_domain::id::EntityId;
use tillgate_gateway::Failure;
use tillgate_message::review_callback::{
    CallbackConfig, CredentialFault, ReceivedPairs, read_decision, vault_record_id,
};
use tillgate_store::StoreErrorKind;

use crate::access::transport;
use crate::app_state::AppState;
use crate::client;
use crate::extract::PathId;
use crate::received::{is_form, read_limited_body};

/// Maximum size of a body, in bytes.
const BODY_LIMIT: usize = 64 * 1024;

/// Reason why a decision is not carried out.
struct DecisionRefusal {
    status: StatusCode,
    /// Seconds after which the request may succeed.
    retry_after: Option<u32>,
}

impl From<StatusCode> for DecisionRefusal {
    fn from(status: StatusCode) -> Self {
        Self { status, retry_after: None }
    }
}

impl From<Failure> for DecisionRefusal {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Refused(refusal) => {
                let status = StatusCode::from_u16(refusal.status).unwrap_or(StatusCode::BAD_REQUEST);
                if status == StatusCode::BAD_REQUEST {
                    let fault = refusal.description.as_deref().unwrap_or_else(|| refusal.code.description());
                    tracing::info!(fault, "a review decision is refused");
                }
                Self { status, retry_after: refusal.retry_after }
            }
            Failure::Store(error) => match error.kind() {
                StoreErrorKind::Overloaded | StoreErrorKind::Disk(_) => {
                    tracing::warn!(%error, "a review decision finds the store not available");
                    Self { status: StatusCode::SERVICE_UNAVAILABLE, retry_after: Some(1) }
                }
                _ => log_internal(&error),
            },
            failure => log_internal(&failure),
        }
    }
}

/// Logs an internal error, and returns the refusal 500.
fn log_internal(error: &dyn std::error::Error) -> DecisionRefusal {
    tracing::error!(%error, "a review decision failed");
    StatusCode::INTERNAL_SERVER_ERROR.into()
}

/// Receives a decision. Responds 200 without a body if it is carried out, or was before.
pub(crate) async fn receive(State(state): State<Arc<AppState>>, id: PathId, request: Request) -> Response {
    let refused = match receive_decision(&state, &id.0, request).await {
        Ok(()) => return Response::new(Body::empty()),
        Err(refused) => refused,
    };
    let text = refused.status.canonical_reason().unwrap_or("Error");
    let mut response = Response::new(Body::from(text));
    *response.status_mut() = refused.status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain;charset=UTF-8"));
    if refused.status == StatusCode::UNAUTHORIZED {
        headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("ReviewDecision"));
    }
    if let Some(seconds) = refused.retry_after {
        headers.insert(header::RETRY_AFTER, seconds.into());
    }
    response
}

/// Checks the transport, the credentials and the body, and decides. The body is read before the credentials are
/// checked, because they may be in it.
async fn receive_decision(state: &AppState, id: &str, request: Request) -> Result<(), DecisionRefusal> {
    let entity = EntityId::parse(id).and_then(|id| state.gateway.directory.find_entity(&id));
    let entity = entity.ok_or(StatusCode::NOT_FOUND)?;
    if entity.live && transport::live_entity_refusal(state, request.headers(), request.extensions()).is_some() {
        return Err(StatusCode::FORBIDDEN.into());
    }
    let config = load_config(state, &entity)?;
    let receiving = config.receiving.as_ref().ok_or(StatusCode::NOT_FOUND)?;
    if !is_form(request.headers()) || request.headers().contains_key(header::CONTENT_ENCODING) {
        return Err(StatusCode::BAD_REQUEST.into());
    }
    let (headers, body, address) = read_request(state, request).await?;
    let pairs = ReceivedPairs::parse(&body).map_err(|fault| refuse_body(&entity, fault))?;
    receiving.check_credentials(&headers, &pairs).map_err(|fault| match fault {
        CredentialFault::Missing => StatusCode::UNAUTHORIZED.into(),
        CredentialFault::Wrong => refuse_credentials(state, address),
    })?;
    let decision = read_decision(&config, &pairs).map_err(|fault| refuse_body(&entity, fault))?;
    Ok(state.gateway.decide_review(&entity, &decision).await?)
}

/// Counts wrong credentials against the address, so that nobody can try many. Returns the refusal 403, or 429 if the
/// limit is reached.
fn refuse_credentials(state: &AppState, address: IpAddr) -> DecisionRefusal {
    match state.wrong_credentials.record_attempt(address, state.gateway.now()) {
        Ok(()) => StatusCode::FORBIDDEN.into(),
        Err(seconds) => DecisionRefusal { status: StatusCode::TOO_MANY_REQUESTS, retry_after: Some(seconds) },
    }
}

/// Loads and opens the configuration that applies to an entity. 404 if there is none.
fn load_config(state: &AppState, entity: &Entity) -> Result<CallbackConfig, DecisionRefusal> {
    let stored = state.gateway.find_review_callback(entity)?.ok_or(StatusCode::NOT_FOUND)?;
    let opened = state.gateway.vault.open(&vault_record_id(&stored.entity), &stored.sealed);
    let opened = opened.map_err(|error| log_internal(&error))?;
    serde_json::from_slice(&opened).map_err(|error| log_internal(&error))
}

/// Reads the body. Returns it with the headers and the client's address.
async fn read_request(state: &AppState, request: Request) -> Result<(HeaderMap, Bytes, IpAddr), DecisionRefusal> {
    let (parts, body) = request.into_parts();
    let address = client::resolve_address(state, &parts);
    let headers = parts.headers.clone();
    let body = read_limited_body(Request::from_parts(parts, body), BODY_LIMIT).await.map_err(Failure::from)?;
    Ok((headers, body, address))
}

/// Logs the fault of a body, which the response does not repeat, and returns the refusal 400.
fn refuse_body(entity: &Entity, fault: &'static str) -> DecisionRefusal {
    tracing::info!(entity = entity.id.as_str(), fault, "a review decision is refused");
    StatusCode::BAD_REQUEST.into()
}
