//! Answers that say no. A refusal is told in full; a failure of ours is logged with its chain and told as 500 with
//! 999.999.999 and no detail; a fault of the disk as 503 with 999.999.888 and `Retry-After`.

use std::any::Any;
use std::error::Error as _;

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use tillgate_shared::result::codes;

use super::fields::Fields;
use super::reply::{described, fresh_ndc, reply, result};
use crate::domain::ndc::Ndc;
use crate::domain::refusal::Refusal;
use crate::gateway::Failure;
use crate::store::StoreError;

/// What a handler returns instead of an answer of its own.
#[derive(Debug)]
pub(super) enum ApiError {
    /// The request is not carried out.
    Failed(Box<Failure>, Ndc),
    /// The request was carried out before, and this is what was answered.
    Replay(Box<Response>),
}

impl ApiError {
    pub(super) fn new(failure: impl Into<Failure>, ndc: Ndc) -> Self {
        Self::Failed(Box::new(failure.into()), ndc)
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let (failure, ndc) = match self {
            Self::Failed(failure, ndc) => (*failure, ndc),
            Self::Replay(answer) => return *answer,
        };
        match failure {
            Failure::Refused(refusal) => refused(&refusal, &ndc),
            Failure::Store(StoreError::NameTaken) => refused(&Refusal::under_way(), &ndc),
            Failure::Store(StoreError::TooManyReads) => refused(&Refusal::too_many_queries(), &ndc),
            Failure::Store(StoreError::Overloaded) => refused(&Refusal::overloaded(), &ndc),
            failure => {
                let fault = match &failure {
                    Failure::Store(error) => error.fault(),
                    _ => None,
                };
                let mut chain = failure.to_string();
                let mut cause = failure.source();
                while let Some(error) = cause {
                    chain = format!("{chain}: {error}");
                    cause = error.source();
                }
                match fault {
                    Some(fault) => {
                        tracing::error!(%ndc, error = %chain, fault = fault.word(), "the store is not available");
                        refused(&Refusal::store_unavailable(fault.retry_after()), &ndc)
                    }
                    None => {
                        tracing::error!(%ndc, error = %chain, "internal error");
                        internal(&ndc)
                    }
                }
            }
        }
    }
}

fn refused(refusal: &Refusal, ndc: &Ndc) -> Response {
    let status = StatusCode::from_u16(refusal.status).unwrap_or(StatusCode::BAD_REQUEST);
    let description = refusal.description.as_deref().unwrap_or(refusal.code.description());
    let mut result = described(refusal.code, description);
    if !refusal.parameters.is_empty() {
        result.set("parameterErrors", serde_json::json!(refusal.parameters));
    }
    let mut response = reply(status, Fields::default().with("result", result), ndc);
    let headers = response.headers_mut();
    if let Some(seconds) = refusal.retry_after {
        headers.insert("retry-after", seconds.into());
    }
    if status == StatusCode::UNAUTHORIZED {
        headers.insert("www-authenticate", axum::http::HeaderValue::from_static("Bearer"));
    }
    response
}

fn internal(ndc: &Ndc) -> Response {
    reply(StatusCode::INTERNAL_SERVER_ERROR, Fields::default().with("result", result(codes::INTERNAL_ERROR)), ndc)
}

/// A panic is our mistake; the connection lives on.
pub(super) fn panicked(_: Box<dyn Any + Send>) -> Response {
    tracing::error!("a request panicked");
    internal(&fresh_ndc(None))
}

/// 404 for an address that is none of ours.
pub(super) async fn no_such_endpoint() -> Response {
    refused(&Refusal::not_found("There is no endpoint at this address"), &fresh_ndc(None))
}

/// 405 for a method that the address does not know.
pub(super) async fn method_not_allowed() -> Response {
    refused(&Refusal::method_not_allowed(), &fresh_ndc(None))
}
