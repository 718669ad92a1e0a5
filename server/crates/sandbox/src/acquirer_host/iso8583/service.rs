//! Answers requests: checks, books, and responds with the requested fault.

use std::sync::Arc;

use tillgate_connector::http::protocol::HostOperation;
use tillgate_connector::iso8583::{EncodeError, Frame, IsoMessage};

use super::booking::book_call;
use super::codes::ProtocolCode;
use super::faults::respond_with_iso_fault;
use super::host::{IsoHost, ReceivedMessage};
use super::output::IsoOutput;
use super::request::{HostCall, read_call};
use super::request_kind::{find_operation, find_request_kind};
use super::response::{build_booked_response, build_protocol_response};
use crate::acquirer_host::faults::HostFault;

/// Answers a request. Returns its output, or `None` if the client gets no answer.
pub(super) async fn answer_request(
    host: &Arc<IsoHost>,
    frame: &Frame,
    received: &ReceivedMessage,
) -> Option<IsoOutput> {
    let message = &received.message;
    let kind = find_request_kind(&host.dialect, message);
    let refuse = |code| {
        let response = build_protocol_response(&host.dialect, kind, message, code);
        send_response(host, frame, response)
    };
    if !received.is_verified {
        return refuse(ProtocolCode::WrongMac);
    }
    let Some(kind) = kind else { return refuse(ProtocolCode::InvalidTransaction) };
    // Requests need no sign-on: the host accepts them on every connection.
    let Some(operation) = find_operation(kind) else { return refuse(ProtocolCode::NetworkAccepted) };
    let call = match read_call(&host.dialect, &host.state.key, kind, operation, message) {
        Ok(call) => call,
        Err(code) => return refuse(code),
    };
    let fault = take_fault(host, &call);
    match fault {
        Some(HostFault::Dropped) => return Some(IsoOutput::Last(Vec::new())),
        Some(HostFault::Late) => tokio::time::sleep(host.state.late_delay).await,
        _ => {}
    }
    let response = match book_call(&host.state, call).await {
        Ok(Some(entry)) => build_booked_response(&host.dialect, kind, message, &entry),
        // Without an answer the client reverses the request.
        Ok(None) => return None,
        Err(code) => build_protocol_response(&host.dialect, Some(kind), message, code),
    };
    match (fault, response) {
        (Some(fault), Ok(response)) => respond_with_iso_fault(host, frame, &response, fault).await,
        (_, response) => send_response(host, frame, response),
    }
}

/// Returns the fault of a request: a planned one, or else the one that its amount requests.
fn take_fault(host: &IsoHost, call: &HostCall) -> Option<HostFault> {
    let planned = host.state.fault_plan.as_ref().and_then(|plan| plan.take_fault(call.operation));
    // A reversal repeats the amount of the payment. That amount must not request the fault again.
    let repeats_amount = call.operation == HostOperation::Reverse;
    planned.or_else(|| HostFault::from_amount(call.payment.amount).filter(|_| !repeats_amount))
}

/// Makes the output of a response. Logs the error and returns `None` if a datum does not fit.
fn send_response(host: &IsoHost, frame: &Frame, response: Result<IsoMessage, EncodeError>) -> Option<IsoOutput> {
    match response {
        Ok(response) => host.frame_response(frame, &response).map(IsoOutput::Frames),
        Err(error) => {
            tracing::error!(%error, dialect = host.dialect.name(), "building an ISO 8583 response failed");
            None
        }
    }
}
