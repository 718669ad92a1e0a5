//! The card.

use super::super::Need::{Conditional, Optional, Required};
use super::super::{Group, Need, Parameter};
use super::text;
use crate::format::Format;

const fn row(name: &'static str, need: Need, format: Format, note: &'static str) -> Parameter {
    Parameter::new(Group::Card, name, need, format, note).by_browser()
}

#[rustfmt::skip] // a row reads as a line
pub(super) static ROWS: &[Parameter] = &[
    row("card.holder", Optional, text(3, 128), "The name on the card."),
    row("card.number", Required, Format::CardNumber, "The card number, digits only.").secret().once(),
    row("card.expiryMonth", Required, Format::ExpiryMonth, "The month at the end of which the card expires."),
    row("card.expiryYear", Required, Format::ExpiryYear, "The year in which the card expires."),
    row("card.cvv", Conditional, Format::SecurityCode, "The security code printed on the card. It is never stored.").secret(),
];
