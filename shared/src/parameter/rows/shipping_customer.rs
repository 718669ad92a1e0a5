//! The one who gets the goods.

use super::super::Need::{Conditional, Optional};
use super::super::{Group, Need, Parameter};
use super::person::person;
use super::{digits, text, verbatim};
use crate::format::{Class, Format};

/// Every field is optional here, whatever it is for the shopper.
const fn row(name: &'static str, _: Need, format: Format, note: &'static str) -> Parameter {
    Parameter::new(Group::ShippingCustomer, name, Optional, format, note).by_browser()
}

#[rustfmt::skip] // a row reads as a line
pub(super) static ROWS: &[Parameter] = person!(row, "shipping.customer.", "", []);
