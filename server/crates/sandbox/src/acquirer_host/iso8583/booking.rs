//! Books a request in the ledger, with the bookkeeping of the host.

use jiff::Timestamp;
use tillgate_connector::http::protocol::{EarlierRequest, ModificationRequest};
use tillgate_store::acquirer_host::entry::LedgerEntry;
use tillgate_store::acquirer_host::ledger::LedgerTransaction;
use tillgate_store::{StoreError, StoreErrorKind};

use super::codes::ProtocolCode;
use super::original::find_original;
use super::request::{HostCall, IsoBooking};
use crate::acquirer_host::bookkeeping::{self, BookingResult, CallContext};
use crate::acquirer_host::issuer::{self, IssuerDecision};
use crate::acquirer_host::routes::HostState;

/// Books a request, and returns the entry that its response shows. A repeat returns the entry of the first message. If
/// the ledger fails, logs that; if it is not sure that nothing was booked, returns `None`.
///
/// # Errors
/// The code of the response: the card number or expiry date is malformed, another request has the key, or the ledger
/// has too many requests.
pub(super) async fn book_call(state: &HostState, call: HostCall) -> Result<Option<LedgerEntry>, ProtocolCode> {
    let now = state.clock.now();
    let decision = match &call.booking {
        IsoBooking::Payment(_, request) => {
            Some(issuer::decide_authorization(request, now).ok_or(ProtocolCode::FormatError)?)
        }
        IsoBooking::Modification(..) | IsoBooking::Reversal(_) => None,
    };
    let decide = move |ledger: &LedgerTransaction<'_>| decide_call(ledger, &call, decision.as_ref(), now);
    match state.ledger.run_decision(decide).await {
        Ok(Some(entry)) => Ok(Some(entry)),
        Ok(None) => Err(ProtocolCode::Duplicate),
        Err(error) => {
            tracing::error!(%error, "reading or writing the acquirer's ledger failed");
            // Clients take a malfunction for a decline. Only a request that was never decided is certainly not booked.
            if error.kind() == StoreErrorKind::Overloaded { Err(ProtocolCode::Malfunction) } else { Ok(None) }
        }
    }
}

/// Decides a request in a transaction of the ledger. Returns `None` if another request has its key.
fn decide_call(
    ledger: &LedgerTransaction<'_>,
    call: &HostCall,
    decision: Option<&IssuerDecision>,
    now: Timestamp,
) -> Result<Option<LedgerEntry>, StoreError> {
    let context = CallContext {
        operation: call.operation,
        key: call.key.clone(),
        fingerprint: call.fingerprint,
        now: now.as_millisecond(),
        // A request without a return address needs no page.
        page_id: String::new(),
        page_base_url: String::new(),
    };
    let payment = call.payment.clone();
    let booked = match (&call.booking, decision) {
        (IsoBooking::Payment(kind, request), Some(decision)) => {
            bookkeeping::book_payment(ledger, &context, *kind, request, decision)?
        }
        // A payment always has a decision.
        (IsoBooking::Payment(..), None) => return Ok(None),
        (IsoBooking::Modification(kind, reference), _) => {
            let original = find_original(ledger, &payment, *kind, reference)?;
            let reference = original.map(|original| original.transaction_id()).unwrap_or_default();
            let request =
                ModificationRequest { payment, reference, descriptor: None, overcapture: false, last_capture: false };
            bookkeeping::book_modification(ledger, &context, *kind, &request)?
        }
        (IsoBooking::Reversal(original_key), _) => {
            let original_key = original_key.clone();
            let mut request = EarlierRequest { payment, original_key };
            let original = ledger.load_by_key(&request.original_key)?;
            // The reversal of a partial approval has the amount of the request or of its response. Both are in use.
            if let Some(original) = original.filter(|original| original.entry.amount == request.payment.amount) {
                request.payment.amount = original.entry.requested_amount();
            }
            bookkeeping::book_reversal(ledger, &context, &request)?
        }
    };
    match booked {
        BookingResult::Response(_) => ledger.load_by_key(&call.key),
        BookingResult::KeyReused => Ok(None),
    }
}
