//! The merchant, if the statement should show other data than usual, or the merchant of a payment facilitator.

use super::super::Need::Optional;
use super::super::{Parameter, ParameterGroup};
use super::{text, verbatim};
use crate::format::{Class, Format};

/// Creates an optional row.
const fn new_row(name: &'static str, format: Format, note: &'static str) -> Parameter {
    Parameter::new(ParameterGroup::Merchant, name, Optional, format, note)
}

const fn characters_format(class: Class, min: u16, max: u16) -> Format {
    Format::Characters { class, min, max }
}

#[rustfmt::skip] // a row reads as a line
pub(super) static ROWS: &[Parameter] = &[
    new_row("merchant.name", text(1, 100),
        "Name on the first line of the statement instead of your own. Usually the business, an asterisk and the product."),
    new_row("merchant.city", text(1, 100), "Second line of the statement: city, phone number, email address or website."),
    new_row("merchant.street", text(1, 100), "Street."),
    new_row("merchant.postcode", characters_format(Class::Tag, 1, 16), "Postal code: letters, digits and hyphens."),
    new_row("merchant.state", characters_format(Class::Alphanumeric, 1, 50), "State: letters and digits."),
    new_row("merchant.country", Format::CountryAnyCase, "Country, two letters."),
    new_row("merchant.phone", characters_format(Class::Dial, 0, 25), "Phone number: letters, digits, plus, minus and dot.")
        .with_compatible_format(verbatim(0, 25)),
    new_row("merchant.mcc", characters_format(Class::Alphanumeric, 0, 4), "Merchant category code."),
    new_row("merchant.submerchantId", verbatim(1, 100), "Id of your sub-merchant, if you are a payment facilitator of a card scheme."),
    new_row("merchant.data[key]", Format::Lines { min: 0, max: 2048 },
        "Further data about the merchant that is passed on. Keys have 3 to 64 letters, digits, dots and underscores."),
    new_row("merchant.websiteId", verbatim(0, 255), "Random id of the session on your site, different for every transaction."),
];
