//! The recipient of the goods.

use super::super::Need::{Conditional, Optional};
use super::super::{Need, Parameter, ParameterGroup};
use super::person::person;
use super::{digits, text, verbatim};
use crate::format::{Class, Format};

/// Creates a row. All fields are optional here, even those that are required for the shopper.
const fn new_row(name: &'static str, _: Need, format: Format, note: &'static str) -> Parameter {
    Parameter::new(ParameterGroup::ShippingCustomer, name, Optional, format, note).allowed_in_browser()
}

#[rustfmt::skip] // a row reads as a line
pub(super) static ROWS: &[Parameter] = person!(new_row, "shipping.customer.", "", []);
