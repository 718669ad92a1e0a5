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
    "Anything of your own; the response repeats it. Names have 3 to 64 letters, digits, dots and underscores; those \
     that come from the form begin with SHOPPER_.",
)
.allowed_in_browser()];
