//! The first payment of a registration from another system.

use super::super::Need::{Conditional, Optional, Required};
use super::super::{Need, Parameter, ParameterGroup};
use super::verbatim;
use crate::format::Format;

const fn new_row(name: &'static str, need: Need, format: Format, note: &'static str) -> Parameter {
    Parameter::new(ParameterGroup::RecurringMigration, name, need, format, note)
}

#[rustfmt::skip] // a row reads as a line
pub(super) static ROWS: &[Parameter] = &[
    new_row("recurringMigration.paymentType", Required, Format::OneOf(&["DB", "CD", "PA"]), "Type of the first payment."),
    new_row("recurringMigration.amount", Optional, Format::Decimal { whole: 8, min: 2, max: 2 },
        "Amount of the first payment, up to eight digits and optionally two decimals."),
    new_row("recurringMigration.requestTimestamp", Conditional, Format::DateTime { t: true },
        "Time of the first payment's request, in 19 characters."),
    new_row("recurringMigration.connectorTxId1", Conditional, verbatim(1, 128), "First id in the acquirer's response to the first payment."),
    new_row("recurringMigration.connectorTxId2", Conditional, verbatim(1, 128), "Second id in the acquirer's response to the first payment."),
    new_row("recurringMigration.connectorTxId3", Conditional, verbatim(1, 128), "Third id in the acquirer's response to the first payment."),
];
