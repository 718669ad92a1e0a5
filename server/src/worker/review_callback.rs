//! Attempts to deliver a review decision callback.

use jiff::SignedDuration;
use tillgate_domain::delivery::review_callback_retry::{DEFAULT_RETRIES, DEFAULT_RETRY_MINUTES, retry_delay};
use tillgate_gateway::App;
use tillgate_message::review_callback::{self, CallbackConfig, CallbackDocument, check_destination, render_body};
use tillgate_net::outgoing::{ExpectingPost, OutgoingError, ReceiverResponse};
use tillgate_store::review::callback::StoredCallback;

use super::outbox::SendOutcome;

/// Sends a callback once to the active destination of its configuration. It is accepted with one of the configured
/// statuses, and tried again as the configuration says. A request to wait longer (`Retry-After`) is ignored, because
/// the wait is configured by the same merchant.
pub(super) async fn attempt_callback(
    app: &App,
    stored: &StoredCallback,
    document: &[u8],
    failures: u32,
) -> SendOutcome {
    let config = match open_config(app, stored) {
        Ok(config) => config,
        Err(fault) => {
            let retry_after = retry_delay(failures + 1, DEFAULT_RETRIES, DEFAULT_RETRY_MINUTES);
            return SendOutcome { response: Err(fault), accepted: false, retry_after };
        }
    };
    let response = send_callback(app, stored, &config, document).await;
    let accepted = response.as_ref().is_ok_and(|response| config.accepted.contains(&response.status.as_u16()));
    let retry_after: Option<SignedDuration> = if accepted { None } else { config.retry_delay(failures + 1) };
    SendOutcome { response, accepted, retry_after }
}

/// Opens a sealed configuration.
fn open_config(app: &App, stored: &StoredCallback) -> Result<CallbackConfig, OutgoingError> {
    let record = review_callback::vault_record_id(&stored.entity);
    let opened = app.gateway.vault.open(&record, &stored.sealed).map_err(|_| OutgoingError::Key)?;
    serde_json::from_slice(&opened).map_err(|_| OutgoingError::Document)
}

/// Renders a callback and sends it. The address is checked again, because the entity may have become live since.
async fn send_callback(
    app: &App,
    stored: &StoredCallback,
    config: &CallbackConfig,
    document: &[u8],
) -> Result<ReceiverResponse, OutgoingError> {
    let document: CallbackDocument = serde_json::from_slice(document).map_err(|_| OutgoingError::Document)?;
    let address = config.active_url().ok_or(OutgoingError::CallbackRemoved)?;
    let is_live = app.gateway.directory.find_entity(&stored.entity).is_some_and(|entity| entity.live);
    let target = check_destination(address, false).map_err(|_| OutgoingError::InvalidAddress)?;
    if is_live && !target.is_https() {
        return Err(OutgoingError::PlainHttp);
    }
    let body = render_body(config, &document);
    app.outgoing
        .send_expecting(&ExpectingPost { uri: target.uri(), headers: &config.user_headers(), body: &body })
        .await
}
