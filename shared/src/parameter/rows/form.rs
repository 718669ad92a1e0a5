//! What the form sends for itself: accepted, and dropped before anything is judged or kept.

use super::super::Need::Optional;
use super::super::{Group, Parameter};
use super::verbatim;

#[rustfmt::skip] // a row reads as a line
pub(super) static ROWS: &[Parameter] = &[
    Parameter::new(Group::Form, "shopOrigin", Optional, verbatim(1, 2048), "Origin of the page that the form is in.")
        .by_browser(),
    Parameter::new(Group::Form, "forceUtf8", Optional, verbatim(1, 64), "Makes old browsers send UTF-8.").by_browser(),
];
