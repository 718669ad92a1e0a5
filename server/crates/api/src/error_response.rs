//! Error responses. A refusal is returned in full. An internal error is logged with its causes and returned as 500
//! with 999.999.999 and no detail. A disk fault is returned as 503 with 999.999.888 and `Retry-After`.

use std::any::Any;
use std::error::Error;

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use tillgate_domain::ndc::Ndc;
use tillgate_domain::refusal::Refusal;
use tillgate_gateway::Failure;
use tillgate_shared::result::codes;
use tillgate_store::{StoreError, StoreErrorKind};
use tillgate_wire::RefusalFields;

use super::response::{build_response, new_ndc};

/// Error result of a handler.
#[derive(Debug)]
pub(super) enum ApiError {
    /// The request is not carried out.
    Failed {
        failure: Box<Failure>,
        ndc: Ndc,
        /// True if a part of it is stored, or may be.
        may_be_stored: bool,
    },
    /// The request was carried out before; this is its stored response.
    Replay(Box<Response>),
}

impl ApiError {
    /// Creates the error of a request with this identifier.
    pub(super) fn new(failure: impl Into<Failure>, ndc: Ndc) -> Self {
        Self::Failed { failure: Box::new(failure.into()), ndc, may_be_stored: false }
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let (failure, ndc, may_be_stored) = match self {
            Self::Failed { failure, ndc, may_be_stored } => (*failure, ndc, may_be_stored),
            Self::Replay(response) => return *response,
        };
        match failure {
            Failure::Refused(refusal) => refusal_response(&refusal, &ndc),
            Failure::Store(error) => store_error_response(&error, may_be_stored, &ndc),
            failure => internal_error_response(&failure, &ndc),
        }
    }
}

/// Responds to a store error: with a refusal and `Retry-After` if a later try may succeed (409, 429, 503), otherwise as
/// an internal error. A disk fault is logged. The text does not say that nothing was done if a part may be stored.
fn store_error_response(error: &StoreError, may_be_stored: bool, ndc: &Ndc) -> Response {
    match error.kind() {
        StoreErrorKind::DuplicateKey => refusal_response(&Refusal::request_in_flight(), ndc),
        StoreErrorKind::TooManyReads => refusal_response(&Refusal::too_many_queries(), ndc),
        StoreErrorKind::Overloaded if may_be_stored => refusal_response(&Refusal::outcome_unknown(1), ndc),
        StoreErrorKind::Overloaded => refusal_response(&Refusal::write_queue_full(), ndc),
        StoreErrorKind::Disk(fault) => {
            tracing::error!(%ndc, error = %describe_error_chain(error), fault = fault.as_str(), "the store is not available");
            let describe = if may_be_stored { Refusal::outcome_unknown } else { Refusal::store_unavailable };
            refusal_response(&describe(fault.retry_after()), ndc)
        }
        StoreErrorKind::ConstraintViolated
        | StoreErrorKind::Unreadable
        | StoreErrorKind::InUse
        | StoreErrorKind::Internal => internal_error_response(error, ndc),
    }
}

/// Responds 500 to an internal error without detail, and logs its causes.
fn internal_error_response(error: &dyn Error, ndc: &Ndc) -> Response {
    tracing::error!(%ndc, error = %describe_error_chain(error), "internal error");
    generic_error_response(ndc)
}

/// Returns the text of an error and of its causes, with colons between.
fn describe_error_chain(error: &dyn Error) -> String {
    let mut chain = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        chain = format!("{chain}: {error}");
        cause = error.source();
    }
    chain
}

/// Builds the response of a refusal: its status, code, description and parameters at fault. `Retry-After` if it has
/// one, `WWW-Authenticate` with 401.
fn refusal_response(refusal: &Refusal, ndc: &Ndc) -> Response {
    let status = StatusCode::from_u16(refusal.status).unwrap_or(StatusCode::BAD_REQUEST);
    let mut response = build_response(status, RefusalFields::from(refusal), ndc);
    let headers = response.headers_mut();
    if let Some(seconds) = refusal.retry_after {
        headers.insert("retry-after", seconds.into());
    }
    if status == StatusCode::UNAUTHORIZED {
        headers.insert("www-authenticate", axum::http::HeaderValue::from_static("Bearer"));
    }
    response
}

/// Builds the response 500 with 999.999.999.
fn generic_error_response(ndc: &Ndc) -> Response {
    build_response(StatusCode::INTERNAL_SERVER_ERROR, RefusalFields::from(codes::INTERNAL_ERROR), ndc)
}

/// Logs a panic in a handler and responds 500, so that the connection stays open.
pub(super) fn panic_response(_: Box<dyn Any + Send>) -> Response {
    tracing::error!("a request panicked");
    generic_error_response(&new_ndc(None))
}

/// Responds 404 to an unknown address.
pub(super) async fn no_such_endpoint() -> Response {
    refusal_response(&Refusal::not_found("There is no endpoint at this address"), &new_ndc(None))
}

/// Responds 405 to a method that the address does not support.
pub(super) async fn method_not_allowed() -> Response {
    refusal_response(&Refusal::method_not_allowed(), &new_ndc(None))
}
