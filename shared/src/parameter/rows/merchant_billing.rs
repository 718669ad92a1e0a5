//! The merchant's billing address, if it differs.

use super::super::Need::Optional;
use super::super::{Parameter, ParameterGroup};
use super::{text, verbatim};
use crate::format::Format;

/// Creates an optional row.
const fn new_row(name: &'static str, format: Format, note: &'static str) -> Parameter {
    Parameter::new(ParameterGroup::MerchantBilling, name, Optional, format, note)
}

#[rustfmt::skip] // a row reads as a line
pub(super) static ROWS: &[Parameter] = &[
    new_row("merchant.billing.street1", text(1, 100), "Street, with house number unless houseNumber1 is sent."),
    new_row("merchant.billing.street2", text(1, 100),
        "Second line of the street. street1 and street2 together must not consist of digits only."),
    new_row("merchant.billing.houseNumber1", text(1, 100),
        "House number. With it, street1 is the street's name alone and street2 is ignored."),
    new_row("merchant.billing.houseNumber2", text(1, 100), "Addition to the house number. Requires houseNumber1."),
    new_row("merchant.billing.city", text(1, 48), "City."),
    new_row("merchant.billing.state", text(1, 10), "State, province or county."),
    new_row("merchant.billing.postcode", text(1, 16), "Postal code."),
    new_row("merchant.billing.country", Format::Country, "Country."),
    new_row("merchant.billing.normalized", text(1, 255), "Indicates whether the normalized address was confirmed."),
    new_row("merchant.billing.validationStatus", text(1, 255), "Result of the address validation."),
    new_row("merchant.billing.givenName", text(1, 255), "Given name of the person at this address."),
    new_row("merchant.billing.surname", text(1, 255), "Family name of the person at this address."),
    new_row("merchant.billing.middleName", text(1, 255), "Middle name of the person at this address."),
    new_row("merchant.billing.companyName", text(1, 60), "The company at this address."),
    new_row("merchant.billing.phone", verbatim(1, 25), "Phone number."),
    new_row("merchant.billing.workPhone", verbatim(1, 25), "Work phone number."),
    new_row("merchant.billing.mobile", Format::Phone { min: 6, max: 26 }, "Mobile phone number.").with_compatible_format(verbatim(6, 26)),
    new_row("merchant.billing.email", text(6, 128), "Email address."),
];
