//! `/v2/risk/lists`: a merchant adds, shows and removes entries of its lists for the risk check.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use tillgate_domain::idempotency::EncodedResponse;
use tillgate_domain::ndc::Ndc;
use tillgate_domain::refusal::Refusal;
use tillgate_domain::risk::list::{ListPosition, RiskListKind};
use tillgate_gateway::Failure;
use tillgate_gateway::risk::rules::ChangedEntry;
use tillgate_gateway::risk::rules::parse_list_key;
use tillgate_gateway::risk::rules::parse_list_kind;
use tillgate_gateway::risk::rules::parse_list_value;
use tillgate_risk::find_list_key;
use tillgate_store::risk::list::ListSelection;
use tillgate_wire::risk::{ChangedListEntryFields, ListEntriesFields};

use crate::app_state::AppState;
use crate::extract::MerchantRequest;
use crate::merchant_response::ApiResult;
use crate::response::encode_response;

/// Number of entries in a response.
const PAGE: u32 = 100;

/// Handles `POST /v2/risk/lists`: adds an entry, or replaces the one with the same value.
pub(crate) async fn add_entry(State(state): State<Arc<AppState>>, merchant: MerchantRequest) -> ApiResult {
    merchant
        .respond_recorded(encode_changed, async |merchant, recorder| {
            let sent = (&merchant.parameters, &merchant.own);
            state.gateway.put_list_entry(&merchant.entity, sent, merchant.author(), recorder).await
        })
        .await
}

/// Handles `DELETE /v2/risk/lists`: removes an entry.
pub(crate) async fn remove_entry(State(state): State<Arc<AppState>>, merchant: MerchantRequest) -> ApiResult {
    merchant
        .respond_recorded(encode_changed, async |merchant, recorder| {
            state.gateway.remove_list_entry(&merchant.entity, &merchant.own, merchant.author(), recorder).await
        })
        .await
}

fn encode_changed(ChangedEntry { entry, at }: &ChangedEntry, ndc: &Ndc) -> EncodedResponse {
    encode_response(StatusCode::OK, ChangedListEntryFields::from(entry), ndc, *at)
}

/// Handles `GET /v2/risk/lists`: a page of the entries, with expired ones.
pub(crate) async fn list_entries(State(state): State<Arc<AppState>>, merchant: MerchantRequest) -> ApiResult {
    merchant.respond(async |merchant| build_entry_list(&state, &merchant)).await
}

fn build_entry_list(state: &AppState, merchant: &MerchantRequest) -> Result<Response, Failure> {
    let selection = parse_selection(merchant)?;
    let now = state.gateway.now_of(&merchant.entity);
    let entries = state.gateway.store.load_list_entries(&merchant.entity.id, &selection)?;
    let last = entries.last().filter(|_| entries.len() == PAGE as usize);
    let cursor = last.map(|last| encode_cursor(&last.position));
    Ok(merchant.build_response(ListEntriesFields::new(&entries, now, cursor)))
}

/// Reads the selection of a request. A value needs its key.
fn parse_selection(merchant: &MerchantRequest) -> Result<ListSelection, Refusal> {
    let own = &merchant.own;
    let is_sent = |name| own.get(name).is_some_and(|value| !value.is_empty());
    let mut selection = ListSelection { limit: PAGE, ..ListSelection::default() };
    if is_sent("list") {
        selection.list = Some(parse_list_kind(own)?);
    }
    if is_sent("key") || is_sent("value") {
        let (key, velocity_key) = parse_list_key(own)?;
        selection.key = Some(key);
        if is_sent("value") {
            selection.value = Some(parse_list_value(&velocity_key, own)?);
        }
    }
    selection.after = merchant.page_cursor(decode_cursor)?;
    Ok(selection)
}

/// Encodes the place of an entry for the next request.
fn encode_cursor(position: &ListPosition) -> String {
    URL_SAFE_NO_PAD.encode(format!("{} {} {}", position.list.as_str(), position.key, position.value))
}

/// Decodes a cursor. Returns `None` if it is malformed.
fn decode_cursor(cursor: &str) -> Option<ListPosition> {
    let text = String::from_utf8(URL_SAFE_NO_PAD.decode(cursor).ok()?).ok()?;
    let mut parts = text.splitn(3, ' ');
    let list = RiskListKind::parse(parts.next()?)?;
    let (key, _) = find_list_key(parts.next()?)?;
    Some(ListPosition { list, key, value: parts.next()?.to_owned() })
}
