//! The days that a report covers, and the reason of a chargeback.

use super::super::Need::{Optional, Required};
use super::super::{Group, Parameter};
use crate::format::Format;

#[rustfmt::skip] // a row reads as a line
pub(super) static ROWS: &[Parameter] = &[
    Parameter::new(Group::Reporting, "date.from", Required, Format::Date, "First day of the report.").compatible(Format::DateOrTime),
    Parameter::new(Group::Reporting, "date.to", Required, Format::Date, "Last day of the report.").compatible(Format::DateOrTime),
];

#[rustfmt::skip] // a row reads as a line
pub(super) static CHARGEBACK: &[Parameter] = &[
    Parameter::new(Group::Chargeback, "chargebackResultCode", Optional, Format::Chargeback,
        "The acquirer's reason for a chargeback, 000.100.2 and two digits."),
];
