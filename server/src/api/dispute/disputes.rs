//! `/v1/disputes`: the operator reports what the institute decides, and the merchant accepts or contests it with
//! evidence.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::Response;
use jiff::Timestamp;
use tillgate_domain::dispute::evidence::Evidence;
use tillgate_domain::dispute::{Dispute, DisputeAction};
use tillgate_domain::idempotency::EncodedResponse;
use tillgate_domain::ndc::Ndc;
use tillgate_domain::refusal::Refusal;
use tillgate_gateway::Failure;
use tillgate_gateway::dispute::PAGE;
use tillgate_gateway::dispute::decide::DisputeRequest;
use tillgate_gateway::dispute::evidence::NewEvidence;
use tillgate_shared::result::codes;

use crate::api::AppState;
use crate::api::dispute::view::dispute_fields;
use crate::api::dispute::view::evidence_fields;
use crate::api::error::ApiError;
use crate::api::extract::{MerchantRequest, PathId};
use crate::api::json_object::JsonObject;
use crate::api::response::{build_response, encode_response, into_http_response, result_fields};

/// Handles `POST /v1/disputes`: a retrieval request or a chargeback.
pub(in crate::api) async fn open_dispute(
    State(state): State<Arc<AppState>>,
    merchant: MerchantRequest,
) -> Result<Response, ApiError> {
    let ndc = merchant.ndc.clone();
    let recorder = merchant.response_recorder(dispute_encoder(&ndc));
    let outcome = async {
        if !merchant.is_operator {
            return Err(Refusal::institute_only().into());
        }
        let request = DisputeRequest::from_institute(&merchant.parameters, &merchant.own, merchant.author())?;
        if !matches!(request.action, DisputeAction::RequestRetrieval | DisputeAction::ChargeBack) {
            let sent = merchant.own.get("stage").unwrap_or_default();
            return Err(Refusal::invalid_choice("stage", sent, &["RETRIEVAL_REQUEST", "CHARGEBACK"]).into());
        }
        let payment = merchant.own.get("paymentId").unwrap_or_default();
        state.gateway.open_dispute(&merchant.entity, payment, request, recorder).await
    };
    respond_with_dispute(outcome.await, ndc)
}

/// Handles `GET /v1/disputes`.
pub(in crate::api) async fn list_disputes(
    State(state): State<Arc<AppState>>,
    merchant: MerchantRequest,
) -> Result<Response, ApiError> {
    let MerchantRequest { entity, parameters, own, ndc, .. } = merchant;
    let is_open = match own.get("state").unwrap_or_default() {
        "" | "open" => Some(true),
        "ended" => Some(false),
        "all" => None,
        sent => {
            return Err(ApiError::new(Refusal::invalid_choice("state", sent, &["open", "ended", "all"]), ndc));
        }
    };
    let limit = parameters.get("limit").and_then(|limit| limit.parse().ok()).unwrap_or(PAGE).clamp(1, PAGE);
    match state.gateway.list_disputes(&entity, is_open, parameters.get("cursor"), limit) {
        Ok((disputes, cursor)) => {
            let listed: Vec<JsonObject<'_>> = disputes.iter().map(dispute_fields).collect();
            let mut fields =
                JsonObject::default().with("result", result_fields(codes::REQUEST_SUCCEEDED)).with("disputes", listed);
            if let Some(cursor) = &cursor {
                fields.set("cursor", cursor.as_str());
            }
            Ok(build_response(StatusCode::OK, fields, &ndc))
        }
        Err(failure) => Err(ApiError::new(failure, ndc)),
    }
}

/// Handles `GET /v1/disputes/{id}`.
pub(in crate::api) async fn read_dispute(
    State(state): State<Arc<AppState>>,
    PathId(id): PathId,
    merchant: MerchantRequest,
) -> Result<Response, ApiError> {
    let load = || {
        let dispute = state.gateway.find_dispute(&merchant.entity, &id)?;
        let evidence = state.gateway.list_evidence(&dispute)?;
        Ok::<_, Failure>((dispute, evidence))
    };
    match load() {
        Ok((dispute, evidence)) => {
            let files: Vec<JsonObject<'_>> = evidence.iter().map(evidence_fields).collect();
            Ok(build_response(StatusCode::OK, dispute_fields(&dispute).with("evidence", files), &merchant.ndc))
        }
        Err(failure) => Err(ApiError::new(failure, merchant.ndc)),
    }
}

/// Handles `POST /v1/disputes/{id}/advance`: the next stage, as the institute reports it.
pub(in crate::api) async fn advance_dispute(
    State(state): State<Arc<AppState>>,
    PathId(id): PathId,
    merchant: MerchantRequest,
) -> Result<Response, ApiError> {
    // An unknown dispute is refused first, so that nobody learns of another merchant's dispute.
    let request = match state.gateway.find_dispute(&merchant.entity, &id) {
        Ok(_) => DisputeRequest::from_institute(&merchant.parameters, &merchant.own, merchant.author()),
        Err(failure) => return Err(ApiError::new(failure, merchant.ndc)),
    };
    if !merchant.is_operator {
        return Err(ApiError::new(Refusal::institute_only(), merchant.ndc));
    }
    take_step(&state, &id, merchant, request).await
}

/// Handles `POST /v1/disputes/{id}/accept`.
pub(in crate::api) async fn accept_dispute(
    State(state): State<Arc<AppState>>,
    PathId(id): PathId,
    merchant: MerchantRequest,
) -> Result<Response, ApiError> {
    let request = DisputeRequest::from_merchant(DisputeAction::Accept, &merchant.own, merchant.author());
    take_step(&state, &id, merchant, request).await
}

/// Handles `POST /v1/disputes/{id}/representment`.
pub(in crate::api) async fn represent_dispute(
    State(state): State<Arc<AppState>>,
    PathId(id): PathId,
    merchant: MerchantRequest,
) -> Result<Response, ApiError> {
    let request = DisputeRequest::from_merchant(DisputeAction::Represent, &merchant.own, merchant.author());
    take_step(&state, &id, merchant, request).await
}

/// Takes a step, and builds the response.
async fn take_step(
    state: &AppState,
    id: &str,
    merchant: MerchantRequest,
    request: Result<DisputeRequest, Refusal>,
) -> Result<Response, ApiError> {
    let recorder = merchant.response_recorder(dispute_encoder(&merchant.ndc));
    let outcome = match request {
        Ok(request) => {
            state.gateway.advance_dispute(&merchant.entity, id, merchant.is_operator, request, recorder).await
        }
        Err(refusal) => Err(refusal.into()),
    };
    respond_with_dispute(outcome, merchant.ndc)
}

/// Handles `POST /v1/disputes/{id}/evidence`: the body is the file.
pub(in crate::api) async fn add_evidence(
    State(state): State<Arc<AppState>>,
    PathId(id): PathId,
    merchant: MerchantRequest,
) -> Result<Response, ApiError> {
    let ndc = merchant.ndc.clone();
    let recorder = merchant.response_recorder({
        let ndc = ndc.clone();
        move |evidence| encode_evidence(evidence, &ndc)
    });
    let (content_type, content) = match &merchant.file {
        Some(file) => (file.content_type.clone(), file.content.to_vec()),
        None => (String::new(), Vec::new()),
    };
    let name = merchant.own.get("name").unwrap_or_default().to_owned();
    let file = NewEvidence { name, content_type, content, actor: merchant.author() };
    match state.gateway.add_evidence(&merchant.entity, &id, file, recorder).await {
        Ok(evidence) => Ok(into_http_response(encode_evidence(&evidence, &ndc))),
        Err(failure) => Err(ApiError::new(failure, ndc)),
    }
}

/// Handles `GET /v1/evidence/{id}`. A browser that opens the address stores the file and never shows or runs it.
pub(in crate::api) async fn send_evidence(
    State(state): State<Arc<AppState>>,
    PathId(id): PathId,
    merchant: MerchantRequest,
) -> Result<Response, ApiError> {
    let _place = state.gateway.evidence_places.take(merchant.entity.merchant_or_self().as_str()).await;
    let opening = {
        let (state, entity) = (Arc::clone(&state), merchant.entity.clone());
        tokio::task::spawn_blocking(move || state.gateway.open_evidence(&entity, &id))
    };
    let (evidence, content) = match opening.await.unwrap_or(Err(Failure::Interrupted)) {
        Ok(opened) => opened,
        Err(failure) => return Err(ApiError::new(failure, merchant.ndc)),
    };
    let mut response = Response::new(Body::from(content.to_vec()));
    let headers: [(HeaderName, HeaderValue); 3] = [
        (header::CONTENT_TYPE, HeaderValue::from_static(evidence.media_type.as_str())),
        (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
        (header::CONTENT_SECURITY_POLICY, HeaderValue::from_static("default-src 'none'; sandbox")),
    ];
    response.headers_mut().extend(headers.map(|(name, value)| (Some(name), value)));
    // The name has only letters, digits and a few signs without a meaning in a header.
    let disposition = HeaderValue::from_str(&format!("attachment; filename=\"{}\"", evidence.name));
    let disposition = disposition.unwrap_or(HeaderValue::from_static("attachment"));
    response.headers_mut().insert(header::CONTENT_DISPOSITION, disposition);
    Ok(response)
}

/// Returns the function with which the response recorder builds the response about a dispute.
fn dispute_encoder(ndc: &Ndc) -> impl Fn(&Dispute) -> EncodedResponse + Send + Sync + 'static {
    let ndc = ndc.clone();
    move |dispute| encode_dispute(dispute, &ndc)
}

/// Builds the response about a dispute or its failure.
fn respond_with_dispute(outcome: Result<Dispute, Failure>, ndc: Ndc) -> Result<Response, ApiError> {
    match outcome {
        Ok(dispute) => Ok(into_http_response(encode_dispute(&dispute, &ndc))),
        Err(failure) => Err(ApiError::new(failure, ndc)),
    }
}

/// Builds the response to a step. Its timestamp is that of the step, so that it has the same bytes each time.
fn encode_dispute(dispute: &Dispute, ndc: &Ndc) -> EncodedResponse {
    let at = dispute.steps.last().map_or(Timestamp::UNIX_EPOCH, |step| step.at);
    encode_response(StatusCode::OK, dispute_fields(dispute), ndc, at)
}

/// Builds the response about a stored file.
fn encode_evidence(evidence: &Evidence, ndc: &Ndc) -> EncodedResponse {
    let fields = evidence_fields(evidence).with("result", result_fields(codes::REQUEST_SUCCEEDED));
    encode_response(StatusCode::OK, fields, ndc, evidence.at)
}
