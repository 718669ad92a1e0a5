//! Body of a request of our own script: a small JSON document.

use std::time::Duration;

use axum::body::to_bytes;
use axum::extract::{FromRequest, Request};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use serde_json::{Value, json};

/// Maximum size of a body, in bytes. An answer of a passkey without an attestation has about one kilobyte.
const LIMIT: usize = 16 * 1024;
/// Maximum time for a body to arrive.
const TIMEOUT: Duration = Duration::from_secs(15);

/// A JSON document that our own script has sent.
pub(super) struct JsonBody(Value);

impl JsonBody {
    /// Returns the text of a field, and an empty text if it is missing.
    pub(super) fn text(&self, name: &str) -> &str {
        self.0[name].as_str().unwrap_or_default()
    }

    /// Returns a field.
    pub(super) fn value(&self, name: &str) -> &Value {
        &self.0[name]
    }
}

impl<S: Send + Sync> FromRequest<S> for JsonBody {
    type Rejection = Response;

    async fn from_request(request: Request, _: &S) -> Result<Self, Response> {
        let refuse = |status: StatusCode, message: &str| refuse(status, message);
        let kind = request.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
        // A form of another site can send any other kind without asking the browser.
        if kind != Some("application/json") {
            return Err(refuse(StatusCode::UNSUPPORTED_MEDIA_TYPE, "The content type is not application/json"));
        }
        let read = tokio::time::timeout(TIMEOUT, to_bytes(request.into_body(), LIMIT)).await;
        let read =
            read.map_err(|_| refuse(StatusCode::REQUEST_TIMEOUT, "The body did not arrive within 15 seconds"))?;
        let body = read.map_err(|_| refuse(StatusCode::PAYLOAD_TOO_LARGE, "The body is larger than 16 kB"))?;
        let document: Value = serde_json::from_slice(&body)
            .map_err(|_| refuse(StatusCode::BAD_REQUEST, "The body is not a JSON document"))?;
        Ok(Self(document))
    }
}

/// Returns the response of a request that is refused, with the reason for the user.
pub(super) fn refuse(status: StatusCode, message: &str) -> Response {
    (status, axum::Json(json!({ "message": message }))).into_response()
}

/// Returns the response that leads the script's page to another one.
pub(super) fn lead_to(path: &str) -> Response {
    axum::Json(json!({ "location": path })).into_response()
}
