//! The days of a report, and the reason of a chargeback.

use super::super::Need::{Optional, Required};
use super::super::{Parameter, ParameterGroup};
use crate::format::Format;

#[rustfmt::skip] // a row reads as a line
pub(super) static ROWS: &[Parameter] = &[
    Parameter::new(ParameterGroup::Reporting, "date.from", Required, Format::Date, "First day of the report.").with_compatible_format(Format::DateOrTime),
    Parameter::new(ParameterGroup::Reporting, "date.to", Required, Format::Date, "Last day of the report.").with_compatible_format(Format::DateOrTime),
];

#[rustfmt::skip] // a row reads as a line
pub(super) static CHARGEBACK: &[Parameter] = &[
    Parameter::new(ParameterGroup::Chargeback, "chargebackResultCode", Optional, Format::Chargeback,
        "The acquirer's reason for a chargeback, 000.100.2 and two digits."),
];
