//! The address to which the goods are sent.

use super::super::Need::{Conditional, Optional};
use super::super::{DefaultValue, Need, Parameter, ParameterGroup};
use super::delivery::delivery;
use super::{text, verbatim};
use crate::format::{Class, Format};

/// Creates a row. The browser may set the address, but no amount of money.
const fn new_row(name: &'static str, need: Need, format: Format, note: &'static str) -> Parameter {
    let row = Parameter::new(ParameterGroup::Shipping, name, need, format, note);
    if matches!(format, Format::Amount) { row } else { row.allowed_in_browser() }
}

#[rustfmt::skip] // a row reads as a line
pub(super) static ROWS: &[Parameter] = delivery!(new_row, "shipping.");
