//! The rows of the catalogue, one file a group of the specification.

mod asynchronous;
mod authentication;
mod basic_payment;
mod billing;
mod card;
mod custom;
mod customer;
mod form;
mod registration;
mod standing_instruction;
mod three_d_secure;

use super::Parameter;
use crate::format::{Class, Format};

/// Every row, in the order of the reference page.
pub(super) static ALL: &[&[Parameter]] = &[
    basic_payment::ROWS,
    authentication::ROWS,
    card::ROWS,
    customer::ROWS,
    billing::ROWS,
    registration::ROWS,
    custom::ROWS,
    asynchronous::ROWS,
    three_d_secure::ROWS,
    standing_instruction::ROWS,
    form::ROWS,
];

// Short words for the formats that rows repeat.

const fn text(min: u16, max: u16) -> Format {
    Format::Text { min, max }
}

const fn verbatim(min: u16, max: u16) -> Format {
    Format::Verbatim { min, max }
}

const fn digits(min: u16, max: u16) -> Format {
    Format::Characters { class: Class::Digits, min, max }
}
