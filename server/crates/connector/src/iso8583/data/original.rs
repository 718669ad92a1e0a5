//! Original data elements: the name of an earlier request in its reversal.

use super::datum::Datum;
use crate::iso8583::dialect::IsoVersion;
use crate::iso8583::message::Mti;

/// The name of an earlier request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OriginalRequest {
    /// Message type.
    pub message_type: Mti,
    /// Trace number, as the request has it.
    pub trace_number: String,
    /// Time of transmission in 1987, local date and time in later versions, as the request has it.
    pub time: String,
    /// Identifier of the acquirer, without zeros on its left, which may be fillers. Empty if requests have none.
    pub acquirer: String,
}

/// Digits of an identifier of an institution.
const INSTITUTION: usize = 11;

impl OriginalRequest {
    /// Returns the datum of a request whose time its reversal repeats.
    pub(in crate::iso8583) fn time_datum(version: IsoVersion) -> Datum {
        match version {
            IsoVersion::Iso1987 => Datum::Transmitted,
            IsoVersion::Iso1993 | IsoVersion::Iso2003 => Datum::LocalTime,
        }
    }

    /// Returns the digits of trace number and time.
    fn lengths(version: IsoVersion) -> [usize; 2] {
        match version {
            IsoVersion::Iso1987 => [6, 10],
            IsoVersion::Iso1993 => [6, 12],
            IsoVersion::Iso2003 => [12, 14],
        }
    }

    /// Returns the digits in the form of a version: in 1987 with acquirer and forwarder in 11 digits each, in later
    /// versions with the acquirer after its length in two digits.
    pub(in crate::iso8583) fn format(&self, version: IsoVersion) -> String {
        let Self { message_type, trace_number, time, acquirer } = self;
        let [trace_length, time_length] = Self::lengths(version);
        let begin = format!("{message_type}{trace_number:0>trace_length$}{time:0>time_length$}");
        match version {
            IsoVersion::Iso1987 => format!("{begin}{acquirer:0>INSTITUTION$}{:0>INSTITUTION$}", ""),
            IsoVersion::Iso1993 | IsoVersion::Iso2003 => format!("{begin}{:02}{acquirer}", acquirer.len()),
        }
    }

    /// Reads the digits. Returns `None` for another form.
    pub(in crate::iso8583) fn parse(version: IsoVersion, text: &str) -> Option<Self> {
        let [trace_length, time_length] = Self::lengths(version);
        let (message_type, rest) = text.split_at_checked(4)?;
        let (trace_number, rest) = rest.split_at_checked(trace_length)?;
        let (time, rest) = rest.split_at_checked(time_length)?;
        let acquirer = match version {
            IsoVersion::Iso1987 => rest.get(..INSTITUTION)?,
            IsoVersion::Iso1993 | IsoVersion::Iso2003 => {
                let (length, acquirer) = rest.split_at_checked(2)?;
                Some(acquirer).filter(|acquirer| length.parse() == Ok(acquirer.len()))?
            }
        };
        Some(Self {
            message_type: Mti::parse(message_type)?,
            trace_number: trace_number.to_owned(),
            time: time.to_owned(),
            acquirer: acquirer.trim_start_matches('0').to_owned(),
        })
    }
}
