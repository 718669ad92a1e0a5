//! Storing payment data, and using stored data.

use super::super::Need::{Conditional, Optional};
use super::super::{Need, Parameter, ParameterGroup};
use crate::format::{Class, Format};

const ID: Format = Format::Characters { class: Class::Tag, min: 32, max: 36 };

const fn new_row(name: &'static str, need: Need, format: Format, note: &'static str) -> Parameter {
    Parameter::new(ParameterGroup::Registration, name, need, format, note)
}

#[rustfmt::skip] // a row reads as a line
pub(super) static ROWS: &[Parameter] = &[
    new_row("createRegistration", Optional, Format::Flag, "Stores the payment data. The response contains the id of the registration.")
        .allowed_in_browser(),
    new_row("overrideHolder", Optional, Format::Flag,
        "Uses the holder in the request if the registration has none, for this payment only."),
    new_row("registrations[n].id", Optional, ID, "A registration that the checkout offers to the shopper.").with_single_value(),
    new_row("registrationsDeletable", Optional, Format::Flag,
        "Allows the shopper to delete, in the form, the registrations that the checkout offers."),
    new_row("registrationsRequireCvv", Optional, Format::Flag,
        "Indicates whether a stored card needs its security code in this checkout. Extension of the specification, like requireCvv."),
    new_row("registrationsCreatable", Optional, Format::Flag,
        "Indicates whether the shopper may store the account in this checkout, by createRegistration from the form. \
         If it is not sent, the entity's setting applies (entity set --browser-registrations), which allows it unless changed. Extension of the specification."),
    new_row("registrationId", Conditional, ID, "Registration that the shopper selected from the registrations of the checkout.")
        .allowed_in_browser()
        .with_single_value(),
    new_row("recurring.numberOfInstallments", Optional, super::digits(1, 3), "Number of installments that the shopper chose.")
        .allowed_in_browser(),
];
