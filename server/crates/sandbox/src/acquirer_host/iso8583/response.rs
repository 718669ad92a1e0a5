//! Builds responses.

use std::borrow::Cow;

use tillgate_connector::iso8583::{Datum, Dialect, EncodeError, IsoMessage, IsoRequestKind};
use tillgate_store::acquirer_host::entry::{EntryKind, LedgerEntry};

use super::codes::{ProtocolCode, payment_code, reversal_code};
use super::original::make_authorization_code;
use crate::acquirer_host::issuer::find_advice_code;

/// Data that a response repeats from its request. No data of the card are among them.
const REPEATED: [Datum; 10] = [
    Datum::Amount,
    Datum::Currency,
    Datum::Transmitted,
    Datum::TraceNumber,
    Datum::LocalTime,
    Datum::LocalDate,
    Datum::Acquirer,
    Datum::Reference,
    Datum::Terminal,
    Datum::MerchantId,
];
/// Response code in the ledger of a request whose response is late: the outcome is unknown to the client.
const TOO_LATE: &str = "68";

/// Builds a response with a code of the protocol.
///
/// # Errors
/// A repeated datum does not fit.
pub(super) fn build_protocol_response(
    dialect: &Dialect,
    kind: Option<IsoRequestKind>,
    request: &IsoMessage,
    code: ProtocolCode,
) -> Result<IsoMessage, EncodeError> {
    let response = repeat_request(dialect, kind, request)?;
    Ok(response.with_text(dialect.response_field(), code.response_code(dialect.version())))
}

/// Builds the response of a booked request from its entry.
///
/// # Errors
/// A datum does not fit.
pub(super) fn build_booked_response(
    dialect: &Dialect,
    kind: IsoRequestKind,
    request: &IsoMessage,
    entry: &LedgerEntry,
) -> Result<IsoMessage, EncodeError> {
    let data = dialect.data();
    let mut response = repeat_request(dialect, Some(kind), request)?;
    let is_approved = entry.entry.approved && !entry.entry.undecided;
    let code = if entry.entry.undecided { TOO_LATE } else { &entry.entry.code };
    let code = match kind {
        IsoRequestKind::Reverse | IsoRequestKind::ReverseRepeat => reversal_code(dialect.version(), code, is_approved),
        _ => payment_code(dialect.version(), code),
    };
    response = response.with_text(dialect.response_field(), code);
    if is_approved && entry.entry.requested.is_some() {
        data.set(&mut response, Datum::Amount, &entry.entry.amount.to_string())?;
    }
    if is_approved {
        let is_payment = matches!(entry.entry.kind, EntryKind::Authorization | EntryKind::Debit | EntryKind::Credit);
        let named = data.get(request, Datum::AuthorizationCode).filter(|_| !is_payment).map(Cow::into_owned);
        // A reversal is no approval of the issuer, so it has no code of its own.
        let own = (entry.entry.kind != EntryKind::Reversal).then(|| make_authorization_code(entry.number));
        if let Some(code) = named.or(own) {
            data.set(&mut response, Datum::AuthorizationCode, &code)?;
        }
        if is_payment {
            data.set(&mut response, Datum::SchemeTransactionId, &format!("3{:014}", entry.number))?;
        }
    }
    for (datum, letter) in [(Datum::AvsResult, entry.entry.avs), (Datum::CvvResult, entry.entry.cvv)] {
        if let Some(letter) = letter {
            data.set(&mut response, datum, letter.encode_utf8(&mut [0; 4]))?;
        }
    }
    if let Some(advice) = find_advice_code(&entry.entry) {
        data.set(&mut response, Datum::AdviceCode, &advice)?;
    }
    Ok(response)
}

/// Makes the response without its code: with the fields of the correlation, the constant fields of the request, and the
/// data that responses repeat.
fn repeat_request(
    dialect: &Dialect,
    kind: Option<IsoRequestKind>,
    request: &IsoMessage,
) -> Result<IsoMessage, EncodeError> {
    // The caller answers requests only, which have a response type.
    let mut response = IsoMessage::new(request.mti().response().unwrap_or(request.mti()));
    let constant = kind.and_then(|kind| dialect.request(kind)).into_iter().flat_map(|request| request.fields.keys());
    for number in dialect.correlation_fields().iter().chain(constant) {
        if let Some(text) = request.text(*number) {
            response = response.with_text(*number, text);
        }
    }
    for datum in REPEATED {
        if let Some(text) = dialect.data().get(request, datum) {
            dialect.data().set(&mut response, datum, &text)?;
        }
    }
    Ok(response)
}
