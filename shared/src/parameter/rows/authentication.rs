//! Credentials in the body, as older clients send them instead of the Authorization header.

use super::super::Need::Conditional;
use super::super::{Group, Parameter};
use super::verbatim;
use crate::format::{Class, Format};

const fn row(name: &'static str, format: Format, note: &'static str) -> Parameter {
    Parameter::new(Group::Authentication, name, Conditional, format, note).secret().once()
}

#[rustfmt::skip] // a row reads as a line
pub(super) static ROWS: &[Parameter] = &[
    row("authentication.userId", verbatim(1, 64), "The user, where no Authorization header is sent."),
    row("authentication.password", verbatim(1, 255), "The user's password."),
    row("authentication.entityId", Format::Characters { class: Class::LowerHex, min: 32, max: 32 },
        "The channel, like entityId."),
];
