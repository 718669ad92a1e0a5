//! Replies of the host, with their signatures.

use axum::body::Bytes;
use axum::http::{HeaderValue, Response, StatusCode, header};
use http_body_util::Full;
use serde::Serialize;
use tillgate_connector::http::SharedKey;
use tillgate_connector::http::protocol::{HostRefusal, RefusalReason};
use tillgate_connector::http::signature::{SIGNATURE, Signature, sign_response};

/// A reply before it is signed.
#[derive(Debug, Clone)]
pub struct UnsignedReply {
    status: StatusCode,
    body: Vec<u8>,
}

impl UnsignedReply {
    /// Makes a reply with status 200 and a JSON body. If the body cannot be serialised, makes an empty reply with
    /// status 500.
    pub fn from_body(body: &impl Serialize) -> Self {
        match serde_json::to_vec(body) {
            Ok(body) => Self { status: StatusCode::OK, body },
            Err(_) => Self { status: StatusCode::INTERNAL_SERVER_ERROR, body: Vec::new() },
        }
    }

    /// Makes a refusal, with the status of its reason.
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
        Self { status, ..Self::from_body(&HostRefusal { error, message: message.into() }) }
    }

    /// Returns the body.
    pub fn body(&self) -> &[u8] {
        &self.body
    }

    /// Makes the response without a signature, for requests without a valid signature.
    pub fn into_unsigned_response(self) -> Response<Full<Bytes>> {
        let mut response = Response::new(Full::new(Bytes::from(self.body)));
        *response.status_mut() = self.status;
        response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        response
    }

    /// Makes the response, signed for its request.
    pub fn into_signed_response(self, key: &SharedKey, request: &Signature) -> Response<Full<Bytes>> {
        let signature = sign_response(key, request, self.status.as_u16(), &self.body);
        let mut response = self.into_unsigned_response();
        // A header value may consist of hexadecimal digits, so this does not fail.
        if let Ok(value) = HeaderValue::from_str(signature.as_str()) {
            response.headers_mut().insert(SIGNATURE, value);
        }
        response
    }

    /// Returns the bytes of the signed HTTP/1.1 response, head and body. Faults write these bytes themselves.
    pub fn signed_bytes(&self, key: &SharedKey, request: &Signature) -> Vec<u8> {
        let signature = sign_response(key, request, self.status.as_u16(), &self.body);
        let head = format!(
            "HTTP/1.1 {} OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n{SIGNATURE}: {}\r\n\r\n",
            self.status.as_u16(),
            self.body.len(),
            signature.as_str()
        );
        [head.as_bytes(), &self.body].concat()
    }
}
