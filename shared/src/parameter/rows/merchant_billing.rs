//! Where the merchant bills from, when that is another place.

use super::super::Need::Optional;
use super::super::{Group, Parameter};
use super::{text, verbatim};
use crate::format::Format;

const fn row(name: &'static str, format: Format, note: &'static str) -> Parameter {
    Parameter::new(Group::MerchantBilling, name, Optional, format, note)
}

#[rustfmt::skip] // a row reads as a line
pub(super) static ROWS: &[Parameter] = &[
    row("merchant.billing.street1", text(1, 100), "Street, with house number unless houseNumber1 is sent."),
    row("merchant.billing.street2", text(1, 100),
        "Second line of the street. Together with street1 it may not be digits only."),
    row("merchant.billing.houseNumber1", text(1, 100),
        "House number. With it, street1 is the street's name alone and street2 is ignored."),
    row("merchant.billing.houseNumber2", text(1, 100), "Addition to the house number; needs houseNumber1."),
    row("merchant.billing.city", text(1, 48), "Town."),
    row("merchant.billing.state", text(1, 10), "State, province or county."),
    row("merchant.billing.postcode", text(1, 16), "Postcode."),
    row("merchant.billing.country", Format::Country, "Country."),
    row("merchant.billing.normalized", text(1, 255), "Whether the address was confirmed in its normal form."),
    row("merchant.billing.validationStatus", text(1, 255), "Whether the address was validated."),
    row("merchant.billing.givenName", text(1, 255), "Given name of the person there."),
    row("merchant.billing.surname", text(1, 255), "Family name of the person there."),
    row("merchant.billing.middleName", text(1, 255), "Middle name of the person there."),
    row("merchant.billing.companyName", text(1, 60), "The company at this address."),
    row("merchant.billing.phone", verbatim(1, 25), "Telephone number."),
    row("merchant.billing.workPhone", verbatim(1, 25), "Telephone number at work."),
    row("merchant.billing.mobile", Format::Phone { min: 6, max: 26 }, "Mobile number.").compatible(verbatim(6, 26)),
    row("merchant.billing.email", text(6, 128), "Mail address."),
];
