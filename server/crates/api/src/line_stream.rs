//! Responses of any length, sent page by page while they are read, so that the memory stays the same.
//!
//! A page is read in the queue of the tenant's long reads when the client has taken the one before. A slow client holds
//! no thread.

use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::http::{HeaderValue, header};
use axum::response::Response;
use http_body_util::channel::{Channel, Sender};
use tillgate_domain::id::EntityId;
use tillgate_gateway::Failure;
use tillgate_store::{Cancellation, StoreError};

use super::app_state::AppState;

/// Number of pages that wait for a slow client.
const BUFFERED_PAGES: usize = 2;

/// Source of a response's lines.
pub(super) trait LineSource: Send + 'static {
    /// Returns true after the last line.
    fn is_at_end(&self) -> bool;

    /// Reads the next lines. There may be none although the end is not reached.
    fn read_lines(&mut self) -> Result<Vec<u8>, StoreError>;
}

/// Builds a response of lines. Reads the first page, whose errors are the request's, and leaves the others to a task.
///
/// # Errors
/// If the first page cannot be read, or the queue is full.
pub(super) async fn stream_lines(
    state: Arc<AppState>,
    tenant: EntityId,
    header_line: Vec<u8>,
    source: impl LineSource,
    media_type: &'static str,
) -> Result<Response, Failure> {
    let sender = LineSender { state, tenant };
    let (first, source) = sender.read_page(source).await?;
    let (channel, body) = Channel::new(BUFFERED_PAGES);
    tokio::spawn(sender.send_pages([header_line, first].concat(), source, channel));
    let mut response = Response::new(Body::new(body));
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type));
    Ok(response)
}

/// Sends the pages of a source.
struct LineSender {
    state: Arc<AppState>,
    tenant: EntityId,
}

impl LineSender {
    /// Reads the next page in the queue of the tenant's long reads. Returns its lines, and the source.
    async fn read_page<S: LineSource>(&self, mut source: S) -> Result<(Vec<u8>, S), Failure> {
        let read = move |_: &Cancellation<'_>| -> Result<_, StoreError> { Ok((source.read_lines()?, source)) };
        Ok(self.state.gateway.store.long_reads.run_read(&self.tenant, read).await??)
    }

    /// Sends a page and those after it. If one cannot be read, the response ends without its end, so that the client
    /// does not take the part for the whole.
    async fn send_pages<S: LineSource>(self, first: Vec<u8>, source: S, mut sender: Sender<Bytes, Failure>) {
        let (mut lines, mut source) = (first, source);
        loop {
            if !lines.is_empty() && sender.send_data(lines.into()).await.is_err() {
                // The client has disconnected.
                return;
            }
            if source.is_at_end() {
                return;
            }
            match self.read_page(source).await {
                Ok(page) => (lines, source) = page,
                Err(failure) => {
                    let entity = self.tenant.as_str();
                    tracing::warn!(entity, error = %failure, "a long response cannot be read to its end");
                    return sender.abort(failure);
                }
            }
        }
    }
}
