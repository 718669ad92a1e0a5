//! The address from which goods are sent, if it is not the merchant's.

use super::super::Need::{Conditional, Optional};
use super::super::{DefaultValue, Need, Parameter, ParameterGroup};
use super::delivery::delivery;
use super::{text, verbatim};
use crate::format::{Class, Format};

/// Creates a row. All fields are optional here, even those that are required for the shopper's address.
const fn new_row(name: &'static str, _: Need, format: Format, note: &'static str) -> Parameter {
    Parameter::new(ParameterGroup::MerchantShipping, name, Optional, format, note)
}

#[rustfmt::skip] // a row reads as a line
pub(super) static ROWS: &[Parameter] = delivery!(new_row, "merchant.shipping.");
