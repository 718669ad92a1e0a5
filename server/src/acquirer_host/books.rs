//! Bookkeeping: decides each request against the ledger, in one transaction.
//!
//! The same request under the same idempotency key is answered alike and booked once. A reversal undoes a request as a whole;
//! one of a request that has not come yet has it declined when it comes.

use super::cards::Judgement;
use super::entry::{EntryKind, LedgerEntry, NewEntry};
use crate::connector::http::wire::{EarlierRequest, HostAnswer, HostOperation, HostOutcome, ModificationRequest};
use crate::store::StoreError;
use crate::store::acquirer_ledger::LedgerTransaction;

/// Response codes of the bookkeeping itself (ISO 8583, field 39).
mod code {
    pub const APPROVED: &str = "00";
    /// Invalid transaction.
    pub const INVALID: &str = "12";
    /// Invalid amount: more than there is, or another than the original's.
    pub const AMOUNT: &str = "13";
    /// No action taken: the original does not allow it any more.
    pub const NO_ACTION: &str = "21";
    /// Unable to locate the original.
    pub const NOT_FOUND: &str = "25";
    /// Response received too late: the host does not know the outcome yet.
    pub const TOO_LATE: &str = "68";
}

/// A request apart from what it is about.
#[derive(Debug, Clone)]
pub struct Call {
    /// The operation.
    pub operation: HostOperation,
    /// Idempotency key.
    pub key: String,
    /// Keyed fingerprint of path and body.
    pub fingerprint: [u8; 32],
    /// Time in milliseconds since 1970.
    pub now: i64,
}

/// The payment that a request is about.
#[derive(Debug, Clone)]
pub struct PaymentData {
    /// `merchantId`.
    pub merchant_id: String,
    /// `paymentId`.
    pub payment_id: String,
    /// Amount in minor units.
    pub amount: u64,
    /// Currency.
    pub currency: String,
}

impl From<&ModificationRequest> for PaymentData {
    fn from(request: &ModificationRequest) -> Self {
        Self {
            merchant_id: request.merchant_id.clone(),
            payment_id: request.payment_id.clone(),
            amount: request.amount,
            currency: request.currency.clone(),
        }
    }
}

impl From<&EarlierRequest> for PaymentData {
    fn from(request: &EarlierRequest) -> Self {
        Self {
            merchant_id: request.merchant_id.clone(),
            payment_id: request.payment_id.clone(),
            amount: request.amount,
            currency: request.currency.clone(),
        }
    }
}

/// The outcome of a booking.
#[derive(Debug)]
pub enum Booking {
    /// It is decided.
    Answer(Box<HostAnswer>),
    /// Another request was sent under this key.
    KeyReused,
}

type Booked = Result<Booking, StoreError>;

/// Books an authorisation, a debit or a credit as it was judged.
pub fn book_payment(
    books: &LedgerTransaction<'_>,
    call: &Call,
    payment: &PaymentData,
    kind: EntryKind,
    judgement: &Judgement,
) -> Booked {
    once(books, call, payment, || {
        let entry = NewEntry {
            avs: judgement.avs,
            cvv: judgement.cvv,
            account: judgement.account.clone(),
            undecided: judgement.code == code::TOO_LATE,
            ..entry(call, payment, kind, None, &judgement.code)
        };
        // What is late at the issuer is approved there, as an inquiry will tell.
        let code = if entry.undecided { code::APPROVED.to_owned() } else { entry.code };
        books.insert(NewEntry { approved: code == code::APPROVED, code, ..entry })
    })
}

/// Books a capture or a refund.
pub fn book_modification(
    books: &LedgerTransaction<'_>,
    call: &Call,
    kind: EntryKind,
    request: &ModificationRequest,
) -> Booked {
    let payment = PaymentData::from(request);
    once(books, call, &payment, || {
        let original = match LedgerEntry::number_of(&request.reference) {
            Some(number) => books.by_number(number)?,
            None => None,
        };
        let decided = match &original {
            Some(original) => modify(original, kind, &payment),
            None => Err(code::NOT_FOUND),
        };
        let original = original.filter(|original| original.entry.merchant_id == payment.merchant_id);
        if let (Ok(used), Some(original)) = (decided, &original) {
            books.set_used(original.number, used)?;
        }
        let code = decided.err().unwrap_or(code::APPROVED);
        books.insert(entry(call, &payment, kind, original.map(|original| original.number), code))
    })
}

/// Decides a capture or a refund. Returns how much of the original is used up afterwards, or a response code.
fn modify(original: &LedgerEntry, kind: EntryKind, payment: &PaymentData) -> Result<u64, &'static str> {
    use EntryKind::{Authorization, Capture, Credit, Debit, Refund};
    // Another merchant's transaction is not told from one that does not exist.
    if original.entry.merchant_id != payment.merchant_id {
        return Err(code::NOT_FOUND);
    }
    match (kind, original.entry.kind) {
        (Capture, Authorization) | (Refund, Debit | Capture | Credit) => {}
        _ => return Err(code::INVALID),
    }
    if !original.is_effective() {
        return Err(code::NO_ACTION);
    }
    let used = original.used.checked_add(payment.amount).filter(|used| *used <= original.entry.amount);
    match used {
        Some(used) if payment.amount > 0 && payment.currency == original.entry.currency => Ok(used),
        _ => Err(code::AMOUNT),
    }
}

/// Books a reversal.
pub fn book_reversal(books: &LedgerTransaction<'_>, call: &Call, request: &EarlierRequest) -> Booked {
    let payment = PaymentData::from(request);
    once(books, call, &payment, || {
        let Some(original) = books.by_key(&request.original_key)? else {
            let unseen = NewEntry {
                key: request.original_key.clone(),
                fingerprint: None,
                approved: false,
                reversed: true,
                ..entry(call, &payment, EntryKind::Unseen, None, code::NO_ACTION)
            };
            let unseen = books.insert(unseen)?;
            return books.insert(entry(call, &payment, EntryKind::Reversal, Some(unseen.number), code::APPROVED));
        };
        let decided = reverse(&original, &payment);
        if decided.is_ok() && original.is_effective() {
            books.set_reversed(original.number)?;
            give_back(books, &original)?;
        }
        let code = decided.err().unwrap_or(code::APPROVED);
        books.insert(entry(call, &payment, EntryKind::Reversal, Some(original.number), code))
    })
}

/// Decides a reversal. One of something that was declined or is reversed already has nothing to do.
fn reverse(original: &LedgerEntry, payment: &PaymentData) -> Result<(), &'static str> {
    let entry = &original.entry;
    if (&entry.merchant_id, &entry.payment_id) != (&payment.merchant_id, &payment.payment_id) {
        return Err(code::NOT_FOUND);
    }
    if (entry.amount, &entry.currency) != (payment.amount, &payment.currency) {
        return Err(code::AMOUNT);
    }
    match entry.kind {
        EntryKind::Reversal => Err(code::INVALID),
        _ if original.used > 0 => Err(code::NO_ACTION),
        _ => Ok(()),
    }
}

/// Gives the amount of a capture or refund back to the entry that it used up.
fn give_back(books: &LedgerTransaction<'_>, entry: &LedgerEntry) -> Result<(), StoreError> {
    let (EntryKind::Capture | EntryKind::Refund, Some(number)) = (entry.entry.kind, entry.entry.original) else {
        return Ok(());
    };
    match books.by_number(number)? {
        Some(original) => books.set_used(number, original.used.saturating_sub(entry.entry.amount)),
        None => Ok(()),
    }
}

/// Tells what became of an earlier request. Writes nothing.
pub fn inquire(books: &LedgerTransaction<'_>, call: &Call, request: &EarlierRequest) -> Booked {
    let found = books.by_key(&request.original_key)?;
    let found = found.filter(|found| found.entry.merchant_id == request.merchant_id);
    let answer = |outcome, code: &str| HostAnswer {
        operation: HostOperation::Inquire,
        idempotency_key: call.key.clone(),
        merchant_id: request.merchant_id.clone(),
        payment_id: request.payment_id.clone(),
        amount: request.amount,
        currency: request.currency.clone(),
        outcome,
        response_code: code.to_owned(),
        avs: None,
        cvv: None,
        connector_tx_id1: None,
        connector_tx_id2: None,
        connector_tx_id3: None,
    };
    let Some(found) = found else {
        return Ok(Booking::Answer(Box::new(answer(HostOutcome::NotFound, code::NOT_FOUND))));
    };
    let outcome = match (found.entry.reversed, found.entry.approved) {
        (true, _) => HostOutcome::Reversed,
        (false, true) => HostOutcome::Approved,
        (false, false) => HostOutcome::Declined,
    };
    // Payment and amount are the ledger's, so that whoever asks about another one notices.
    Ok(Booking::Answer(Box::new(HostAnswer {
        payment_id: found.entry.payment_id.clone(),
        amount: found.entry.amount,
        currency: found.entry.currency.clone(),
        ..with_details(answer(outcome, &found.entry.code), &found)
    })))
}

/// Books a request, unless its key is known already.
fn once(
    books: &LedgerTransaction<'_>,
    call: &Call,
    payment: &PaymentData,
    book: impl FnOnce() -> Result<LedgerEntry, StoreError>,
) -> Booked {
    let entry = match books.by_key(&call.key)? {
        None => book()?,
        // Reversed before it came, whatever it is.
        Some(unseen) if unseen.entry.kind == EntryKind::Unseen => unseen,
        Some(known) if known.entry.fingerprint == Some(call.fingerprint) => known,
        Some(_) => return Ok(Booking::KeyReused),
    };
    let (outcome, code) = match (&entry.entry.undecided, entry.entry.approved) {
        (true, _) => (HostOutcome::Unknown, code::TOO_LATE),
        (false, true) => (HostOutcome::Approved, entry.entry.code.as_str()),
        (false, false) => (HostOutcome::Declined, entry.entry.code.as_str()),
    };
    let answer = HostAnswer {
        operation: call.operation,
        idempotency_key: call.key.clone(),
        merchant_id: payment.merchant_id.clone(),
        payment_id: payment.payment_id.clone(),
        amount: payment.amount,
        currency: payment.currency.clone(),
        outcome,
        response_code: code.to_owned(),
        avs: None,
        cvv: None,
        connector_tx_id1: None,
        connector_tx_id2: None,
        connector_tx_id3: None,
    };
    Ok(Booking::Answer(Box::new(with_details(answer, &entry))))
}

/// Adds the acquirer's ids and the results of the checks.
fn with_details(answer: HostAnswer, found: &LedgerEntry) -> HostAnswer {
    let entry = &found.entry;
    let of_issuer = matches!(entry.kind, EntryKind::Authorization | EntryKind::Debit | EntryKind::Credit);
    let approved = entry.approved && of_issuer;
    HostAnswer {
        avs: entry.avs,
        cvv: entry.cvv,
        connector_tx_id1: Some(found.transaction_id()),
        connector_tx_id2: approved.then(|| format!("{:06}", found.number % 1_000_000)),
        connector_tx_id3: approved.then(|| format!("3{:014}", found.number)),
        ..answer
    }
}

fn entry(call: &Call, payment: &PaymentData, kind: EntryKind, original: Option<i64>, code: &str) -> NewEntry {
    NewEntry {
        key: call.key.clone(),
        fingerprint: Some(call.fingerprint),
        kind,
        merchant_id: payment.merchant_id.clone(),
        payment_id: payment.payment_id.clone(),
        original,
        amount: payment.amount,
        currency: payment.currency.clone(),
        approved: code == code::APPROVED,
        reversed: false,
        undecided: false,
        code: code.to_owned(),
        avs: None,
        cvv: None,
        account: None,
        created: call.now,
    }
}
