//! The company that somebody buys for.

use super::super::Need::Optional;
use super::super::{Group, Parameter};
use super::{digits, text, verbatim};
use crate::format::Format;

const fn row(name: &'static str, format: Format, note: &'static str) -> Parameter {
    Parameter::new(Group::Corporate, name, Optional, format, note)
}

#[rustfmt::skip] // a row reads as a line
pub(super) static ROWS: &[Parameter] = &[
    row("corporate.name", text(1, 30), "Name of the company."),
    row("corporate.description", text(1, 160), "What the company does."),
    row("corporate.street", text(1, 100), "Street."),
    row("corporate.address", text(1, 100), "Second line of the address."),
    row("corporate.city", text(1, 80), "Town."),
    row("corporate.state", text(1, 50), "State, province or county."),
    row("corporate.postCode", text(1, 16), "Postcode."),
    row("corporate.suite", text(1, 30), "Suite in the building."),
    row("corporate.postboxNumber", verbatim(1, 15), "Number of the post box."),
    row("corporate.purchase", Format::OneOf(&["Y", "N"]), "Whether the company pays."),
    row("corporate.phone", digits(1, 25), "Telephone number, digits only.").compatible(verbatim(1, 25)),
    row("corporate.fax", digits(1, 25), "Fax number, digits only.").compatible(verbatim(1, 25)),
];
