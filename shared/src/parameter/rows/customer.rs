//! The shopper, and what the shopper's browser says about itself.

use super::super::Need::{Conditional, Optional};
use super::super::{Group, Need, Parameter};
use super::person::person;
use super::{digits, text, verbatim};
use crate::format::{Class, Format};

const fn row(name: &'static str, need: Need, format: Format, note: &'static str) -> Parameter {
    Parameter::new(Group::Customer, name, need, format, note).by_browser()
}

#[rustfmt::skip] // a row reads as a line
pub(super) static ROWS: &[Parameter] = person!(row, "customer.", " Required with any other customer parameter.", [
    row("customer.browser.deviceId", Optional, text(1, 32), "Id of the device."),
    row("customer.browserFingerprint.id", Optional, text(1, 255), "Id of a device fingerprint."),
    row("customer.browserFingerprint.value", Optional, text(1, 4096), "The device fingerprint."),
]);
