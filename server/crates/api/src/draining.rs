//! The end of a server that is announced: `/health` says it, and each response closes its connection, so that a proxy
//! sends its next requests to other servers before this one stops.

use std::sync::atomic::{AtomicBool, Ordering};

use axum::http::{HeaderValue, header};
use axum::response::Response;

/// True from the announcement of the end.
#[derive(Debug, Default)]
pub struct Draining(AtomicBool);

impl Draining {
    /// Announces the end of the server. Requests are served as before.
    pub fn begin(&self) {
        self.0.store(true, Ordering::Release);
    }

    /// Returns true if the end is announced.
    pub(crate) fn has_begun(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }

    /// Lets a response close its connection if the end is announced.
    pub(crate) fn close_connection(&self, mut response: Response) -> Response {
        if self.has_begun() {
            response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
        }
        response
    }
}
