//! The envelope of every JSON answer: `buildNumber`, `timestamp` and `ndc` at its end (contract, 3.3).

use std::fmt;

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use jiff::Timestamp;
use serde_json::{Map, Value};
use tillgate_shared::result::ResultCode;

use crate::BUILD_NUMBER;
use crate::domain::id::{CheckoutId, EntityId, hex};

/// The internal request identifier: a checkout's id for everything about that checkout, otherwise the entity's id and
/// 32 random hexadecimal digits.
#[derive(Debug, Clone)]
pub(super) struct Ndc(String);

impl Ndc {
    /// A checkout's own id. What cannot be one is not repeated: it may be long, and anything.
    pub(super) fn of_checkout(id: &str) -> Self {
        match CheckoutId::parse(id) {
            Some(_) => Self(id.to_owned()),
            None => Self::fresh(None),
        }
    }

    /// A new identifier, of an entity's request once it is known whose it is.
    pub(super) fn fresh(entity: Option<&EntityId>) -> Self {
        // Without randomness there is still an answer to give; its identifier is then not unique.
        let random = hex(&crate::gateway::random::<16>().unwrap_or_default());
        Self(match entity {
            Some(entity) => format!("{entity}_{random}"),
            None => random,
        })
    }
}

impl fmt::Display for Ndc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// `yyyy-MM-dd HH:mm:ss+0000`
pub(super) fn wire_time(time: Timestamp) -> String {
    time.strftime("%Y-%m-%d %H:%M:%S+0000").to_string()
}

/// A result as it travels.
pub(super) fn result(code: ResultCode) -> (String, Value) {
    ("result".to_owned(), serde_json::json!({ "code": code.code(), "description": code.description() }))
}

/// Completes an answer with the envelope, made now.
pub(super) fn reply(status: StatusCode, fields: impl IntoIterator<Item = (String, Value)>, ndc: &Ndc) -> Response {
    reply_at(status, fields, ndc, Timestamp::now())
}

/// Completes an answer about something that happened at a known time.
pub(super) fn reply_at(
    status: StatusCode,
    fields: impl IntoIterator<Item = (String, Value)>,
    ndc: &Ndc,
    time: Timestamp,
) -> Response {
    let mut body: Map<String, Value> = fields.into_iter().collect();
    body.insert("buildNumber".to_owned(), BUILD_NUMBER.into());
    body.insert("timestamp".to_owned(), wire_time(time).into());
    body.insert("ndc".to_owned(), ndc.0.clone().into());
    let mut response = (status, Json(Value::Object(body))).into_response();
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json;charset=UTF-8"));
    response
}
