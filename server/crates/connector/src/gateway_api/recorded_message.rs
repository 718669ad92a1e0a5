//! The messages of this connector for the timeline of a payment: each request with its answer, without secrets.
//!
//! Parameters are shown by name, so that a new one is shown only after somebody has decided about it. Card numbers and
//! account numbers keep their last four digits. Of an answer only the texts are shown that are also passed on.

use std::time::Instant;

use axum::http::Uri;
use jiff::Timestamp;
use tillgate_domain::payment::ConnectorTxIds;
use tillgate_domain::payment::connector_message::{ConnectorMessage, FaultKind, MessageFault, MessageOutcome};
use tillgate_shared::parameter::Parameters;

use super::call::{ApiCall, ApiFault, CallFailure};
use crate::recorded_messages::{add_message, describe_web_fault, mask_number, shorten_value};
use crate::web::WebFault;
use crate::{ConnectorOutcome, ConnectorResult, ShopperPage};

/// Names of parameters that are shown.
const SHOWN: [&str; 22] = [
    "amount",
    "currency",
    "paymentBrand",
    "paymentType",
    "testMode",
    "merchantTransactionId",
    "descriptor",
    "partialApproval",
    "transactionCategory",
    "card.holder",
    "bankAccount.holder",
    "bankAccount.bankName",
    "bankAccount.bankCode",
    "bankAccount.bic",
    "bankAccount.country",
    "bankAccount.mandate.dateOfSignature",
    "billing.street1",
    "billing.postcode",
    "threeDSecure.eci",
    "threeDSecure.version",
    "threeDSecure.authenticationStatus",
    super::hops::PARAMETER,
];
/// Beginnings of the names of parameters that are shown.
const SHOWN_GROUPS: [&str; 2] = ["merchant.", "standingInstruction."];
/// Names of parameters that keep their last four characters.
const MASKED: [&str; 3] = ["card.number", "bankAccount.iban", "bankAccount.number"];

/// The end of a request.
#[derive(Debug, Clone, Copy)]
pub(super) enum ApiCallEnd<'a> {
    /// The other gateway has answered with an outcome.
    Outcome(&'a ConnectorOutcome),
    /// The other gateway has answered a query with payments in this state.
    Found(MessageOutcome),
    /// The other gateway has answered a query, and does not know the request.
    NotFound,
    /// The other gateway has reversed the payment of the query, or will refuse it when it arrives.
    Reversed,
    /// There is no outcome.
    Failed(&'a CallFailure),
}

/// A request that is in progress. Its message is collected at its end, or when the caller gives it up.
pub(super) struct RecordedApiCall<'a> {
    call: &'a ApiCall<'a>,
    sent: Timestamp,
    started: Instant,
    is_open: bool,
}

impl<'a> RecordedApiCall<'a> {
    /// Begins a request at a time of the machine's clock.
    pub(super) fn begin(call: &'a ApiCall<'a>, sent: Timestamp) -> Self {
        Self { call, sent, started: Instant::now(), is_open: true }
    }

    /// Collects the message with its end.
    pub(super) fn end(mut self, end: ApiCallEnd<'_>) {
        self.is_open = false;
        add_message(|| self.describe(end));
    }

    fn describe(&self, end: ApiCallEnd<'_>) -> ConnectorMessage {
        let address = format!("{} {}", self.call.method, self.call.path);
        let mut request = vec![("address".to_owned(), address), ("entityId".to_owned(), self.call.entity.to_owned())];
        request.extend(describe_parameters(&self.call.parameters));
        let message = ConnectorMessage {
            sent: self.sent,
            milliseconds: u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX),
            operation: self.call.operation,
            reference: self.call.reference.to_owned(),
            outcome: MessageOutcome::NoAnswer,
            fault: None,
            response_code: None,
            avs: None,
            cvv: None,
            connector_tx_ids: ConnectorTxIds::default(),
            request,
            answer: Vec::new(),
        };
        match end {
            ApiCallEnd::Outcome(outcome) => add_outcome(message, outcome),
            ApiCallEnd::Found(outcome) => ConnectorMessage { outcome, ..message },
            ApiCallEnd::NotFound => ConnectorMessage { outcome: MessageOutcome::NotFound, ..message },
            ApiCallEnd::Reversed => ConnectorMessage { outcome: MessageOutcome::Reversed, ..message },
            ApiCallEnd::Failed(failure) => {
                let outcome = match failure {
                    CallFailure::NotExecuted(_) => MessageOutcome::NotExecuted,
                    CallFailure::Unknown(fault) if fault.is_contradiction() => MessageOutcome::Contradictory,
                    CallFailure::Unknown(ApiFault::InProgress) => MessageOutcome::Pending,
                    CallFailure::Unknown(_) => MessageOutcome::NoAnswer,
                };
                ConnectorMessage { outcome, fault: Some(describe_fault(failure.fault())), ..message }
            }
        }
    }
}

impl Drop for RecordedApiCall<'_> {
    fn drop(&mut self) {
        // The caller waits for all requests of an outcome together, and gives up the last one when its time is over.
        if self.is_open {
            let late = WebFault::Late(self.started.elapsed().as_millis());
            add_message(|| self.describe(ApiCallEnd::Failed(&CallFailure::Unknown(late.into()))));
        }
    }
}

/// Adds an outcome to the message of its request.
fn add_outcome(message: ConnectorMessage, outcome: &ConnectorOutcome) -> ConnectorMessage {
    let kind = match outcome {
        ConnectorOutcome::Approved(_) => MessageOutcome::Approved,
        ConnectorOutcome::Declined(_) => MessageOutcome::Declined,
        ConnectorOutcome::Pending(_) | ConnectorOutcome::Unknown => MessageOutcome::Pending,
        ConnectorOutcome::Redirect(..) => MessageOutcome::Redirect,
    };
    let Some(result) = outcome.result() else { return ConnectorMessage { outcome: kind, ..message } };
    let ConnectorResult { code, avs, cvv, details, connector_tx_ids, approved_amount, transfer_account: _ } = result;
    let texts = details.iter().map(|(name, value)| (format!("resultDetails.{name}"), shorten_value(value)));
    let amount = approved_amount.map(|amount| ("amount".to_owned(), amount.to_string()));
    let page = match outcome {
        ConnectorOutcome::Redirect(_, page) => describe_page(page).map(|page| ("redirect.url".to_owned(), page)),
        _ => None,
    };
    ConnectorMessage {
        outcome: kind,
        response_code: Some(code.code().to_owned()),
        avs: *avs,
        cvv: *cvv,
        connector_tx_ids: ConnectorTxIds::new(connector_tx_ids.to_array().map(|id| id.map(|id| shorten_value(&id)))),
        answer: texts.chain(amount).chain(page).collect(),
        ..message
    }
}

/// Describes a page by its host, because the rest of its address may be a capability.
fn describe_page(page: &ShopperPage) -> Option<String> {
    let ShopperPage::Foreign { url, .. } = page else { return None };
    let page: Uri = url.parse().ok()?;
    Some(format!("{}://{}/…", page.scheme_str()?, page.host()?))
}

/// Describes the reason why a request has no outcome.
fn describe_fault(fault: &ApiFault) -> MessageFault {
    let (kind, detail) = match fault {
        ApiFault::Web(fault) => return describe_web_fault(fault),
        ApiFault::Unreadable(status) => (FaultKind::Unreadable, status.to_string()),
        ApiFault::Mismatch(part) => (FaultKind::Mismatch, (*part).to_owned()),
        ApiFault::OtherMode { code, .. } => (FaultKind::Mismatch, format!("result.code {}", code.code())),
        ApiFault::Refused { status, code, parameter } => {
            let parts = [Some(status.to_string()), Some(code.clone()), parameter.clone()];
            let parts: Vec<String> = parts.into_iter().flatten().filter(|part| !part.is_empty()).collect();
            (FaultKind::Refused, parts.join(" "))
        }
        ApiFault::InProgress => (FaultKind::Undecided, "409".to_owned()),
        ApiFault::KeyReused => (FaultKind::Refused, "Idempotency-Key".to_owned()),
        ApiFault::Unavailable(status) => (FaultKind::Undecided, status.to_string()),
    };
    MessageFault { kind, detail: shorten_value(&detail) }
}

/// Returns names and masked values of the parameters that may be shown.
fn describe_parameters(parameters: &Parameters) -> Vec<(String, String)> {
    let shown = parameters.iter().filter_map(|(name, value)| {
        let is_shown = SHOWN.contains(&name) || SHOWN_GROUPS.iter().any(|group| name.starts_with(group));
        let text = if MASKED.contains(&name) {
            mask_number(value)
        } else if is_shown {
            shorten_value(value)
        } else {
            return None;
        };
        Some((name.to_owned(), text))
    });
    shown.collect()
}
