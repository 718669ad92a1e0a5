//! The routes of the host. They verify a request, book it, and send the response or the requested fault.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use axum::http::{Method, Request, Response};
use http_body_util::Full;
use hyper::body::Incoming;
use serde::Serialize;
use tillgate_connector::http::SharedKey;
use tillgate_connector::http::protocol::{
    AuthorizationRequest, EarlierRequest, HostOperation, HostResponse, ModificationRequest, RefusalReason,
};
use tillgate_connector::http::signature::{Signature, request_fingerprint};
use tillgate_os::clock::Clock;
use tillgate_store::StoreError;
use tillgate_store::acquirer_host::entry::{EntryKind, LedgerEntry};
use tillgate_store::acquirer_host::ledger::AcquirerLedger;
use tokio::sync::watch;

use super::bookkeeping::{self, BookingResult, CallContext};
use super::faults::{FaultPlan, HostFault, PlannedFault};
use super::issuer;
use super::page;
use super::reply::UnsignedReply;
use super::request::{
    NotVerified, VerifiedRequest, check_date, check_payment, malformed_refusal, parse_body, read_request,
};
use super::stream::SharedStream;

/// Route that lists the ledger.
const LEDGER_ROUTE: &str = "/ledger";
/// Path of the shoppers' pages. The id follows.
pub const PAGE_PATH: &str = "/pay/";
/// Route that plans faults.
const CONTROL_ROUTE: &str = "/control/faults";
/// Number of entries on a page of the ledger.
const ENTRIES_PER_PAGE: u32 = 1000;

/// The state of a host, shared by its connections. Only the ledger and the plan change; each has a lock of its own.
pub struct HostState {
    /// The ledger.
    pub ledger: AcquirerLedger,
    /// The shared key.
    pub key: SharedKey,
    /// The clock for the comparison with the dates of requests.
    pub clock: Arc<dyn Clock>,
    /// Delay of a slow response.
    pub slow_delay: Duration,
    /// Delay of a late booking.
    pub late_delay: Duration,
    /// Planned faults. `None` without `--control`.
    pub fault_plan: Option<FaultPlan>,
    /// The address of the shoppers' pages, with a trailing slash.
    pub page_base_url: String,
    /// True after the host was asked to stop.
    pub stopping: watch::Receiver<bool>,
}

/// The connection has to be closed without a response.
#[derive(Debug, thiserror::Error)]
#[error("the connection is closed")]
pub struct ConnectionClosed;

/// A page of the ledger.
#[derive(Serialize)]
struct LedgerPage {
    entries: Vec<LedgerEntry>,
}

/// A request to book.
enum BookingRequest {
    Payment(EntryKind, Box<AuthorizationRequest>),
    Modification(EntryKind, ModificationRequest),
    Reversal(EarlierRequest),
    Inquiry(EarlierRequest),
}

/// Responds to a request: to a shopper's page without any signature, to any other route after signature and date are
/// verified. If the request has a fault, responds with it.
///
/// # Errors
/// If the connection has to be closed without a response.
pub async fn handle_request(
    state: Arc<HostState>,
    stream: SharedStream,
    request: Request<Incoming>,
) -> Result<Response<Full<Bytes>>, ConnectionClosed> {
    if let Some(id) = request.uri().path().strip_prefix(PAGE_PATH).map(str::to_owned) {
        return Ok(page::handle_page_request(&state, &id, request).await);
    }
    let (request, date) = match read_request(request, &state.key).await {
        Ok(verified) => verified,
        Err(NotVerified::Broken) => return Err(ConnectionClosed),
        Err(NotVerified::Refused(reply)) => return Ok(reply.into_unsigned_response()),
    };
    let signature = request.signature.clone();
    let (reply, fault) = match check_date(&date, state.clock.now()) {
        Ok(()) => route_request(&state, &request).await?,
        Err(reply) => (reply, None),
    };
    match fault {
        Some(fault) => respond_with_fault(&state, &stream, &signature, reply, fault).await,
        None => Ok(reply.into_signed_response(&state.key, &signature)),
    }
}

/// Finds the route of a request, and executes it. Refuses an unknown route, another method than the route's, and the
/// control route without `--control`. Returns the reply, and the fault of an operation.
///
/// # Errors
/// Same as [`execute_operation`].
async fn route_request(
    state: &Arc<HostState>,
    request: &VerifiedRequest,
) -> Result<(UnsignedReply, Option<HostFault>), ConnectionClosed> {
    let path = request.uri.path();
    let operation = HostOperation::from_path(path);
    let is_control = path == CONTROL_ROUTE && state.fault_plan.is_some();
    let method = match (operation.is_some() || is_control, path == LEDGER_ROUTE) {
        (true, _) => Method::POST,
        (_, true) => Method::GET,
        _ => return Ok((UnsignedReply::refusal(RefusalReason::Route, "there is no such route"), None)),
    };
    if request.method != method {
        return Ok((UnsignedReply::refusal(RefusalReason::Method, format!("this route takes {method}")), None));
    }
    match (operation, &state.fault_plan) {
        (Some(operation), _) => execute_operation(state, operation, request).await,
        (None, Some(plan)) if is_control => Ok((plan_fault(plan, request), None)),
        (None, _) => Ok((list_entries(state, request).await, None)),
    }
}

/// Books a request, or answers an inquiry, and returns the reply with the fault to respond with. A planned fault
/// precedes one requested by the amount. The booking continues if the client disconnects.
///
/// # Errors
/// If the fault drops the request before it is booked, the system provides no random bytes, or the booking panics.
async fn execute_operation(
    state: &Arc<HostState>,
    operation: HostOperation,
    request: &VerifiedRequest,
) -> Result<(UnsignedReply, Option<HostFault>), ConnectionClosed> {
    let (booking, amount) = match parse_booking_request(operation, request) {
        Ok(parsed) => parsed,
        Err(reply) => return Ok((reply, None)),
    };
    let planned = state.fault_plan.as_ref().and_then(|plan| plan.take_fault(operation));
    // Reversals and inquiries repeat the amount of the payment. That amount must not request the fault again.
    let repeats_amount = matches!(operation, HostOperation::Reverse | HostOperation::Inquire);
    let fault = planned.or_else(|| HostFault::from_amount(amount).filter(|_| !repeats_amount));
    let delay = match fault {
        Some(HostFault::Dropped) => return Err(ConnectionClosed),
        Some(HostFault::Late) => state.late_delay,
        _ => Duration::ZERO,
    };
    let call = CallContext {
        operation,
        key: request.idempotency_key.clone(),
        fingerprint: request_fingerprint(&state.key, request.uri.path(), &request.body),
        now: state.clock.now().as_millisecond(),
        page_id: page::new_id().ok_or(ConnectionClosed)?,
        page_base_url: state.page_base_url.clone(),
    };
    let task_state = Arc::clone(state);
    // The booking continues if the client disconnects, as it would at a real host.
    let reply = tokio::spawn(async move {
        tokio::time::sleep(delay).await;
        book_request(&task_state, call, booking).await
    });
    let reply = reply.await.map_err(|_| ConnectionClosed)?;
    Ok((reply, fault))
}

/// Parses the body of an operation, and checks its payment. Returns the request to book, and its amount in minor units.
///
/// # Errors
/// A refusal of a body or value that is malformed, or of a reversal that names its own idempotency key.
fn parse_booking_request(
    operation: HostOperation,
    request: &VerifiedRequest,
) -> Result<(BookingRequest, u64), UnsignedReply> {
    let (booking, payment) = match operation {
        HostOperation::Authorize | HostOperation::Credit => {
            let body: AuthorizationRequest = parse_body(request)?;
            let kind = match (operation, body.capture) {
                (HostOperation::Credit, _) => EntryKind::Credit,
                (_, true) => EntryKind::Debit,
                (_, false) => EntryKind::Authorization,
            };
            let payment = body.payment.clone();
            (BookingRequest::Payment(kind, Box::new(body)), payment)
        }
        HostOperation::Capture | HostOperation::Increment | HostOperation::Refund => {
            let body: ModificationRequest = parse_body(request)?;
            let kind = match operation {
                HostOperation::Capture => EntryKind::Capture,
                HostOperation::Increment => EntryKind::Increment,
                _ => EntryKind::Refund,
            };
            let payment = body.payment.clone();
            (BookingRequest::Modification(kind, body), payment)
        }
        HostOperation::Reverse | HostOperation::Inquire => {
            let body: EarlierRequest = parse_body(request)?;
            let payment = body.payment.clone();
            let is_reversal = operation == HostOperation::Reverse;
            // The reversal of itself would be stored with its own idempotency key.
            if is_reversal && body.original_key == request.idempotency_key {
                return Err(malformed_refusal("originalKey is the key of this request"));
            }
            (if is_reversal { BookingRequest::Reversal(body) } else { BookingRequest::Inquiry(body) }, payment)
        }
    };
    check_payment(&payment)?;
    Ok((booking, payment.amount))
}

/// Books a request in the ledger, or answers an inquiry. Refuses an account that cannot be read, and an idempotency key
/// that another request has used. If the ledger fails, logs that and refuses the request as unavailable.
async fn book_request(state: &HostState, call: CallContext, booking: BookingRequest) -> UnsignedReply {
    let now = state.clock.now();
    let booked = match booking {
        BookingRequest::Payment(kind, request) => {
            let Some(decision) = issuer::decide_authorization(&request, now) else {
                return malformed_refusal("the account cannot be read");
            };
            state
                .ledger
                .run_decision(move |ledger| bookkeeping::book_payment(ledger, &call, kind, &request, &decision))
                .await
        }
        BookingRequest::Modification(kind, request) => {
            state.ledger.run_decision(move |ledger| bookkeeping::book_modification(ledger, &call, kind, &request)).await
        }
        BookingRequest::Reversal(request) => {
            state.ledger.run_decision(move |ledger| bookkeeping::book_reversal(ledger, &call, &request)).await
        }
        BookingRequest::Inquiry(request) => {
            state.ledger.run_decision(move |ledger| bookkeeping::answer_inquiry(ledger, &call, &request)).await
        }
    };
    match booked {
        Ok(BookingResult::Response(response)) => UnsignedReply::from_body(&*response),
        Ok(BookingResult::KeyReused) => {
            UnsignedReply::refusal(RefusalReason::KeyReused, "another request was sent under this idempotency key")
        }
        Err(error) => unavailable_refusal(&error),
    }
}

/// Logs an error of the ledger, and makes the refusal of the request.
fn unavailable_refusal(error: &StoreError) -> UnsignedReply {
    tracing::error!(%error, "reading or writing the acquirer's ledger failed");
    UnsignedReply::refusal(RefusalReason::Unavailable, "the ledger cannot be read or written now")
}

/// Returns up to 1000 entries in ascending order: those after the number in the query `after=`, or the first ones
/// without a query. Refuses any other query.
async fn list_entries(state: &HostState, request: &VerifiedRequest) -> UnsignedReply {
    let query = request.uri.query().unwrap_or("after=0");
    let Some(after) = query.strip_prefix("after=").and_then(|number| number.parse().ok()) else {
        return malformed_refusal("the only parameter is after, the number of an entry");
    };
    match state.ledger.load_entries_after(after, ENTRIES_PER_PAGE).await {
        Ok(entries) => UnsignedReply::from_body(&LedgerPage { entries }),
        Err(error) => unavailable_refusal(&error),
    }
}

/// Plans the fault that the body describes. Refuses another body, and any fault if too many are planned.
fn plan_fault(plan: &FaultPlan, request: &VerifiedRequest) -> UnsignedReply {
    match serde_json::from_slice::<PlannedFault>(&request.body) {
        Ok(planned) if plan.add_fault(planned) => UnsignedReply::from_body(&serde_json::json!({})),
        Ok(_) => malformed_refusal("too many faults are planned"),
        Err(_) => malformed_refusal("the body is {\"operation\": …, \"fault\": …, \"times\": …}"),
    }
}

/// Responds to a booked request with its fault. A late fault has delayed the booking already, so its response is an
/// ordinary one.
///
/// # Errors
/// If the fault closes the connection without a complete response, or after raw bytes or silence.
async fn respond_with_fault(
    state: &HostState,
    stream: &SharedStream,
    request: &Signature,
    reply: UnsignedReply,
    fault: HostFault,
) -> Result<Response<Full<Bytes>>, ConnectionClosed> {
    let response = || reply.clone().into_signed_response(&state.key, request);
    let whole = reply.signed_bytes(&state.key, request);
    match fault {
        HostFault::Slow => {
            tokio::time::sleep(state.slow_delay).await;
            Ok(response())
        }
        HostFault::Late => Ok(response()),
        HostFault::Cut => {
            let part = whole.get(..whole.len() / 2 + whole.len() / 4).unwrap_or_default();
            let _ = stream.write_raw(part).await;
            Err(ConnectionClosed)
        }
        HostFault::Twice => {
            let _ = stream.write_raw(&[whole.as_slice(), &whole].concat()).await;
            stay_silent(state).await
        }
        HostFault::Silent => stay_silent(state).await,
        HostFault::Garbage => Ok(Response::new(Full::new(Bytes::from_static(b"\0\xff{\"outcome\":\"approved\"")))),
        HostFault::Forged => Ok(reply.into_signed_response(&SharedKey::new([0; 32]), request)),
        HostFault::Mismatched => Ok(with_wrong_amount(reply.clone()).into_signed_response(&state.key, request)),
        HostFault::Dropped => Err(ConnectionClosed),
    }
}

/// Waits until the client disconnects, which drops this future, or until the host is asked to stop, and then closes the
/// connection.
async fn stay_silent(state: &HostState) -> Result<Response<Full<Bytes>>, ConnectionClosed> {
    let _ = state.stopping.clone().wait_for(|stopping| *stopping).await;
    Err(ConnectionClosed)
}

/// Adds one minor unit to the amount of a response. A refusal stays unchanged.
fn with_wrong_amount(reply: UnsignedReply) -> UnsignedReply {
    match serde_json::from_slice::<HostResponse>(reply.body()) {
        Ok(mut response) => {
            response.payment.amount += 1;
            UnsignedReply::from_body(&response)
        }
        Err(_) => reply,
    }
}
