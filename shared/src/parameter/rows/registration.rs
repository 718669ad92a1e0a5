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
    new_row("createRegistration", Optional, Format::Flag, "Stores the payment data; the response names the registration.")
        .allowed_in_browser(),
    new_row("overrideHolder", Optional, Format::Flag,
        "Lets the holder sent now stand in for an empty holder of the registration, for this payment only."),
    new_row("registrations[n].id", Optional, ID, "A registration that the checkout offers to the shopper.").with_single_value(),
    new_row("registrationsDeletable", Optional, Format::Flag,
        "Lets the shopper delete the registrations that the checkout offers, in the form."),
    new_row("registrationsRequireCvv", Optional, Format::Flag,
        "Indicates whether a stored card needs its security code in this checkout. Our addition, like requireCvv."),
    new_row("registrationsCreatable", Optional, Format::Flag,
        "Says if the shopper may store the account in this checkout, so that createRegistration counts from the form. \
         Without it the entity's setting decides, which is yes (entity set --browser-registrations). Our addition."),
    new_row("registrationId", Conditional, ID, "The registration that the shopper chose among those of the checkout.")
        .allowed_in_browser()
        .with_single_value(),
    new_row("recurring.numberOfInstallments", Optional, super::digits(1, 3), "Number of installments that the shopper chose.")
        .allowed_in_browser(),
];
