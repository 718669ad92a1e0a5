//! The envelope of every JSON answer: `buildNumber`, `timestamp` and `ndc` at its end (contract, 3.3).

use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use jiff::Timestamp;
use tillgate_shared::result::ResultCode;

use super::fields::Fields;
use crate::BUILD_NUMBER;
use crate::domain::id::{CheckoutId, EntityId};
use crate::domain::idempotency::Answer;
use crate::domain::ndc::Ndc;

/// Returns a new request identifier, of an entity's request once it is known whose it is.
pub(super) fn fresh_ndc(entity: Option<&EntityId>) -> Ndc {
    // Without randomness there is still an answer to give; its identifier is then not unique.
    Ndc::of_request(entity, crate::gateway::random().unwrap_or_default())
}

/// Returns the request identifier of a call about a checkout. An id that cannot be a checkout's is not repeated: it may be
/// long, and anything.
pub(super) fn ndc_of_checkout(id: &str) -> Ndc {
    CheckoutId::parse(id).map_or_else(|| fresh_ndc(None), |id| Ndc::of_checkout(&id))
}

/// Returns the request identifier of a call to an address: the checkout's where its path names one.
pub(super) fn ndc_of_path(path: &str, entity: Option<&EntityId>) -> Ndc {
    let mut segments = path.split('/').filter(|segment| !segment.is_empty());
    let of_checkout = segments.next() == Some("v1") && segments.next() == Some("checkouts");
    match segments.next().filter(|_| of_checkout).and_then(CheckoutId::parse) {
        Some(id) => Ndc::of_checkout(&id),
        None => fresh_ndc(entity),
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
    let fields = fields.with("buildNumber", BUILD_NUMBER).with("timestamp", wire_time(time)).with("ndc", ndc.as_str());
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
