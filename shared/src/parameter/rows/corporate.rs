//! The company that the shopper buys for.

use super::super::Need::Optional;
use super::super::{Parameter, ParameterGroup};
use super::{digits, text, verbatim};
use crate::format::Format;

/// Creates an optional row.
const fn new_row(name: &'static str, format: Format, note: &'static str) -> Parameter {
    Parameter::new(ParameterGroup::Corporate, name, Optional, format, note)
}

#[rustfmt::skip] // a row reads as a line
pub(super) static ROWS: &[Parameter] = &[
    new_row("corporate.name", text(1, 30), "Name of the company."),
    new_row("corporate.description", text(1, 160), "Line of business of the company."),
    new_row("corporate.street", text(1, 100), "Street."),
    new_row("corporate.address", text(1, 100), "Second line of the address."),
    new_row("corporate.city", text(1, 80), "City."),
    new_row("corporate.state", text(1, 50), "State, province or county."),
    new_row("corporate.postCode", text(1, 16), "Postal code."),
    new_row("corporate.suite", text(1, 30), "Suite in the building."),
    new_row("corporate.postboxNumber", verbatim(1, 15), "Number of the PO box."),
    new_row("corporate.purchase", Format::OneOf(&["Y", "N"]), "Indicates whether the company pays."),
    new_row("corporate.phone", digits(1, 25), "Phone number, digits only.").with_compatible_format(verbatim(1, 25)),
    new_row("corporate.fax", digits(1, 25), "Fax number, digits only.").with_compatible_format(verbatim(1, 25)),
];
