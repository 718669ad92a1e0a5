//! Credentials in the body, as older clients send them instead of the Authorization header.

use super::super::Need::Conditional;
use super::super::{Parameter, ParameterGroup};
use super::verbatim;
use crate::format::{Class, Format};

/// Creates a row of a credential: secret, conditional, with a single value.
const fn new_row(name: &'static str, format: Format, note: &'static str) -> Parameter {
    Parameter::new(ParameterGroup::Authentication, name, Conditional, format, note).marked_secret().with_single_value()
}

#[rustfmt::skip] // a row reads as a line
pub(super) static ROWS: &[Parameter] = &[
    new_row("authentication.userId", verbatim(1, 64), "User id, for requests without an Authorization header."),
    new_row("authentication.password", verbatim(1, 255), "Password of the user."),
    new_row("authentication.entityId", Format::Characters { class: Class::LowerHex, min: 32, max: 32 },
        "The channel. Same meaning as entityId."),
];
