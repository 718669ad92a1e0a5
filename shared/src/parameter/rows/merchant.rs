//! The merchant, where the statement shall say something else than usual, or who is behind a payment facilitator.

use super::super::Need::Optional;
use super::super::{Group, Parameter};
use super::{text, verbatim};
use crate::format::{Class, Format};

const fn row(name: &'static str, format: Format, note: &'static str) -> Parameter {
    Parameter::new(Group::Merchant, name, Optional, format, note)
}

const fn characters(class: Class, min: u16, max: u16) -> Format {
    Format::Characters { class, min, max }
}

#[rustfmt::skip] // a row reads as a line
pub(super) static ROWS: &[Parameter] = &[
    row("merchant.name", text(1, 100),
        "Name on the first line of the statement instead of yours, usually the business, an asterisk and the product."),
    row("merchant.city", text(1, 100), "Second line of the statement: town, telephone number, mail or web address."),
    row("merchant.street", text(1, 100), "Street."),
    row("merchant.postcode", characters(Class::Tag, 1, 16), "Postcode: letters, digits and hyphens."),
    row("merchant.state", characters(Class::Alphanumeric, 1, 50), "State: letters and digits."),
    row("merchant.country", Format::CountryAnyCase, "Country, two letters."),
    row("merchant.phone", characters(Class::Dial, 0, 25), "Telephone number: letters, digits, plus, minus and dot.")
        .compatible(verbatim(0, 25)),
    row("merchant.mcc", characters(Class::Alphanumeric, 0, 4), "Merchant category code."),
    row("merchant.submerchantId", verbatim(1, 100), "The merchant behind you, if you are a payment facilitator of a card scheme."),
    row("merchant.data[key]", Format::Lines { min: 0, max: 2048 },
        "Anything else about the merchant that is passed on. Keys have 3 to 64 letters, digits, dots and underscores."),
    row("merchant.websiteId", verbatim(0, 255), "Random id of the session on your site, another for every transaction."),
];
