//! The envelope of every JSON response: `buildNumber`, `timestamp` and `ndc` at its end (contract, 3.3).

use std::cell::Cell;

use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::Response;
use jiff::{SignedDuration, Timestamp};
use serde::Serialize;
use tillgate_domain::access::entity::Entity;
use tillgate_domain::id::{CheckoutId, EntityId};
use tillgate_domain::idempotency::EncodedResponse;
use tillgate_domain::ndc::Ndc;
use tillgate_shared::result::ResultCode;
use tillgate_wire::Answer;

/// Build number: 40 hexadecimal digits of the source's commit, `@`, and its time, `yyyy-MM-dd HH:mm:ss +0000`.
pub const BUILD_NUMBER: &str = env!("TILLGATE_BUILD_NUMBER");

/// Returns a new request identifier, which begins with the entity if it is known.
pub(super) fn new_ndc(entity: Option<&EntityId>) -> Ndc {
    // If there is no randomness, the response is still sent; its identifier is then not unique.
    Ndc::for_request(entity, tillgate_gateway::random_bytes().unwrap_or_default())
}

/// Returns the request identifier of a call about a checkout: its id. An id that cannot be a checkout's is not
/// repeated, because it may be long and contain anything; the call then gets a new identifier.
pub(super) fn ndc_of_checkout(id: &str) -> Ndc {
    CheckoutId::parse(id).map_or_else(|| new_ndc(None), |id| Ndc::from_checkout(&id))
}

/// Returns the request identifier of a call to an address: the checkout's if its path contains one, otherwise a new one
/// for `entity`.
pub(super) fn ndc_of_path(path: &str, entity: Option<&EntityId>) -> Ndc {
    let mut segments = path.split('/').filter(|segment| !segment.is_empty());
    let of_checkout = segments.next() == Some("v1") && segments.next() == Some("checkouts");
    match segments.next().filter(|_| of_checkout).and_then(CheckoutId::parse) {
        Some(id) => Ndc::from_checkout(&id),
        None => new_ndc(entity),
    }
}

/// Returns 200 for a success or a pending result, otherwise 400: clients raise errors for 400 and read the code from
/// the body (contract, 3.4).
pub(super) fn http_status(code: ResultCode) -> StatusCode {
    if code.is_success() || code.is_pending() { StatusCode::OK } else { StatusCode::BAD_REQUEST }
}

tokio::task_local! {
    /// Time by which the clock of the entity of the current request is ahead of the machine's. Zero until it is known.
    static CLOCK_LEAD: Cell<SignedDuration>;
}

/// Runs a request with a clock of its own for the times of its responses.
pub(super) async fn with_request_clock(request: Request, next: Next) -> Response {
    CLOCK_LEAD.scope(Cell::new(SignedDuration::ZERO), next.run(request)).await
}

/// Sets the clock of the current request to that of an entity, so that all responses of a sandbox show the same time.
pub(super) fn set_request_clock(entity: &Entity) {
    // Outside of a request there is no clock to set.
    let _ = CLOCK_LEAD.try_with(|lead| lead.set(entity.ahead));
}

/// Returns the time by which the clock of the current request is ahead of the machine's.
pub(super) fn request_clock_lead() -> SignedDuration {
    CLOCK_LEAD.try_with(Cell::get).unwrap_or_default()
}

/// Returns the current time by the clock of the request's entity.
pub(super) fn request_time() -> Timestamp {
    Timestamp::now() + request_clock_lead()
}

/// Calls a function on a thread that works for a request whose clock is this far ahead.
pub(super) fn with_clock_lead<T>(lead: SignedDuration, work: impl FnOnce() -> T) -> T {
    CLOCK_LEAD.sync_scope(Cell::new(lead), work)
}

/// Builds a response with the envelope and the current time by the clock of the request's entity.
pub(super) fn build_response(status: StatusCode, fields: impl Serialize, ndc: &Ndc) -> Response {
    build_response_at(status, fields, ndc, request_time())
}

/// Builds a response about something that happened at a known time, which becomes its timestamp.
pub(super) fn build_response_at(status: StatusCode, fields: impl Serialize, ndc: &Ndc, time: Timestamp) -> Response {
    into_http_response(encode_response(status, fields, ndc, time))
}

/// Builds status and body of a response, with the envelope after the fields. The same arguments give the same bytes.
pub(super) fn encode_response(
    status: StatusCode,
    fields: impl Serialize,
    ndc: &Ndc,
    time: Timestamp,
) -> EncodedResponse {
    // Most responses fit; longer ones reallocate.
    let mut body = Vec::with_capacity(1024);
    // The fields are texts, and values that are JSON already, so serialisation cannot fail.
    #[allow(clippy::expect_used)]
    serde_json::to_writer(&mut body, &Answer::new(fields, BUILD_NUMBER, time, ndc)).expect("a response is JSON");
    EncodedResponse { status: status.as_u16(), body }
}

/// Converts a built response into an HTTP response. An invalid status becomes 500.
pub(super) fn into_http_response(response: EncodedResponse) -> Response {
    json_response(StatusCode::from_u16(response.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR), response.body)
}

/// Builds an HTTP response with a JSON body.
pub(super) fn json_response(status: StatusCode, body: impl Into<Body>) -> Response {
    let mut response = Response::new(body.into());
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json;charset=UTF-8"));
    response
}
