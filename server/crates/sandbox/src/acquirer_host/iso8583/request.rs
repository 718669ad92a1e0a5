//! Reads requests: key, payment, and the booking that they ask for.

use std::borrow::Cow;

use tillgate_connector::http::SharedKey;
use tillgate_connector::http::protocol::{AuthorizationRequest, HostOperation, PaymentData};
use tillgate_connector::http::signature::request_fingerprint;
use tillgate_connector::iso8583::{Datum, Dialect, IsoMessage, IsoRequestKind, OriginalRequest};
use tillgate_shared::money::Currency;
use tillgate_store::acquirer_host::entry::EntryKind;

use super::codes::ProtocolCode;
use super::original::OriginalReference;
use super::payment::build_authorization;
use crate::acquirer_host::request::check_payment;

/// Data that make a request another one if they differ.
const SIGNIFICANT: [Datum; 6] =
    [Datum::Pan, Datum::Expiry, Datum::Amount, Datum::Currency, Datum::Reference, Datum::Original];

/// A request to book.
#[derive(Clone)]
pub(super) struct HostCall {
    /// The operation, which the ledger's bookkeeping knows.
    pub(super) operation: HostOperation,
    /// Idempotency key at the ledger.
    pub(super) key: String,
    /// Keyed fingerprint. A repeat has the same one.
    pub(super) fingerprint: [u8; 32],
    /// Merchant, reference, amount and currency.
    pub(super) payment: PaymentData,
    /// The booking.
    pub(super) booking: IsoBooking,
}

/// The booking that a request asks for.
#[derive(Clone)]
pub(super) enum IsoBooking {
    /// An authorization, a debit or a credit.
    Payment(EntryKind, Box<AuthorizationRequest>),
    /// A capture or a refund.
    Modification(EntryKind, OriginalReference),
    /// A reversal of the request with this idempotency key.
    Reversal(String),
}

/// Reads a request of a kind that is booked.
///
/// # Errors
/// The code of the response, if a datum is missing or has another form, or a reversal names a reversal.
pub(super) fn read_call(
    dialect: &Dialect,
    shared_key: &SharedKey,
    kind: IsoRequestKind,
    operation: HostOperation,
    message: &IsoMessage,
) -> Result<HostCall, ProtocolCode> {
    let read = |datum| dialect.data().get(message, datum).ok_or(ProtocolCode::FormatError);
    let currency = Currency::parse_number(&read(Datum::Currency)?).ok_or(ProtocolCode::FormatError)?;
    let payment = PaymentData {
        merchant_id: read(Datum::MerchantId)?.into_owned(),
        payment_id: read(Datum::Reference)?.into_owned(),
        amount: dialect.data().get_number(message, Datum::Amount).ok_or(ProtocolCode::FormatError)?,
        currency: currency.code().to_owned(),
    };
    check_payment(&payment).map_err(|_| ProtocolCode::FormatError)?;
    let itself = dialect.data().describe_original(message).ok_or(ProtocolCode::FormatError)?;
    let terminal = read(Datum::Terminal)?;
    let key = make_key(&itself, &terminal, &payment.merchant_id);
    let original = match operation {
        // A payment has no original. Some clients fill the field with zeros.
        HostOperation::Authorize | HostOperation::Credit => None,
        _ => read_original(dialect, message, &itself)?,
    };
    let original_key = original.as_ref().map(|original| make_key(original, &terminal, &payment.merchant_id));
    let code = dialect.data().get(message, Datum::AuthorizationCode).map(Cow::into_owned);
    let reference = OriginalReference { key: original_key.clone(), authorization_code: code };
    let pay = |kind, captures| {
        let request = build_authorization(dialect.data(), message, payment.clone(), captures);
        Ok(IsoBooking::Payment(kind, Box::new(request.ok_or(ProtocolCode::FormatError)?)))
    };
    let booking = match kind {
        IsoRequestKind::Authorize | IsoRequestKind::Verify => pay(EntryKind::Authorization, false)?,
        IsoRequestKind::Debit => pay(EntryKind::Debit, true)?,
        IsoRequestKind::Credit => pay(EntryKind::Credit, false)?,
        IsoRequestKind::Capture => IsoBooking::Modification(EntryKind::Capture, reference),
        IsoRequestKind::Increment => IsoBooking::Modification(EntryKind::Increment, reference),
        IsoRequestKind::Refund => IsoBooking::Modification(EntryKind::Refund, reference),
        IsoRequestKind::Reverse | IsoRequestKind::ReverseRepeat => {
            // The class of a reversal is 4. An unseen reversal would otherwise be blocked when it arrives.
            if original.as_ref().is_some_and(|original| original.message_type.to_string().get(1..2) == Some("4")) {
                return Err(ProtocolCode::InvalidTransaction);
            }
            IsoBooking::Reversal(original_key.ok_or(ProtocolCode::FormatError)?)
        }
        IsoRequestKind::SignOn | IsoRequestKind::SignOff | IsoRequestKind::Echo => {
            return Err(ProtocolCode::InvalidTransaction);
        }
    };
    let fingerprint = fingerprint_call(dialect, shared_key, kind, message);
    Ok(HostCall { operation, key, fingerprint, payment, booking })
}

/// Reads the original data elements. Returns `None` if the message lacks them.
///
/// # Errors
/// They have another form, or name another acquirer than the message.
fn read_original(
    dialect: &Dialect,
    message: &IsoMessage,
    itself: &OriginalRequest,
) -> Result<Option<OriginalRequest>, ProtocolCode> {
    if dialect.data().get(message, Datum::Original).is_none() {
        return Ok(None);
    }
    let original = dialect.data().get_original(message).ok_or(ProtocolCode::FormatError)?;
    let [own, other] = [&itself.acquirer, &original.acquirer].map(|acquirer| acquirer.trim_start_matches('0'));
    // A message without an acquirer names none in its original data elements either.
    if own == other { Ok(Some(original)) } else { Err(ProtocolCode::FormatError) }
}

/// Makes the idempotency key of a request at the ledger: message type without the repeat digit, trace number, time,
/// terminal and merchant.
fn make_key(request: &OriginalRequest, terminal: &str, merchant: &str) -> String {
    let message_type = request.message_type.without_repetition();
    // Original data elements have zeros on the left of shorter values.
    let [trace_number, time] = [&request.trace_number, &request.time].map(|digits| digits.trim_start_matches('0'));
    // The length keeps terminal and merchant apart, both may contain any character. The slashes keep the key apart from
    // the idempotency keys of HTTP requests.
    format!("{message_type}/{trace_number}/{time}/{}/{terminal}/{merchant}", terminal.len())
}

/// Returns the trace number in an idempotency key, without zeros on its left. `None` for the key of another protocol.
pub(in crate::acquirer_host) fn trace_number_of_key(key: &str) -> Option<&str> {
    // The idempotency keys of HTTP have no slashes.
    let (_, rest) = key.split_once('/')?;
    rest.split_once('/').map(|(trace, _)| trace)
}

/// Returns the fingerprint of a request's meaning. Only its own repeat has the same key and fingerprint.
fn fingerprint_call(dialect: &Dialect, key: &SharedKey, kind: IsoRequestKind, message: &IsoMessage) -> [u8; 32] {
    // A repeat may have other times and texts. The message type is a part of the key, without its repeat digit.
    let kind = if kind == IsoRequestKind::ReverseRepeat { IsoRequestKind::Reverse } else { kind };
    let covered = SIGNIFICANT.iter().filter_map(|datum| Some((datum, dialect.data().get(message, *datum)?)));
    let covered: String = covered.map(|(datum, text)| format!("{datum:?}={text}\n")).collect();
    request_fingerprint(key, &format!("iso8583 {} {kind:?}", dialect.name()), covered.as_bytes())
}
