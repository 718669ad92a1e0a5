//! The routes of the host: verifies a request, books it, and answers as it is asked to.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use axum::http::{Method, Request, Response};
use http_body_util::Full;
use hyper::body::Incoming;
use jiff::tz::TimeZone;
use serde::Serialize;
use tokio::sync::watch;

use super::books::{self, Booking, Call, PaymentData};
use super::cards;
use super::entry::{EntryKind, LedgerEntry};
use super::faults::{FaultPlan, HostFault, PlannedFault};
use super::reply::Reply;
use super::request::{NotVerified, VerifiedRequest, check_date, check_payment, malformed, parse, read};
use super::stream::SharedStream;
use crate::clock::Clock;
use crate::connector::http::SharedKey;
use crate::connector::http::signature::{Signature, fingerprint};
use crate::connector::http::wire::{
    AuthorizationRequest, EarlierRequest, HostAnswer, HostOperation, ModificationRequest, RefusalReason,
};
use crate::store::StoreError;
use crate::store::acquirer_ledger::AcquirerLedger;

/// Route that lists the ledger.
const LEDGER: &str = "/ledger";
/// Route that plans faults.
const CONTROL: &str = "/control/faults";
/// Entries on a page of the ledger.
const PAGE: u32 = 1000;

/// The state of a host, which its connections share. Only the ledger and the plan change, each behind a lock of its own.
pub struct HostState {
    /// The ledger.
    pub ledger: AcquirerLedger,
    /// The shared key.
    pub key: SharedKey,
    /// The clock that dates are compared with.
    pub clock: Arc<dyn Clock>,
    /// Delay of a slow answer.
    pub slow: Duration,
    /// Delay of a late one.
    pub late: Duration,
    /// Planned faults; none without `--control`.
    pub plan: Option<FaultPlan>,
    /// True from the moment in which the host is asked to stop.
    pub stopping: watch::Receiver<bool>,
}

/// The connection is closed without an answer.
#[derive(Debug, thiserror::Error)]
#[error("the connection is closed")]
pub struct Hangup;

/// A page of the ledger.
#[derive(Serialize)]
struct LedgerPage {
    entries: Vec<LedgerEntry>,
}

/// A request that is about to be booked.
enum BookingOrder {
    Payment(EntryKind, Box<AuthorizationRequest>),
    Modification(EntryKind, ModificationRequest),
    Reversal(EarlierRequest),
    Inquiry(EarlierRequest),
}

/// Answers a request.
///
/// # Errors
/// If the connection has to be closed without an answer.
pub async fn answer(
    state: Arc<HostState>,
    stream: SharedStream,
    request: Request<Incoming>,
) -> Result<Response<Full<Bytes>>, Hangup> {
    let (request, date) = match read(request, &state.key).await {
        Ok(read) => read,
        Err(NotVerified::Broken) => return Err(Hangup),
        Err(NotVerified::Refused(reply)) => return Ok(reply.unsigned()),
    };
    let signature = request.signature.clone();
    let (reply, fault) = match check_date(&date, state.clock.now()) {
        Ok(()) => route(&state, &request).await?,
        Err(reply) => (reply, None),
    };
    match fault {
        Some(fault) => disturb(&state, &stream, &signature, reply, fault).await,
        None => Ok(reply.signed(&state.key, &signature)),
    }
}

/// Finds the route of a request, and carries it out.
async fn route(state: &Arc<HostState>, request: &VerifiedRequest) -> Result<(Reply, Option<HostFault>), Hangup> {
    let path = request.uri.path();
    let operation = HostOperation::find(path);
    let is_control = path == CONTROL && state.plan.is_some();
    let method = match (operation.is_some() || is_control, path == LEDGER) {
        (true, _) => Method::POST,
        (_, true) => Method::GET,
        _ => return Ok((Reply::refusal(RefusalReason::Route, "there is no such route"), None)),
    };
    if request.method != method {
        return Ok((Reply::refusal(RefusalReason::Method, format!("this route takes {method}")), None));
    }
    match (operation, &state.plan) {
        (Some(operation), _) => carry_out(state, operation, request).await,
        (None, Some(plan)) if is_control => Ok((plan_fault(plan, request), None)),
        (None, _) => Ok((list(state, request).await, None)),
    }
}

/// Books a request, and says which fault its answer meets.
async fn carry_out(
    state: &Arc<HostState>,
    operation: HostOperation,
    request: &VerifiedRequest,
) -> Result<(Reply, Option<HostFault>), Hangup> {
    let (order, amount) = match order(operation, request) {
        Ok(order) => order,
        Err(reply) => return Ok((reply, None)),
    };
    let planned = state.plan.as_ref().and_then(|plan| plan.take(operation));
    // A gateway that finds out what became of a payment names the payment's amount once more.
    let finds_out = matches!(operation, HostOperation::Reverse | HostOperation::Inquire);
    let fault = planned.or_else(|| HostFault::of_amount(amount).filter(|_| !finds_out));
    let delay = match fault {
        Some(HostFault::Dropped) => return Err(Hangup),
        Some(HostFault::Late) => state.late,
        _ => Duration::ZERO,
    };
    let call = Call {
        operation,
        key: request.idempotency_key.clone(),
        fingerprint: fingerprint(&state.key, request.uri.path(), &request.body),
        now: state.clock.now().as_millisecond(),
    };
    let booking = Arc::clone(state);
    // Whoever hangs up does not undo what was asked for, as with any network.
    let booked = tokio::spawn(async move {
        tokio::time::sleep(delay).await;
        book(&booking, call, order).await
    });
    let reply = booked.await.map_err(|_| Hangup)?;
    Ok((reply, fault))
}

/// Reads a request's body. Returns the amount beside it.
fn order(operation: HostOperation, request: &VerifiedRequest) -> Result<(BookingOrder, u64), Reply> {
    let (order, payment) = match operation {
        HostOperation::Authorize | HostOperation::Credit => {
            let body: AuthorizationRequest = parse(request)?;
            let kind = match (operation, body.capture) {
                (HostOperation::Credit, _) => EntryKind::Credit,
                (_, true) => EntryKind::Debit,
                (_, false) => EntryKind::Authorization,
            };
            let payment = PaymentData {
                merchant_id: body.merchant_id.clone(),
                payment_id: body.payment_id.clone(),
                amount: body.amount,
                currency: body.currency.clone(),
            };
            (BookingOrder::Payment(kind, Box::new(body)), payment)
        }
        HostOperation::Capture | HostOperation::Refund => {
            let body: ModificationRequest = parse(request)?;
            let kind = if operation == HostOperation::Capture { EntryKind::Capture } else { EntryKind::Refund };
            let payment = PaymentData::from(&body);
            (BookingOrder::Modification(kind, body), payment)
        }
        HostOperation::Reverse | HostOperation::Inquire => {
            let body: EarlierRequest = parse(request)?;
            let payment = PaymentData::from(&body);
            let is_reversal = operation == HostOperation::Reverse;
            // A reversal of itself would take its own key.
            if is_reversal && body.original_key == request.idempotency_key {
                return Err(malformed("originalKey is the key of this request"));
            }
            (if is_reversal { BookingOrder::Reversal(body) } else { BookingOrder::Inquiry(body) }, payment)
        }
    };
    check_payment(&payment)?;
    Ok((order, payment.amount))
}

async fn book(state: &HostState, call: Call, order: BookingOrder) -> Reply {
    let today = state.clock.now().to_zoned(TimeZone::UTC).date();
    let booked = match order {
        BookingOrder::Payment(kind, request) => {
            let Some(judgement) = cards::judge(&request, today) else {
                return malformed("the account cannot be read");
            };
            let AuthorizationRequest { merchant_id, payment_id, amount, currency, .. } = *request;
            let payment = PaymentData { merchant_id, payment_id, amount, currency };
            state.ledger.write(move |books| books::book_payment(books, &call, &payment, kind, &judgement)).await
        }
        BookingOrder::Modification(kind, request) => {
            state.ledger.write(move |books| books::book_modification(books, &call, kind, &request)).await
        }
        BookingOrder::Reversal(request) => {
            state.ledger.write(move |books| books::book_reversal(books, &call, &request)).await
        }
        BookingOrder::Inquiry(request) => state.ledger.write(move |books| books::inquire(books, &call, &request)).await,
    };
    match booked {
        Ok(Booking::Answer(answer)) => Reply::ok(&*answer),
        Ok(Booking::KeyReused) => {
            Reply::refusal(RefusalReason::KeyReused, "another request was sent under this idempotency key")
        }
        Err(error) => unavailable(&error),
    }
}

fn unavailable(error: &StoreError) -> Reply {
    tracing::error!(%error, "the acquirer's ledger");
    Reply::refusal(RefusalReason::Unavailable, "the ledger cannot be read or written now")
}

async fn list(state: &HostState, request: &VerifiedRequest) -> Reply {
    let query = request.uri.query().unwrap_or("after=0");
    let Some(after) = query.strip_prefix("after=").and_then(|number| number.parse().ok()) else {
        return malformed("the only parameter is after, the number of an entry");
    };
    match state.ledger.entries_after(after, PAGE).await {
        Ok(entries) => Reply::ok(&LedgerPage { entries }),
        Err(error) => unavailable(&error),
    }
}

fn plan_fault(plan: &FaultPlan, request: &VerifiedRequest) -> Reply {
    match serde_json::from_slice::<PlannedFault>(&request.body) {
        Ok(planned) if plan.add(planned) => Reply::ok(&serde_json::json!({})),
        Ok(_) => malformed("too many faults are planned"),
        Err(_) => malformed("the body is {\"operation\": …, \"fault\": …, \"times\": …}"),
    }
}

/// Answers with a fault.
async fn disturb(
    state: &HostState,
    stream: &SharedStream,
    request: &Signature,
    reply: Reply,
    fault: HostFault,
) -> Result<Response<Full<Bytes>>, Hangup> {
    let response = || reply.clone().signed(&state.key, request);
    let whole = reply.bytes(&state.key, request);
    match fault {
        HostFault::Slow => {
            tokio::time::sleep(state.slow).await;
            Ok(response())
        }
        HostFault::Late => Ok(response()),
        HostFault::Cut => {
            let half = whole.get(..whole.len() / 2 + whole.len() / 4).unwrap_or_default();
            let _ = stream.write_raw(half).await;
            Err(Hangup)
        }
        HostFault::Twice => {
            let _ = stream.write_raw(&[whole.as_slice(), &whole].concat()).await;
            stay_silent(state).await
        }
        HostFault::Silent => stay_silent(state).await,
        HostFault::Garbage => Ok(Response::new(Full::new(Bytes::from_static(b"\0\xff{\"outcome\":\"approved\"")))),
        HostFault::Forged => Ok(reply.signed(&SharedKey::new([0; 32]), request)),
        HostFault::Mismatched => Ok(about_another_amount(reply.clone()).signed(&state.key, request)),
        HostFault::Dropped => Err(Hangup),
    }
}

/// Waits until the client hangs up, which ends this call, or the host is asked to stop.
async fn stay_silent(state: &HostState) -> Result<Response<Full<Bytes>>, Hangup> {
    let _ = state.stopping.clone().wait_for(|stopping| *stopping).await;
    Err(Hangup)
}

fn about_another_amount(reply: Reply) -> Reply {
    match serde_json::from_slice::<HostAnswer>(reply.body()) {
        Ok(answer) => Reply::ok(&HostAnswer { amount: answer.amount + 1, ..answer }),
        Err(_) => reply,
    }
}
