//! Fields that the form sends for itself. They are accepted, and dropped before checks and storage.

use super::super::Need::Optional;
use super::super::{Parameter, ParameterGroup};
use super::verbatim;

#[rustfmt::skip] // a row reads as a line
pub(super) static ROWS: &[Parameter] = &[
    Parameter::new(ParameterGroup::Form, "shopOrigin", Optional, verbatim(1, 2048), "Origin of the page that the form is in.")
        .allowed_in_browser(),
    Parameter::new(ParameterGroup::Form, "forceUtf8", Optional, verbatim(1, 64), "Forces old browsers to send UTF-8.").allowed_in_browser(),
];
