//! The common data of requests: numbers, times, amount and merchant.

use jiff::tz::TimeZone;
use tillgate_shared::money::Amount;

use super::config::Iso8583Config;
use super::numbering::{TraceNumber, derive_reference, derive_time};
use crate::http::request::to_minor_units;
use crate::iso8583::{DataTable, Datum, EncodeError, IsoMessage, IsoRequestKind};

/// The reason why a request cannot be made. Nothing is sent.
#[derive(Debug, thiserror::Error)]
pub(super) enum RequestFault {
    /// The dialect has no such request.
    #[error("the dialect has no request {0:?}")]
    NoRequest(IsoRequestKind),
    /// The amount cannot be expressed.
    #[error("the amount is beyond the range of its field")]
    Amount,
    /// The reference has no time.
    #[error("the reference does not begin with the id of a payment")]
    Reference,
    /// A datum does not fit.
    #[error("{0}")]
    Encode(#[from] EncodeError),
}

/// The data that every request has.
#[derive(Debug, Clone, Copy)]
pub(super) struct CommonData<'a> {
    /// Kind of the request.
    pub(super) kind: IsoRequestKind,
    /// Reference of the request.
    pub(super) reference: &'a str,
    /// Reference of the earliest request of the payment, whose retrieval reference number is used.
    pub(super) first_reference: &'a str,
    /// Trace number.
    pub(super) trace: TraceNumber,
    /// Amount. `None` for a verification.
    pub(super) amount: Option<Amount>,
    /// Currency and amount of the order.
    pub(super) currency: Amount,
    /// The acquirer's id of the merchant.
    pub(super) merchant_id: &'a str,
}

impl Iso8583Config {
    /// Begins a request: constant fields, numbers, times, amount, terminal and merchant.
    pub(super) fn begin_request(&self, common: &CommonData<'_>) -> Result<IsoMessage, RequestFault> {
        let data = self.dialect.data();
        let mut message = self.dialect.begin_request(common.kind).ok_or(RequestFault::NoRequest(common.kind))?;
        let units = common.amount.map_or(Some(0), to_minor_units).ok_or(RequestFault::Amount)?;
        data.set(&mut message, Datum::Amount, &units.to_string())?;
        data.set(&mut message, Datum::Currency, &common.currency.currency().number())?;
        self.set_numbers(&mut message, common.reference, common.trace)?;
        let reference = derive_reference(common.first_reference, data.is_numeric(Datum::Reference));
        for (datum, text) in [
            (Datum::Acquirer, self.acquirer.as_str()),
            (Datum::Terminal, &self.terminal),
            (Datum::MerchantId, common.merchant_id),
            (Datum::Reference, &reference),
        ] {
            data.set(&mut message, datum, text)?;
        }
        Ok(message)
    }

    /// Sets the trace number and the times of a reference.
    pub(super) fn set_numbers(
        &self,
        message: &mut IsoMessage,
        reference: &str,
        trace: TraceNumber,
    ) -> Result<(), RequestFault> {
        let data = self.dialect.data();
        let time = derive_time(reference).ok_or(RequestFault::Reference)?;
        let local = time.to_zoned(self.time_zone.clone()).datetime();
        data.set_time(message, Datum::Transmitted, time.to_zoned(TimeZone::UTC).datetime())?;
        data.set_time(message, Datum::LocalTime, local)?;
        data.set_time(message, Datum::LocalDate, local)?;
        data.set(message, Datum::TraceNumber, &trace.to_digits(reference))?;
        Ok(())
    }
}

/// Sets a text for people, as far as it fits. An empty one is left out.
pub(super) fn set_fitted(
    data: &DataTable,
    message: &mut IsoMessage,
    datum: Datum,
    text: Option<&str>,
) -> Result<(), EncodeError> {
    match text.and_then(|text| data.fit_text(datum, text)) {
        Some(text) => data.set(message, datum, &text),
        None => Ok(()),
    }
}

/// Sets an optional datum that is sent as a whole or not at all.
pub(super) fn set_present(
    data: &DataTable,
    message: &mut IsoMessage,
    datum: Datum,
    text: Option<&str>,
) -> Result<(), EncodeError> {
    match text.filter(|text| !text.is_empty()) {
        Some(text) => data.set(message, datum, text),
        None => Ok(()),
    }
}
