//! `/v2/risk/rules`: a merchant adds, lists, reads and uses versions of its risk rules.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use jiff::Timestamp;
use tillgate_domain::idempotency::EncodedResponse;
use tillgate_domain::ndc::Ndc;
use tillgate_domain::refusal::Refusal;
use tillgate_domain::risk::rules::VersionRole;
use tillgate_gateway::Failure;
use tillgate_gateway::risk::rules::{AddedVersion, UsedVersions};
use tillgate_risk::RuleSet;
use tillgate_store::risk::audit::RiskAuditKind;
use tillgate_store::risk::rules::RiskKeys;

use crate::AppState;
use crate::extract::{MerchantRequest, PathId};
use crate::merchant_response::ApiResult;
use crate::response::{encode_response, success_fields, wire_time};
use tillgate_wire::json_object::{FieldValue, JsonObject};

/// Number of changes in a list of versions.
const SHOWN_CHANGES: u32 = 100;

/// Handles `POST /v2/risk/rules`: checks a rules file, and stores it as a version.
pub(crate) async fn add_rules(State(state): State<Arc<AppState>>, merchant: MerchantRequest) -> ApiResult {
    merchant
        .respond_recorded(encode_added, async |merchant, recorder| {
            state.gateway.add_rules(&merchant.entity, &merchant.own, merchant.author(), recorder).await
        })
        .await
}

fn encode_added(added: &AddedVersion, ndc: &Ndc) -> EncodedResponse {
    let fields =
        success_fields().with("version", added.version.as_str()).with("added", FieldValue::Json(added.added.into()));
    encode_response(StatusCode::OK, fields, ndc, added.at)
}

/// Handles `GET /v2/risk/rules`: the stored versions, those in use, those in force, and the latest changes.
pub(crate) async fn list_versions(State(state): State<Arc<AppState>>, merchant: MerchantRequest) -> ApiResult {
    merchant.respond(async |merchant| build_version_list(&state, &merchant)).await
}

fn build_version_list(state: &AppState, merchant: &MerchantRequest) -> Result<Response, Failure> {
    let (entity, store) = (&merchant.entity, &state.gateway.store);
    let now = state.gateway.now_of(entity);
    let stored = store.load_risk_state(&RiskKeys { entity: entity.id.clone(), position: None, now })?;
    let changes = store.load_risk_changes(&entity.id, RiskAuditKind::Rules, SHOWN_CHANGES)?;
    let in_force = state.gateway.directory.risk.find_rules(&entity.id).unwrap_or_default();
    let name = |rules: &Option<Arc<RuleSet>>| rules.as_ref().map(|rules| rules.version().to_string());
    let versions: Vec<JsonObject<'_>> = stored
        .versions
        .iter()
        .map(|known| {
            JsonObject::default()
                .with("version", known.version.as_str())
                .with("author", known.author.as_str())
                .with("created", wire_time(known.created))
        })
        .collect();
    let changes: Vec<JsonObject<'_>> = changes
        .iter()
        .map(|row| {
            JsonObject::default()
                .with("action", row.action.as_str())
                .with("version", row.subject.as_str())
                .with("reason", row.reason.as_str())
                .with("author", row.author.as_str())
                .with("at", wire_time(row.at))
        })
        .collect();
    let in_force = JsonObject::default()
        .with("active", FieldValue::Json(name(&in_force.active).into()))
        .with("shadow", FieldValue::Json(name(&in_force.shadow).into()))
        .with("unreadable", FieldValue::Json(in_force.is_unreadable.into()));
    let fields = success_fields()
        .with("active", FieldValue::Json(stored.active.clone().into()))
        .with("shadow", FieldValue::Json(stored.shadow.clone().into()))
        .with("inForce", in_force)
        .with("versions", versions)
        .with("changes", changes);
    Ok(merchant.build_response(fields))
}

/// Handles `GET /v2/risk/rules/{version}`: the rules file of a version.
pub(crate) async fn read_rules(
    State(state): State<Arc<AppState>>,
    PathId(version): PathId,
    merchant: MerchantRequest,
) -> ApiResult {
    merchant
        .respond(async |merchant| {
            let text = state.gateway.store.load_rules_text(&merchant.entity.id, &version)?;
            let text = text.ok_or_else(|| Refusal::not_found("This entity has no such version of rules"))?;
            Ok(merchant.build_response(success_fields().with("version", version.as_str()).with("rules", text)))
        })
        .await
}

/// Handles `POST /v2/risk/rules/{version}/activate`: lets a version decide.
pub(crate) async fn activate(
    State(state): State<Arc<AppState>>,
    PathId(version): PathId,
    merchant: MerchantRequest,
) -> ApiResult {
    use_version(&state, &version, merchant, VersionRole::Active).await
}

/// Handles `POST /v2/risk/rules/{version}/shadow`: lets a version only record.
pub(crate) async fn shadow(
    State(state): State<Arc<AppState>>,
    PathId(version): PathId,
    merchant: MerchantRequest,
) -> ApiResult {
    use_version(&state, &version, merchant, VersionRole::Shadow).await
}

async fn use_version(state: &AppState, version: &str, merchant: MerchantRequest, role: VersionRole) -> ApiResult {
    merchant
        .respond_recorded(encode_used, async |merchant, recorder| {
            let change = (&merchant.own, merchant.author());
            state.gateway.use_rules(&merchant.entity, role, version, change, recorder).await
        })
        .await
}

fn encode_used(UsedVersions { active, shadow, at }: &UsedVersions, ndc: &Ndc) -> EncodedResponse {
    let fields = success_fields()
        .with("active", FieldValue::Json(active.clone().into()))
        .with("shadow", FieldValue::Json(shadow.clone().into()));
    encode_response(StatusCode::OK, fields, ndc, *at)
}

/// Formats an optional time. `None` becomes `null`.
pub(crate) fn optional_time(time: Option<Timestamp>) -> FieldValue<'static> {
    time.map_or(FieldValue::Json(serde_json::Value::Null), |time| wire_time(time).into())
}
