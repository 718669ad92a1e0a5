//! Addresses for the shopper's return and for notifications.

use super::super::Need::{Conditional, Optional};
use super::super::{Parameter, ParameterGroup};
use crate::format::Format;

#[rustfmt::skip] // a row reads as a line
pub(super) static ROWS: &[Parameter] = &[
    Parameter::new(ParameterGroup::Asynchronous, "shopperResultUrl", Conditional, Format::ReturnUrl,
        "Address of your page or app to which the shopper returns. The parameters id and resourcePath are added to it."),
    Parameter::new(ParameterGroup::Asynchronous, "notificationUrl", Optional, Format::Url,
        "Address on your server that the gateway notifies when an asynchronous payment has its final result."),
];
