//! Where the goods come from, when that is elsewhere than the merchant.

use super::super::Need::{Conditional, Optional};
use super::super::{DefaultValue, Group, Need, Parameter};
use super::delivery::delivery;
use super::{text, verbatim};
use crate::format::{Class, Format};

/// Every field is optional here, whatever it is for the shopper's address.
const fn row(name: &'static str, _: Need, format: Format, note: &'static str) -> Parameter {
    Parameter::new(Group::MerchantShipping, name, Optional, format, note)
}

#[rustfmt::skip] // a row reads as a line
pub(super) static ROWS: &[Parameter] = delivery!(row, "merchant.shipping.");
