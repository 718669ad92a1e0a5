//! `/v2/risk/audit`: changes of a merchant's rules and lists, and the limits against card testing that it has reached.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use tillgate_gateway::Failure;
use tillgate_store::risk::audit::RiskAuditRow;

use crate::AppState;
use crate::extract::MerchantRequest;
use crate::merchant_response::ApiResult;
use crate::response::{list_fields, wire_time};
use tillgate_wire::json_object::JsonObject;

/// Largest and usual number of rows in a response.
const PAGE: u32 = 100;

/// Handles `GET /v2/risk/audit`: a page of the audit, the latest row first.
pub(crate) async fn list_changes(State(state): State<Arc<AppState>>, merchant: MerchantRequest) -> ApiResult {
    merchant.respond(async |merchant| build_page(&state, &merchant)).await
}

fn build_page(state: &AppState, merchant: &MerchantRequest) -> Result<Response, Failure> {
    let limit = merchant.page_limit(PAGE);
    let before = merchant.page_cursor(decode_cursor)?;
    let rows = state.gateway.store.load_risk_audit(&merchant.entity.id, before, limit)?;
    let changes: Vec<JsonObject<'_>> = rows.iter().map(row_fields).collect();
    let last = rows.last().filter(|_| rows.len() == limit as usize);
    let cursor = last.map(|last| URL_SAFE_NO_PAD.encode(last.number.to_be_bytes()));
    Ok(merchant.build_response(list_fields("changes", changes, cursor)))
}

fn row_fields(row: &RiskAuditRow) -> JsonObject<'_> {
    JsonObject::default()
        .with("kind", row.kind.as_str())
        .with("action", row.action.as_str())
        .with("subject", row.subject.as_str())
        .with("reason", row.reason.as_str())
        .with("author", row.author.as_str())
        .with("at", wire_time(row.at))
}

/// Decodes the number of the row after which a page begins. Returns `None` if the cursor is malformed.
fn decode_cursor(cursor: &str) -> Option<i64> {
    let bytes: [u8; 8] = URL_SAFE_NO_PAD.decode(cursor).ok()?.try_into().ok()?;
    Some(i64::from_be_bytes(bytes))
}
