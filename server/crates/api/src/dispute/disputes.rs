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
use tillgate_wire::dispute::{DisputeDetailFields, DisputeFields, DisputeListFields, StoredEvidenceFields};

use crate::app_state::AppState;
use crate::extract::{MerchantRequest, PathId};
use crate::merchant_response::ApiResult;
use crate::response::encode_response;

/// Handles `POST /v1/disputes`: a retrieval request or a chargeback.
pub(crate) async fn open_dispute(State(state): State<Arc<AppState>>, merchant: MerchantRequest) -> ApiResult {
    merchant
        .respond_recorded(encode_dispute, async |merchant, recorder| {
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
        })
        .await
}

/// Handles `GET /v1/disputes`.
pub(crate) async fn list_disputes(State(state): State<Arc<AppState>>, merchant: MerchantRequest) -> ApiResult {
    merchant
        .respond(async |merchant| {
            let is_open = match merchant.own.get("state").unwrap_or_default() {
                "" | "open" => Some(true),
                "ended" => Some(false),
                "all" => None,
                sent => return Err(Refusal::invalid_choice("state", sent, &["open", "ended", "all"]).into()),
            };
            let (limit, cursor) = (merchant.page_limit(PAGE), merchant.parameters.get("cursor"));
            let (disputes, cursor) = state.gateway.list_disputes(&merchant.entity, is_open, cursor, limit)?;
            Ok(merchant.build_response(DisputeListFields::new(&disputes, cursor.as_ref())))
        })
        .await
}

/// Handles `GET /v1/disputes/{id}`.
pub(crate) async fn read_dispute(
    State(state): State<Arc<AppState>>,
    PathId(id): PathId,
    merchant: MerchantRequest,
) -> ApiResult {
    merchant
        .respond(async |merchant| {
            let dispute = state.gateway.find_dispute(&merchant.entity, &id)?;
            let evidence = state.gateway.list_evidence(&dispute)?;
            Ok(merchant.build_response(DisputeDetailFields::new(&dispute, &evidence)))
        })
        .await
}

/// Handles `POST /v1/disputes/{id}/advance`: the next stage, as the institute reports it.
pub(crate) async fn advance_dispute(
    State(state): State<Arc<AppState>>,
    PathId(id): PathId,
    merchant: MerchantRequest,
) -> ApiResult {
    take_step(&state, &id, merchant, |merchant| {
        // An unknown dispute is refused first, so that nobody learns of another merchant's dispute.
        state.gateway.find_dispute(&merchant.entity, &id)?;
        if !merchant.is_operator {
            return Err(Refusal::institute_only().into());
        }
        Ok(DisputeRequest::from_institute(&merchant.parameters, &merchant.own, merchant.author())?)
    })
    .await
}

/// Handles `POST /v1/disputes/{id}/accept`.
pub(crate) async fn accept_dispute(
    State(state): State<Arc<AppState>>,
    PathId(id): PathId,
    merchant: MerchantRequest,
) -> ApiResult {
    take_step(&state, &id, merchant, |merchant| {
        Ok(DisputeRequest::from_merchant(DisputeAction::Accept, &merchant.own, merchant.author())?)
    })
    .await
}

/// Handles `POST /v1/disputes/{id}/representment`.
pub(crate) async fn represent_dispute(
    State(state): State<Arc<AppState>>,
    PathId(id): PathId,
    merchant: MerchantRequest,
) -> ApiResult {
    take_step(&state, &id, merchant, |merchant| {
        Ok(DisputeRequest::from_merchant(DisputeAction::Represent, &merchant.own, merchant.author())?)
    })
    .await
}

/// Takes the step that `read_request` reads from the request, and builds the response.
async fn take_step(
    state: &AppState,
    id: &str,
    merchant: MerchantRequest,
    read_request: impl FnOnce(&MerchantRequest) -> Result<DisputeRequest, Failure>,
) -> ApiResult {
    merchant
        .respond_recorded(encode_dispute, async |merchant, recorder| {
            let request = read_request(&merchant)?;
            state.gateway.advance_dispute(&merchant.entity, id, merchant.is_operator, request, recorder).await
        })
        .await
}

/// Handles `POST /v1/disputes/{id}/evidence`: the body is the file.
pub(crate) async fn add_evidence(
    State(state): State<Arc<AppState>>,
    PathId(id): PathId,
    merchant: MerchantRequest,
) -> ApiResult {
    merchant
        .respond_recorded(encode_evidence, async |merchant, recorder| {
            let (content_type, content) = match &merchant.file {
                Some(file) => (file.content_type.clone(), file.content.to_vec()),
                None => (String::new(), Vec::new()),
            };
            let name = merchant.own.get("name").unwrap_or_default().to_owned();
            let file = NewEvidence { name, content_type, content, actor: merchant.author() };
            state.gateway.add_evidence(&merchant.entity, &id, file, recorder).await
        })
        .await
}

/// Handles `GET /v1/evidence/{id}`. A browser that opens the address stores the file and never shows or runs it.
pub(crate) async fn send_evidence(
    State(state): State<Arc<AppState>>,
    PathId(id): PathId,
    merchant: MerchantRequest,
) -> ApiResult {
    merchant
        .respond(async |MerchantRequest { entity, .. }| {
            let _place = state.gateway.evidence_places.take(entity.merchant_or_self().as_str()).await;
            let shared = Arc::clone(&state);
            let opening = tokio::task::spawn_blocking(move || shared.gateway.open_evidence(&entity, &id));
            let (evidence, content) = opening.await.unwrap_or(Err(Failure::Interrupted))?;
            Ok(build_evidence_file(&evidence, content.to_vec()))
        })
        .await
}

/// Builds the response with a file.
fn build_evidence_file(evidence: &Evidence, content: Vec<u8>) -> Response {
    let mut response = Response::new(Body::from(content));
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
    response
}

/// Builds the response to a step. Its timestamp is that of the step, so that it has the same bytes each time.
fn encode_dispute(dispute: &Dispute, ndc: &Ndc) -> EncodedResponse {
    let at = dispute.steps.last().map_or(Timestamp::UNIX_EPOCH, |step| step.at);
    encode_response(StatusCode::OK, DisputeFields::from(dispute), ndc, at)
}

/// Builds the response about a stored file.
fn encode_evidence(evidence: &Evidence, ndc: &Ndc) -> EncodedResponse {
    encode_response(StatusCode::OK, StoredEvidenceFields::from(evidence), ndc, evidence.at)
}
