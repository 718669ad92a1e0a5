//! Where the goods go.

use super::super::Need::{Conditional, Optional};
use super::super::{DefaultValue, Group, Need, Parameter};
use super::delivery::delivery;
use super::{text, verbatim};
use crate::format::{Class, Format};

/// Where the goods go is the shopper's to say, what it costs is not.
const fn row(name: &'static str, need: Need, format: Format, note: &'static str) -> Parameter {
    let row = Parameter::new(Group::Shipping, name, need, format, note);
    if matches!(format, Format::Money) { row } else { row.by_browser() }
}

#[rustfmt::skip] // a row reads as a line
pub(super) static ROWS: &[Parameter] = delivery!(row, "shipping.");
