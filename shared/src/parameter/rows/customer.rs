//! The shopper, and the data of the shopper's browser.

use super::super::Need::{Conditional, Optional};
use super::super::{Need, Parameter, ParameterGroup};
use super::person::person;
use super::{digits, text, verbatim};
use crate::format::{Class, Format};

/// Creates a row that the browser may set.
const fn new_row(name: &'static str, need: Need, format: Format, note: &'static str) -> Parameter {
    Parameter::new(ParameterGroup::Customer, name, need, format, note).allowed_in_browser()
}

#[rustfmt::skip] // a row reads as a line
pub(super) static ROWS: &[Parameter] = person!(new_row, "customer.", " Required with any other customer parameter.", [
    new_row("customer.browser.deviceId", Optional, text(1, 32), "Id of the device."),
    new_row("customer.browserFingerprint.id", Optional, text(1, 255), "Id of a device fingerprint."),
    new_row("customer.browserFingerprint.value", Optional, text(1, 4096), "The device fingerprint."),
]);
