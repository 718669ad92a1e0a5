//! Requests to the other gateway, and the reasons why they have no outcome.

use axum::http::Method;
use tillgate_domain::payment::connector_message::ConnectorOperation;
use tillgate_shared::parameter::Parameters;
use tillgate_shared::result::ResultCode;

use crate::web::{WebFailure, WebFault};

/// Path of payments. Follow-up payments have the id of their payment behind it.
const PAYMENTS: &str = "/v1/payments";
/// Path of queries.
const QUERY: &str = "/v1/query";
/// Path of checkouts.
const CHECKOUTS: &str = "/v1/checkouts";

/// A request.
#[derive(Debug)]
pub(super) struct ApiCall<'a> {
    /// The operation that it is a part of.
    pub(super) operation: ConnectorOperation,
    pub(super) method: Method,
    /// The path without a query.
    pub(super) path: String,
    /// The idempotency key. `None` if the request only reads.
    pub(super) key: Option<&'a str>,
    /// The reference that the request is recorded under.
    pub(super) reference: &'a str,
    /// The entity at the other gateway.
    pub(super) entity: &'a str,
    /// All parameters except the entity.
    pub(super) parameters: Parameters,
}

impl<'a> ApiCall<'a> {
    /// Makes the request of a new payment with this reference.
    pub(super) fn payment(
        operation: ConnectorOperation,
        reference: &'a str,
        entity: &'a str,
        parameters: Parameters,
    ) -> Self {
        let (method, path) = (Method::POST, PAYMENTS.to_owned());
        Self { operation, method, path, key: Some(reference), reference, entity, parameters }
    }

    /// Makes the request of a follow-up payment with this reference, of the payment with this id.
    pub(super) fn follow_up(
        operation: ConnectorOperation,
        reference: &'a str,
        entity: &'a str,
        id: &str,
        parameters: Parameters,
    ) -> Self {
        Self { path: format!("{PAYMENTS}/{id}"), ..Self::payment(operation, reference, entity, parameters) }
    }

    /// Makes the query for the payments with this reference.
    pub(super) fn query(operation: ConnectorOperation, reference: &'a str, entity: &'a str) -> Self {
        let parameters = [("merchantTransactionId", reference)].into_iter().collect();
        let (method, path) = (Method::GET, QUERY.to_owned());
        Self { operation, method, path, key: None, reference, entity, parameters }
    }

    /// Makes the request of a checkout that nobody pays, with this idempotency key.
    pub(super) fn checkout(key: &'a str, entity: &'a str, parameters: Parameters) -> Self {
        let path = CHECKOUTS.to_owned();
        Self { path, ..Self::payment(ConnectorOperation::Reversal, key, entity, parameters) }
    }
}

/// The reason why a request has no outcome.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum ApiFault {
    /// There is no response.
    #[error(transparent)]
    Web(#[from] WebFault),
    /// The response has not the form of the contract.
    #[error("the answer of the other gateway (HTTP {0}) cannot be read")]
    Unreadable(u16),
    /// The response does not repeat the data of the request, or contradicts itself.
    #[error("the answer of the other gateway has another {0} than the request")]
    Mismatch(&'static str),
    /// The payment was approved in another mode than this one.
    #[error("the other gateway has approved a {} payment with {}: check whether its entity is live", mode_name(*is_live), code.code())]
    OtherMode {
        /// The result code of the approval.
        code: ResultCode,
        /// True if the payment is live here.
        is_live: bool,
    },
    /// The other gateway refuses the request, and has made no payment.
    #[error("the other gateway refuses the request (HTTP {status}, {code}{})", parameter_part(parameter.as_deref()))]
    Refused {
        /// The HTTP status.
        status: u16,
        /// The result code, which may be undocumented.
        code: String,
        /// The first parameter at fault.
        parameter: Option<String>,
    },
    /// A request with the same idempotency key is in progress.
    #[error("the other gateway is still carrying out a request with this idempotency key")]
    InProgress,
    /// Another request was sent with the idempotency key before.
    #[error("the other gateway has received another request with this idempotency key before")]
    KeyReused,
    /// The other gateway cannot tell the outcome at present.
    #[error("the other gateway cannot tell the outcome at present (HTTP {0})")]
    Unavailable(u16),
}

/// A request without an outcome.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum CallFailure {
    /// The request was not executed and never will be: it was not sent, or was refused.
    NotExecuted(ApiFault),
    /// It is unknown whether the request was executed or still will be.
    Unknown(ApiFault),
}

impl CallFailure {
    /// Returns the reason.
    pub(super) fn fault(&self) -> &ApiFault {
        match self {
            Self::NotExecuted(fault) | Self::Unknown(fault) => fault,
        }
    }
}

impl ApiFault {
    /// Returns true if the other gateway has answered about the payment in a way that asking again does not change.
    pub(super) fn is_contradiction(&self) -> bool {
        matches!(self, Self::Mismatch(_) | Self::OtherMode { .. })
    }

    /// Returns true if the access token is wrong, or lacks a scope or the entity.
    pub(super) fn is_about_credentials(&self) -> bool {
        matches!(self, Self::Refused { status: 401 | 403, .. })
    }
}

impl From<WebFailure> for CallFailure {
    fn from(failure: WebFailure) -> Self {
        match failure {
            WebFailure::NotSent(fault) => Self::NotExecuted(fault.into()),
            WebFailure::Unanswered(fault) => Self::Unknown(fault.into()),
        }
    }
}

fn mode_name(is_live: bool) -> &'static str {
    if is_live { "live" } else { "sandbox" }
}

fn parameter_part(parameter: Option<&str>) -> String {
    parameter.map(|name| format!(", {name}")).unwrap_or_default()
}
