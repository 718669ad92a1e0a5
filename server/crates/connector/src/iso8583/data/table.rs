//! The table `data` of a dialect.

use std::borrow::Cow;
use std::collections::BTreeMap;

use jiff::civil::DateTime;

use super::datum::Datum;
use super::original::OriginalRequest;
use super::place::DatumPlace;
use crate::iso8583::dialect::IsoVersion;
use crate::iso8583::error::EncodeError;
use crate::iso8583::layout::IsoKind;
use crate::iso8583::message::IsoMessage;

/// The places of data in a dialect's messages. A datum without a place is neither written nor read.
#[derive(Debug, Clone)]
pub struct DataTable {
    version: IsoVersion,
    places: BTreeMap<Datum, DatumPlace>,
}

impl DataTable {
    /// Makes the table of these places.
    pub(in crate::iso8583) fn new(version: IsoVersion, places: BTreeMap<Datum, DatumPlace>) -> Self {
        Self { version, places }
    }

    /// Returns true if the dialect has no table `data`, and its messages no payments.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Returns true if a datum has a place.
    pub fn has_place(&self, datum: Datum) -> bool {
        self.places.contains_key(&datum)
    }

    /// Returns the number of the field in which a datum stands. `None` without a place.
    pub fn field_of(&self, datum: Datum) -> Option<u8> {
        self.places.get(&datum).map(DatumPlace::number)
    }

    /// Returns the place of a datum as in a description: `4`, or `48.92` for a part. `None` without a place.
    pub fn label_of(&self, datum: Datum) -> Option<String> {
        self.places.get(&datum).map(DatumPlace::short_label)
    }

    /// Returns the maximum number of digits, characters or bytes of a datum. `None` without a place.
    pub fn max_length(&self, datum: Datum) -> Option<usize> {
        self.places.get(&datum).map(DatumPlace::max_length)
    }

    /// Returns true if a datum consists of digits only.
    pub fn is_numeric(&self, datum: Datum) -> bool {
        self.places.get(&datum).is_some_and(|place| place.layout().kind() == IsoKind::N)
    }

    /// Writes a datum. Numbers get zeros on their left in fixed fields of digits. Does nothing without a place.
    ///
    /// # Errors
    /// The text does not fit; the error names key and field. The message is unchanged.
    pub fn set(&self, message: &mut IsoMessage, datum: Datum, text: &str) -> Result<(), EncodeError> {
        self.places.get(&datum).map_or(Ok(()), |place| place.write(message, datum, text))
    }

    /// Reads a datum. Returns `None` without a place, and if the message lacks the datum.
    pub fn get<'a>(&self, message: &'a IsoMessage, datum: Datum) -> Option<Cow<'a, str>> {
        self.places.get(&datum)?.read(message)
    }

    /// Reads a datum of digits as a number. Returns `None` for anything else.
    pub fn get_number(&self, message: &IsoMessage, datum: Datum) -> Option<u64> {
        self.get(message, datum)?.parse().ok()
    }

    /// Returns a text for people in the form of a datum's place: without the characters that it cannot have, and cut
    /// to its length. Returns `None` without a place, and if nothing is left.
    pub fn fit_text(&self, datum: Datum, text: &str) -> Option<String> {
        Some(self.places.get(&datum)?.fit_text(text.trim())).filter(|text| !text.is_empty())
    }

    /// Writes a time in as many digits as its place has. Does nothing without a place.
    ///
    /// # Errors
    /// The datum is no time. The error names key and field.
    pub fn set_time(&self, message: &mut IsoMessage, datum: Datum, time: DateTime) -> Result<(), EncodeError> {
        self.format_time(datum, time).map_or(Ok(()), |text| self.set(message, datum, &text))
    }

    /// Returns the digits of a time in the form of a datum's place. `None` without a place, and if the datum is no
    /// time.
    pub fn format_time(&self, datum: Datum, time: DateTime) -> Option<String> {
        let form = match (datum, self.places.get(&datum)?.max_length()) {
            (Datum::Transmitted, 10) => "%m%d%H%M%S",
            (Datum::LocalTime, 6) => "%H%M%S",
            (Datum::LocalTime, 12) => "%y%m%d%H%M%S",
            (Datum::Transmitted | Datum::LocalTime, 14) => "%Y%m%d%H%M%S",
            (Datum::LocalDate, 4) => "%m%d",
            (Datum::LocalDate, 6) => "%y%m%d",
            (Datum::LocalDate, 8) => "%Y%m%d",
            _ => return None,
        };
        Some(time.strftime(form).to_string())
    }

    /// Makes the original data elements that name an earlier request. Returns `None` if the request lacks trace number
    /// or time.
    pub fn describe_original(&self, request: &IsoMessage) -> Option<OriginalRequest> {
        let time = OriginalRequest::time_datum(self.version);
        Some(OriginalRequest {
            message_type: request.mti(),
            trace_number: self.get(request, Datum::TraceNumber)?.into_owned(),
            time: self.get(request, time)?.into_owned(),
            acquirer: self.get(request, Datum::Acquirer).unwrap_or_default().trim_start_matches('0').to_owned(),
        })
    }

    /// Writes the original data elements of a reversal.
    ///
    /// # Errors
    /// They do not fit. The error names key and field.
    pub fn set_original(&self, message: &mut IsoMessage, original: &OriginalRequest) -> Result<(), EncodeError> {
        self.set(message, Datum::Original, &original.format(self.version))
    }

    /// Reads the original data elements of a reversal. Returns `None` if the message lacks them, or they have another
    /// form.
    pub fn get_original(&self, message: &IsoMessage) -> Option<OriginalRequest> {
        OriginalRequest::parse(self.version, &self.get(message, Datum::Original)?)
    }
}
