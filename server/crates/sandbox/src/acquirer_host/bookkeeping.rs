//! Bookkeeping: decides each request against the ledger, in one transaction.
//!
//! A request that is repeated with its idempotency key is booked once, and its response shows the booked entry. A
//! reversal reverses a request as a whole. If the request has not arrived yet, it is declined when it arrives.

use tillgate_connector::http::protocol::{
    AuthorizationRequest, EarlierRequest, HostOperation, HostOutcome, HostResponse, MAX_AMOUNT, ModificationRequest,
    PaymentData,
};
use tillgate_store::StoreError;
use tillgate_store::acquirer_host::entry::{EntryKind, HostPage, LedgerEntry, NewEntry, SchemeData};
use tillgate_store::acquirer_host::ledger::LedgerTransaction;

use super::issuer::{IssuerDecision, decide_increment, find_advice_code};

/// Response codes of the bookkeeping (ISO 8583, field 39).
mod code {
    pub const APPROVED: &str = "00";
    /// Invalid transaction.
    pub const INVALID: &str = "12";
    /// Invalid amount: more than the available amount, or not that of the original.
    pub const AMOUNT: &str = "13";
    /// Customer cancellation.
    pub const CANCELLED: &str = "17";
    /// No action taken: the state of the original does not allow it.
    pub const NO_ACTION: &str = "21";
    /// Unable to locate the original.
    pub const NOT_FOUND: &str = "25";
    /// Response received too late: the host does not know the outcome yet.
    pub const TOO_LATE: &str = "68";
}

/// Data of a request other than its payment.
#[derive(Debug, Clone)]
pub struct CallContext {
    /// The operation.
    pub operation: HostOperation,
    /// Idempotency key.
    pub key: String,
    /// Keyed fingerprint of path and body.
    pub fingerprint: [u8; 32],
    /// Time in milliseconds since 1970.
    pub now: i64,
    /// The id of the shopper's page, for the case that one is needed.
    pub page_id: String,
    /// The address of the pages, with a trailing slash.
    pub page_base_url: String,
}

/// The outcome of a booking.
#[derive(Debug)]
pub enum BookingResult {
    /// The request is decided.
    Response(Box<HostResponse>),
    /// Another request was sent with this idempotency key.
    KeyReused,
}

/// Largest tolerance of captures: a fifth of the authorized amount.
const MAX_TOLERANCE: u64 = 5;

type LedgerResult = Result<BookingResult, StoreError>;

/// Books an authorization, a debit or a credit with the issuer's decision. If it is approved and the request has a
/// present shopper and a return address, it awaits the shopper's decision on a page of the host; a credit never does.
/// Code 68 is booked as an approval, but the response says that the outcome is unknown.
pub fn book_payment(
    ledger: &LedgerTransaction<'_>,
    call: &CallContext,
    kind: EntryKind,
    request: &AuthorizationRequest,
    decision: &IssuerDecision,
) -> LedgerResult {
    let payment = &request.payment;
    book_once(ledger, call, payment, || {
        let entry = NewEntry {
            avs: decision.avs,
            cvv: decision.cvv,
            account: decision.account.clone(),
            three_ds: request.three_ds.clone(),
            scheme_data: SchemeData {
                descriptor: request.descriptor.clone(),
                merchant: Some(request.merchant.clone()),
                transaction_category: request.transaction_category.clone(),
                standing_instruction: request.standing_instruction.clone(),
            },
            undecided: decision.code == code::TOO_LATE,
            amount: decision.approved_amount.unwrap_or(payment.amount),
            requested: decision.approved_amount.map(|_| payment.amount),
            ..new_entry(call, payment, kind, None, &decision.code)
        };
        // A request with a late response from the issuer is approved. Only an inquiry reveals this.
        let code = if entry.undecided { code::APPROVED.to_owned() } else { entry.code };
        let is_granted = code == code::APPROVED || decision.approved_amount.is_some();
        let needs_page = code == code::APPROVED && kind != EntryKind::Credit && request.shopper_present;
        let page = request.return_url.clone().filter(|_| needs_page);
        let page = page.map(|return_url| HostPage { id: call.page_id.clone(), return_url });
        let (awaits_shopper, approved) = (page.is_some(), is_granted && page.is_none());
        ledger.insert_entry(NewEntry { approved, awaits_shopper, page, code, ..entry })
    })
}

/// Books a capture, an increment or a refund, approved or declined. An approved one adds its amount to the used amount
/// of its original, or to its raised amount. The entry names its original, unless that is unknown or belongs to another
/// merchant.
pub fn book_modification(
    ledger: &LedgerTransaction<'_>,
    call: &CallContext,
    kind: EntryKind,
    request: &ModificationRequest,
) -> LedgerResult {
    let payment = &request.payment;
    book_once(ledger, call, payment, || {
        let original = match LedgerEntry::parse_transaction_id(&request.reference) {
            Some(number) => ledger.load_by_number(number)?,
            None => None,
        };
        let sum = match &original {
            Some(original) => decide_modification(original, kind, request),
            None => Err(code::NOT_FOUND.to_owned()),
        };
        let original = original.filter(|original| original.entry.merchant_id == payment.merchant_id);
        match (&sum, &original) {
            (Ok(raised), Some(original)) if kind == EntryKind::Increment => {
                ledger.set_raised(original.number, *raised)?;
            }
            (Ok(used), Some(original)) => {
                ledger.set_used(original.number, *used)?;
                if kind == EntryKind::Capture && request.last_capture {
                    ledger.set_finished(original.number, true)?;
                }
            }
            _ => {}
        }
        let code = sum.err().unwrap_or_else(|| code::APPROVED.to_owned());
        let descriptor = request.descriptor.clone();
        ledger.insert_entry(NewEntry {
            scheme_data: SchemeData { descriptor, ..SchemeData::default() },
            ..new_entry(call, payment, kind, original.map(|original| original.number), &code)
        })
    })
}

/// Decides a capture or an increment of an authorization, or a refund of a debit, capture or credit. Returns the used
/// amount of the original afterwards, of an increment the raised one.
///
/// # Errors
/// The response code of the decline: 25 for another merchant's original, 12 for an original of the wrong kind, 21 if
/// the original is not approved, is reversed or had its last capture, 13 for an amount of zero, more than the available
/// amount, or another currency; and the issuer's code for an increment.
fn decide_modification(original: &LedgerEntry, kind: EntryKind, request: &ModificationRequest) -> Result<u64, String> {
    let payment = &request.payment;
    use EntryKind::{Authorization, Capture, Credit, Debit, Increment, Refund};
    // Another merchant's transaction is treated as unknown.
    if original.entry.merchant_id != payment.merchant_id {
        return Err(code::NOT_FOUND.to_owned());
    }
    match (kind, original.entry.kind) {
        (Capture | Increment, Authorization) | (Refund, Debit | Capture | Credit) => {}
        _ => return Err(code::INVALID.to_owned()),
    }
    if !original.is_effective() || original.finished {
        return Err(code::NO_ACTION.to_owned());
    }
    let sum = match kind {
        Increment => original.raised.checked_add(payment.amount).filter(|raised| *raised <= MAX_AMOUNT),
        _ => {
            let usable = original.usable_amount();
            let usable = if request.overcapture { usable.saturating_add(usable / MAX_TOLERANCE) } else { usable };
            original.used.checked_add(payment.amount).filter(|used| *used <= usable)
        }
    };
    match sum {
        Some(_) if payment.amount == 0 || payment.currency != original.entry.currency => Err(code::AMOUNT.to_owned()),
        Some(raised) if kind == Increment => match decide_increment(payment.amount) {
            code if code == code::APPROVED => Ok(raised),
            code => Err(code),
        },
        Some(used) => Ok(used),
        None => Err(code::AMOUNT.to_owned()),
    }
}

/// Books a reversal, approved or declined. An approved one marks its original as reversed if that is effective or
/// awaits the shopper, and a reversed capture or refund no longer uses its original's amount. A reversed authorization
/// takes its increments with it, and a reversed increment no longer raises its amount. If the original has not
/// arrived yet, an unseen entry takes its idempotency key.
pub fn book_reversal(ledger: &LedgerTransaction<'_>, call: &CallContext, request: &EarlierRequest) -> LedgerResult {
    let payment = &request.payment;
    book_once(ledger, call, payment, || {
        let Some(original) = ledger.load_by_key(&request.original_key)? else {
            let unseen = NewEntry {
                key: request.original_key.clone(),
                fingerprint: None,
                approved: false,
                reversed: true,
                ..new_entry(call, payment, EntryKind::Unseen, None, code::NO_ACTION)
            };
            let unseen = ledger.insert_entry(unseen)?;
            return ledger.insert_entry(new_entry(
                call,
                payment,
                EntryKind::Reversal,
                Some(unseen.number),
                code::APPROVED,
            ));
        };
        let checked = check_reversal(&original, payment).and(check_increment_is_unused(ledger, &original)?);
        if checked.is_ok() && (original.is_effective() || original.entry.awaits_shopper) {
            ledger.set_reversed(original.number)?;
            restore_amount(ledger, &original)?;
        }
        let code = checked.err().unwrap_or(code::APPROVED);
        ledger.insert_entry(new_entry(call, payment, EntryKind::Reversal, Some(original.number), code))
    })
}

/// Checks a reversal against the request that it names: same merchant, payment, amount and currency, no reversal
/// itself, and no amount of it captured or refunded. A request that was declined or reversed before passes; the caller
/// then changes nothing.
///
/// # Errors
/// The response code of the decline.
fn check_reversal(original: &LedgerEntry, payment: &PaymentData) -> Result<(), &'static str> {
    let entry = &original.entry;
    if (&entry.merchant_id, &entry.payment_id) != (&payment.merchant_id, &payment.payment_id) {
        return Err(code::NOT_FOUND);
    }
    if (entry.requested_amount(), &entry.currency) != (payment.amount, &payment.currency) {
        return Err(code::AMOUNT);
    }
    match entry.kind {
        EntryKind::Reversal => Err(code::INVALID),
        _ if original.used > 0 => Err(code::NO_ACTION),
        _ => Ok(()),
    }
}

/// Checks that no capture uses what an increment has added. Any other entry passes.
fn check_increment_is_unused(
    ledger: &LedgerTransaction<'_>,
    reversed: &LedgerEntry,
) -> Result<Result<(), &'static str>, StoreError> {
    let (EntryKind::Increment, Some(number)) = (reversed.entry.kind, reversed.entry.original) else {
        return Ok(Ok(()));
    };
    let original = ledger.load_by_number(number)?;
    let is_used = |original: &LedgerEntry| {
        original.used > original.usable_amount().saturating_sub(reversed.entry.amount) && reversed.is_effective()
    };
    Ok(if original.as_ref().is_some_and(is_used) { Err(code::NO_ACTION) } else { Ok(()) })
}

/// Subtracts the amount of a reversed capture or refund from the used amount of its original, and that of an increment
/// from its raised amount. Does nothing for any other entry.
fn restore_amount(ledger: &LedgerTransaction<'_>, reversed: &LedgerEntry) -> Result<(), StoreError> {
    let (kind, amount) = (reversed.entry.kind, reversed.entry.amount);
    let Some(original) = reversed.entry.original.map(|number| ledger.load_by_number(number)).transpose()?.flatten()
    else {
        return Ok(());
    };
    match kind {
        EntryKind::Capture | EntryKind::Refund => {
            ledger.set_finished(original.number, false)?;
            ledger.set_used(original.number, original.used.saturating_sub(amount))
        }
        EntryKind::Increment => ledger.set_raised(original.number, original.raised.saturating_sub(amount)),
        _ => Ok(()),
    }
}

/// Books the shopper's decision on a page; without a decision only reads. Returns the entry with its current state, or
/// `None` if there is no such page. An entry that was decided or reversed before stays unchanged.
pub fn book_decision(
    ledger: &LedgerTransaction<'_>,
    page: &str,
    is_paid: Option<bool>,
) -> Result<Option<LedgerEntry>, StoreError> {
    let Some(found) = ledger.load_by_page(page)? else { return Ok(None) };
    match is_paid.filter(|_| found.entry.awaits_shopper) {
        Some(is_paid) => {
            ledger.record_shopper_decision(
                found.number,
                is_paid,
                if is_paid { code::APPROVED } else { code::CANCELLED },
            )?;
            ledger.load_by_number(found.number)
        }
        None => Ok(Some(found)),
    }
}

/// Returns the outcome of the request with `original_key`, with the payment and amount of the ledger. The request is
/// not found if its key is unknown or belongs to another merchant. Writes nothing.
pub fn answer_inquiry(ledger: &LedgerTransaction<'_>, call: &CallContext, request: &EarlierRequest) -> LedgerResult {
    let found = ledger.load_by_key(&request.original_key)?;
    let found = found.filter(|found| found.entry.merchant_id == request.payment.merchant_id);
    let respond = |outcome, code: &str| HostResponse {
        operation: HostOperation::Inquire,
        idempotency_key: call.key.clone(),
        payment: request.payment.clone(),
        outcome,
        response_code: code.to_owned(),
        advice_code: None,
        approved_amount: None,
        avs: None,
        cvv: None,
        connector_tx_id1: None,
        connector_tx_id2: None,
        connector_tx_id3: None,
        redirect_url: None,
    };
    let Some(found) = found else {
        return Ok(BookingResult::Response(Box::new(respond(HostOutcome::NotFound, code::NOT_FOUND))));
    };
    let outcome = match (found.entry.reversed, found.entry.approved) {
        (true, _) => HostOutcome::Reversed,
        (false, true) => HostOutcome::Approved,
        (false, false) if found.entry.awaits_shopper => HostOutcome::Redirect,
        (false, false) => HostOutcome::Declined,
    };
    // Payment and amount are those of the ledger, so that the gateway detects a difference.
    Ok(BookingResult::Response(Box::new(HostResponse {
        payment: PaymentData {
            merchant_id: request.payment.merchant_id.clone(),
            payment_id: found.entry.payment_id.clone(),
            amount: found.entry.requested_amount(),
            currency: found.entry.currency.clone(),
        },
        ..with_ledger_details(respond(outcome, &found.entry.code), &found, &call.page_base_url)
    })))
}

/// Books a request with `book`, unless its idempotency key is known, and builds the response from the entry. A repeated
/// request gets the response of its entry, one that was reversed before it arrived is declined, and another request
/// with a known key gives [`BookingResult::KeyReused`].
fn book_once(
    ledger: &LedgerTransaction<'_>,
    call: &CallContext,
    payment: &PaymentData,
    book: impl FnOnce() -> Result<LedgerEntry, StoreError>,
) -> LedgerResult {
    let entry = match ledger.load_by_key(&call.key)? {
        None => book()?,
        // The request was reversed before it arrived, so it is declined whatever its content.
        Some(unseen) if unseen.entry.kind == EntryKind::Unseen && unseen.entry.merchant_id == payment.merchant_id => {
            unseen
        }
        Some(known) if known.entry.fingerprint == Some(call.fingerprint) => known,
        Some(_) => return Ok(BookingResult::KeyReused),
    };
    let (outcome, code) = match (&entry.entry.undecided, entry.entry.approved) {
        _ if entry.entry.awaits_shopper => (HostOutcome::Redirect, code::APPROVED),
        (true, _) => (HostOutcome::Unknown, code::TOO_LATE),
        (false, true) => (HostOutcome::Approved, entry.entry.code.as_str()),
        (false, false) => (HostOutcome::Declined, entry.entry.code.as_str()),
    };
    let response = HostResponse {
        operation: call.operation,
        idempotency_key: call.key.clone(),
        payment: payment.clone(),
        outcome,
        response_code: code.to_owned(),
        advice_code: None,
        approved_amount: None,
        avs: None,
        cvv: None,
        connector_tx_id1: None,
        connector_tx_id2: None,
        connector_tx_id3: None,
        redirect_url: None,
    };
    Ok(BookingResult::Response(Box::new(with_ledger_details(response, &entry, &call.page_base_url))))
}

/// Adds the acquirer's id of the transaction and the results of the checks; while the entry awaits the shopper, also
/// the address of the page. Only approved authorizations, debits and credits have the issuer's and the scheme's id.
fn with_ledger_details(response: HostResponse, found: &LedgerEntry, page_base_url: &str) -> HostResponse {
    let entry = &found.entry;
    let is_payment = matches!(entry.kind, EntryKind::Authorization | EntryKind::Debit | EntryKind::Credit);
    let approved = entry.approved && is_payment;
    let page = entry.page.as_ref().filter(|_| entry.awaits_shopper);
    HostResponse {
        redirect_url: page.map(|page| format!("{page_base_url}{}", page.id)),
        advice_code: find_advice_code(entry),
        approved_amount: entry.requested.filter(|_| found.is_effective()).map(|_| entry.amount),
        avs: entry.avs,
        cvv: entry.cvv,
        connector_tx_id1: Some(found.transaction_id()),
        connector_tx_id2: approved.then(|| format!("{:06}", found.number % 1_000_000)),
        connector_tx_id3: approved.then(|| format!("3{:014}", found.number)),
        ..response
    }
}

/// Makes the entry of a request with a response code. It is approved if the code is 00, and has no data of the issuer.
fn new_entry(
    call: &CallContext,
    payment: &PaymentData,
    kind: EntryKind,
    original: Option<i64>,
    code: &str,
) -> NewEntry {
    NewEntry {
        key: call.key.clone(),
        fingerprint: Some(call.fingerprint),
        kind,
        merchant_id: payment.merchant_id.clone(),
        payment_id: payment.payment_id.clone(),
        original,
        amount: payment.amount,
        requested: None,
        currency: payment.currency.clone(),
        approved: code == code::APPROVED,
        reversed: false,
        undecided: false,
        code: code.to_owned(),
        avs: None,
        cvv: None,
        account: None,
        three_ds: None,
        scheme_data: SchemeData::default(),
        awaits_shopper: false,
        page: None,
        created: call.now,
    }
}
