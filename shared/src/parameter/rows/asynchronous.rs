//! Where the shopper is sent to, and where news is sent to.

use super::super::Need::{Conditional, Optional};
use super::super::{Group, Parameter};
use crate::format::Format;

#[rustfmt::skip] // a row reads as a line
pub(super) static ROWS: &[Parameter] = &[
    Parameter::new(Group::Asynchronous, "shopperResultUrl", Conditional, Format::Url,
        "Your page that the shopper comes back to; it gets id and resourcePath."),
    Parameter::new(Group::Asynchronous, "notificationUrl", Optional, Format::Url,
        "Your address that is told when an asynchronous payment is decided."),
];
