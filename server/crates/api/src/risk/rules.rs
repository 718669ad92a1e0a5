//! `/v2/risk/rules`: a merchant adds, lists, reads and uses versions of its risk rules.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use tillgate_domain::idempotency::EncodedResponse;
use tillgate_domain::ndc::Ndc;
use tillgate_domain::refusal::Refusal;
use tillgate_domain::risk::rules::VersionRole;
use tillgate_gateway::Failure;
use tillgate_gateway::risk::rules::{AddedVersion, UsedVersions};
use tillgate_risk::RuleSet;
use tillgate_store::risk::decision_log::DecisionLogKind;
use tillgate_store::risk::rules::RiskKeys;
use tillgate_wire::risk::{
    AddedRulesFields, RuleChangeFields, RuleVersionFields, RuleVersionsFields, RulesInForceFields, RulesTextFields,
    UsedRulesFields,
};
use tillgate_wire::{ResultFields, WireTime};

use crate::app_state::AppState;
use crate::extract::{MerchantRequest, PathId};
use crate::merchant_response::ApiResult;
use crate::response::encode_response;

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

fn encode_added(AddedVersion { version, added, at }: &AddedVersion, ndc: &Ndc) -> EncodedResponse {
    let fields = AddedRulesFields { result: ResultFields::success(), version, added: *added };
    encode_response(StatusCode::OK, fields, ndc, *at)
}

/// Handles `GET /v2/risk/rules`: the stored versions, those in use, those in force, and the latest changes.
pub(crate) async fn list_versions(State(state): State<Arc<AppState>>, merchant: MerchantRequest) -> ApiResult {
    merchant.respond(async |merchant| build_version_list(&state, &merchant)).await
}

fn build_version_list(state: &AppState, merchant: &MerchantRequest) -> Result<Response, Failure> {
    let (entity, store) = (&merchant.entity, &state.gateway.store);
    let now = state.gateway.now_of(entity);
    let stored = store.load_risk_state(&RiskKeys { entity: entity.id.clone(), position: None, now })?;
    let changes = store.load_risk_changes(&entity.id, DecisionLogKind::Rules, SHOWN_CHANGES)?;
    let in_force = state.gateway.directory.risk.find_rules(&entity.id).unwrap_or_default();
    let name = |rules: &Option<Arc<RuleSet>>| rules.as_ref().map(|rules| rules.version().to_string());
    let versions = stored.versions.iter().map(|known| RuleVersionFields {
        version: &known.version,
        author: &known.author,
        created: WireTime(known.created),
    });
    let changes = changes.iter().map(|row| RuleChangeFields {
        action: &row.action,
        version: &row.subject,
        reason: &row.reason,
        author: &row.author,
        at: WireTime(row.at),
    });
    Ok(merchant.build_response(RuleVersionsFields {
        result: ResultFields::success(),
        active: stored.active.as_deref(),
        shadow: stored.shadow.as_deref(),
        in_force: RulesInForceFields {
            active: name(&in_force.active),
            shadow: name(&in_force.shadow),
            unreadable: in_force.is_unreadable,
        },
        versions: versions.collect(),
        changes: changes.collect(),
    }))
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
            let fields = RulesTextFields { result: ResultFields::success(), version: &version, rules: &text };
            Ok(merchant.build_response(fields))
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
    let fields =
        UsedRulesFields { result: ResultFields::success(), active: active.as_deref(), shadow: shadow.as_deref() };
    encode_response(StatusCode::OK, fields, ndc, *at)
}
