//! Addresses for the shopper's return and for notifications.

use super::super::Need::{Conditional, Optional};
use super::super::{Parameter, ParameterGroup};
use crate::format::Format;

#[rustfmt::skip] // a row reads as a line
pub(super) static ROWS: &[Parameter] = &[
    Parameter::new(ParameterGroup::Asynchronous, "shopperResultUrl", Conditional, Format::ReturnUrl,
        "Your page or app that the shopper comes back to; it gets id and resourcePath."),
    Parameter::new(ParameterGroup::Asynchronous, "notificationUrl", Optional, Format::Url,
        "Your address that is told when an asynchronous payment is decided."),
];
