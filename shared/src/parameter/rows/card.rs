//! The card.

use super::super::Need::{Conditional, Optional, Required};
use super::super::{Need, Parameter, ParameterGroup};
use super::text;
use crate::format::Format;

/// Creates a row that the browser may set.
const fn new_row(name: &'static str, need: Need, format: Format, note: &'static str) -> Parameter {
    Parameter::new(ParameterGroup::Card, name, need, format, note).allowed_in_browser()
}

#[rustfmt::skip] // a row reads as a line
pub(super) static ROWS: &[Parameter] = &[
    new_row("card.holder", Optional, text(3, 128), "Cardholder's name, as on the card."),
    new_row("card.number", Required, Format::CardNumber, "The card number, digits only.").marked_secret().with_single_value(),
    new_row("card.expiryMonth", Required, Format::ExpiryMonth, "Month of expiry. The card is valid until the end of this month."),
    new_row("card.expiryYear", Required, Format::ExpiryYear, "Year of expiry."),
    new_row("card.cvv", Conditional, Format::SecurityCode, "The security code printed on the card. It is never stored.").marked_secret(),
];
