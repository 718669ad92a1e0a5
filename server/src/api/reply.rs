//! The envelope of every JSON answer: `buildNumber`, `timestamp` and `ndc` at its end (contract, 3.3).

use std::fmt;

use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use jiff::Timestamp;
use tillgate_shared::result::ResultCode;

use super::fields::Fields;
use crate::BUILD_NUMBER;
use crate::domain::id::{CheckoutId, EntityId, hex, log_tag};
use crate::domain::idempotency::Answer;

/// The internal request identifier: a checkout's id for everything about that checkout, otherwise the entity's id and
/// 32 random hexadecimal digits.
#[derive(Clone)]
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

impl fmt::Debug for Ndc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Ndc({self})")
    }
}

/// The form that the log shows: a checkout's id is a capability.
impl fmt::Display for Ndc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match CheckoutId::parse(&self.0) {
            Some(id) => f.write_str(&log_tag(id.as_str())),
            None => f.write_str(&self.0),
        }
    }
}

/// `yyyy-MM-dd HH:mm:ss+0000`
pub(super) fn wire_time(time: Timestamp) -> String {
    time.strftime("%Y-%m-%d %H:%M:%S+0000").to_string()
}

/// A result as it travels.
pub(super) fn result(code: ResultCode) -> Fields<'static> {
    described(code, code.description())
}

/// A result in other words than the code's own.
pub(super) fn described(code: ResultCode, description: &str) -> Fields<'_> {
    Fields::default().with("code", code.code()).with("description", description)
}

/// Completes an answer with the envelope, made now.
pub(super) fn reply(status: StatusCode, fields: Fields<'_>, ndc: &Ndc) -> Response {
    reply_at(status, fields, ndc, Timestamp::now())
}

/// Completes an answer about something that happened at a known time.
pub(super) fn reply_at(status: StatusCode, fields: Fields<'_>, ndc: &Ndc, time: Timestamp) -> Response {
    send(answer_at(status, fields, ndc, time))
}

/// An answer about something that happened at a known time: the same bytes whenever it is made.
pub(super) fn answer_at(status: StatusCode, fields: Fields<'_>, ndc: &Ndc, time: Timestamp) -> Answer {
    let fields =
        fields.with("buildNumber", BUILD_NUMBER).with("timestamp", wire_time(time)).with("ndc", ndc.0.as_str());
    // Most answers fit; longer ones grow.
    let mut body = Vec::with_capacity(1024);
    // Texts, and values that are JSON already: there is nothing that could fail.
    #[allow(clippy::expect_used)]
    serde_json::to_writer(&mut body, &fields).expect("an answer is JSON");
    Answer { status: status.as_u16(), body }
}

/// An answer on its way.
pub(super) fn send(answer: Answer) -> Response {
    json(StatusCode::from_u16(answer.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR), answer.body)
}

/// JSON as it leaves.
pub(super) fn json(status: StatusCode, body: impl Into<Body>) -> Response {
    let mut response = Response::new(body.into());
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json;charset=UTF-8"));
    response
}
