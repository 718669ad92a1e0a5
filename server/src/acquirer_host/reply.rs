//! Replies of the host, and how they are signed and written.

use axum::body::Bytes;
use axum::http::{HeaderValue, Response, StatusCode, header};
use http_body_util::Full;
use serde::Serialize;

use crate::connector::http::SharedKey;
use crate::connector::http::signature::{SIGNATURE, Signature, sign_answer};
use crate::connector::http::wire::{HostRefusal, RefusalReason};

/// A reply before it is signed.
#[derive(Debug, Clone)]
pub struct Reply {
    status: StatusCode,
    body: Vec<u8>,
}

impl Reply {
    /// A reply with status 200.
    pub fn ok(body: &impl Serialize) -> Self {
        match serde_json::to_vec(body) {
            Ok(body) => Self { status: StatusCode::OK, body },
            Err(_) => Self { status: StatusCode::INTERNAL_SERVER_ERROR, body: Vec::new() },
        }
    }

    /// A refusal.
    pub fn refusal(error: RefusalReason, message: impl Into<String>) -> Self {
        let status = match error {
            RefusalReason::Signature | RefusalReason::Date => StatusCode::UNAUTHORIZED,
            RefusalReason::Malformed => StatusCode::BAD_REQUEST,
            RefusalReason::KeyReused => StatusCode::CONFLICT,
            RefusalReason::Route => StatusCode::NOT_FOUND,
            RefusalReason::Method => StatusCode::METHOD_NOT_ALLOWED,
            RefusalReason::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            RefusalReason::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
        };
        Self { status, ..Self::ok(&HostRefusal { error, message: message.into() }) }
    }

    /// The body.
    pub fn body(&self) -> &[u8] {
        &self.body
    }

    /// The response without a signature: of a request that is not signed itself.
    pub fn unsigned(self) -> Response<Full<Bytes>> {
        let mut response = Response::new(Full::new(Bytes::from(self.body)));
        *response.status_mut() = self.status;
        response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        response
    }

    /// The response, signed as the answer to a request.
    pub fn signed(self, key: &SharedKey, request: &Signature) -> Response<Full<Bytes>> {
        let signature = sign_answer(key, request, self.status.as_u16(), &self.body);
        let mut response = self.unsigned();
        // Hexadecimal digits are a header's value.
        if let Ok(value) = HeaderValue::from_str(signature.as_str()) {
            response.headers_mut().insert(SIGNATURE, value);
        }
        response
    }

    /// The bytes of the signed response, head and body, as a fault sends them itself.
    pub fn bytes(&self, key: &SharedKey, request: &Signature) -> Vec<u8> {
        let signature = sign_answer(key, request, self.status.as_u16(), &self.body);
        let head = format!(
            "HTTP/1.1 {} OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n{SIGNATURE}: {}\r\n\r\n",
            self.status.as_u16(),
            self.body.len(),
            signature.as_str()
        );
        [head.as_bytes(), &self.body].concat()
    }
}
