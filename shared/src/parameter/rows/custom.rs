//! The sender's own parameters, which the response repeats.

use super::super::Need::Conditional;
use super::super::{Parameter, ParameterGroup};
use crate::format::Format;

#[rustfmt::skip] // a row reads as a line
pub(super) static ROWS: &[Parameter] = &[Parameter::new(
    ParameterGroup::Custom,
    "customParameters[name]",
    Conditional,
    Format::Lines { min: 0, max: 2048 },
    "Your own data. The response repeats it. Names have 3 to 64 letters, digits, dots and underscores. Names \
     that the form sends begin with SHOPPER_.",
)
.allowed_in_browser()];
