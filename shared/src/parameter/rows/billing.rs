//! The shopper's billing address.

use super::super::Need::{Conditional, Optional};
use super::super::{Need, Parameter, ParameterGroup};
use super::text;
use crate::format::Format;

/// Creates a row that the browser may set.
const fn new_row(name: &'static str, need: Need, format: Format, note: &'static str) -> Parameter {
    Parameter::new(ParameterGroup::Billing, name, need, format, note).allowed_in_browser()
}

#[rustfmt::skip] // a row reads as a line
pub(super) static ROWS: &[Parameter] = &[
    new_row("billing.street1", Conditional, text(1, 100),
        "Street, with house number unless houseNumber1 is sent. Needed for 3-D Secure version 2."),
    new_row("billing.street2", Conditional, text(1, 100),
        "Second line of the street. street1 and street2 together must not consist of digits only."),
    new_row("billing.houseNumber1", Optional, text(1, 100),
        "House number. With it, street1 is the street's name alone and street2 is ignored."),
    new_row("billing.houseNumber2", Optional, text(1, 100), "Addition to the house number. Requires houseNumber1."),
    new_row("billing.city", Conditional, text(1, 48), "City. Needed for 3-D Secure version 2."),
    new_row("billing.state", Conditional, text(1, 10), "State, province or county."),
    new_row("billing.postcode", Conditional, text(1, 16), "Postal code. Needed for 3-D Secure version 2."),
    new_row("billing.country", Conditional, Format::Country, "Country. Needed for 3-D Secure version 2."),
    new_row("billing.normalized", Optional, text(1, 255), "Indicates whether the shopper confirmed the normalized address."),
    new_row("billing.validationStatus", Optional, text(1, 255), "Result of the address validation."),
];
