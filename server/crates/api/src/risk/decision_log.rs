//! `/v2/risk/audit`: the decision log of a merchant.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use tillgate_gateway::Failure;
use tillgate_store::risk::decision_log::DecisionLogRow;
use tillgate_wire::risk::{RiskChangeFields, RiskChangesFields};
use tillgate_wire::{ResultFields, WireTime};

use crate::app_state::AppState;
use crate::extract::MerchantRequest;
use crate::merchant_response::ApiResult;

/// Largest and usual number of rows in a response.
const PAGE: u32 = 100;

/// Handles `GET /v2/risk/audit`: a page of the decision log, the latest row first.
pub(crate) async fn list_changes(State(state): State<Arc<AppState>>, merchant: MerchantRequest) -> ApiResult {
    merchant.respond(async |merchant| build_page(&state, &merchant)).await
}

fn build_page(state: &AppState, merchant: &MerchantRequest) -> Result<Response, Failure> {
    let limit = merchant.page_limit(PAGE);
    let before = merchant.page_cursor(decode_cursor)?;
    let rows = state.gateway.store.load_decision_log(&merchant.entity.id, before, limit)?;
    let last = rows.last().filter(|_| rows.len() == limit as usize);
    let cursor = last.map(|last| URL_SAFE_NO_PAD.encode(last.number.to_be_bytes()));
    let changes = rows.iter().map(row_fields).collect();
    Ok(merchant.build_response(RiskChangesFields { result: ResultFields::success(), changes, cursor }))
}

fn row_fields(row: &DecisionLogRow) -> RiskChangeFields<'_> {
    RiskChangeFields {
        kind: &row.kind,
        action: &row.action,
        subject: &row.subject,
        reason: &row.reason,
        author: &row.author,
        at: WireTime(row.at),
    }
}

/// Decodes the number of the row after which a page begins. Returns `None` if the cursor is malformed.
fn decode_cursor(cursor: &str) -> Option<i64> {
    let bytes: [u8; 8] = URL_SAFE_NO_PAD.decode(cursor).ok()?.try_into().ok()?;
    Some(i64::from_be_bytes(bytes))
}
