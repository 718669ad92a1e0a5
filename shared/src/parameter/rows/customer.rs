//! The shopper, and what the shopper's browser says about itself.

use super::super::Need::{Conditional, Optional};
use super::super::{Group, Need, Parameter};
use super::{digits, text, verbatim};
use crate::format::{Class, Format};

const fn row(name: &'static str, need: Need, format: Format, note: &'static str) -> Parameter {
    Parameter::new(Group::Customer, name, need, format, note).by_browser()
}

#[rustfmt::skip] // a row reads as a line
pub(super) static ROWS: &[Parameter] = &[
    row("customer.merchantCustomerId", Optional, verbatim(1, 255), "Your own number of the customer."),
    row("customer.givenName", Conditional, Format::Cut { max: 48 },
        "Given name. Required with any other customer parameter; cut after 48 characters."),
    row("customer.surname", Conditional, Format::Cut { max: 48 },
        "Family name. Required with any other customer parameter; cut after 48 characters."),
    row("customer.middleName", Optional, text(2, 50), "Middle name."),
    row("customer.sex", Optional, Format::OneOf(&["M", "F"]), "M or F."),
    row("customer.birthDate", Optional, Format::Date, "Day of birth."),
    row("customer.phone", Optional, Format::Phone { min: 8, max: 26 }, "Telephone number."),
    row("customer.mobile", Optional, Format::Phone { min: 6, max: 26 }, "Mobile number."),
    row("customer.workPhone", Optional, verbatim(1, 25), "Telephone number at work."),
    row("customer.email", Optional, text(6, 128), "Mail address; some risk checks and direct debit mandates need it."),
    row("customer.companyName", Optional, text(1, 60), "The company, for business customers."),
    row("customer.identificationDocType", Conditional, Format::OneOf(&["IDCARD", "PASSPORT", "TAXSTATEMENT"]),
        "Kind of identity document; comes with its number."),
    row("customer.identificationDocId", Conditional, verbatim(8, 64), "Number of the identity document; comes with its kind."),
    row("customer.ip", Optional, verbatim(1, 255), "Network address that the order came from."),
    row("customer.merchantReference", Optional, verbatim(1, 255), "A reference of the payer that is passed to the payee."),
    row("customer.salutation", Optional, Format::OneOf(&["MR", "MRS", "MS", "MX"]), "How to address the customer."),
    row("customer.language", Optional, Format::Characters { class: Class::Uppercase, min: 2, max: 2 },
        "Language of the customer, two uppercase letters."),
    row("customer.category", Optional, Format::OneOf(&["INDIVIDUAL", "COMPANY"]), "A person or a company."),
    row("customer.status", Optional, Format::OneOf(&["NEW", "EXISTING"]), "Whether the customer has ordered before."),
    row("customer.browserFingerprint.id", Optional, verbatim(1, 255), "Id of a device fingerprint."),
    row("customer.browserFingerprint.value", Optional, verbatim(1, 4096), "The device fingerprint."),
    row("customer.browser.acceptHeader", Conditional, verbatim(1, 2048), "The browser's Accept header, unchanged."),
    row("customer.browser.language", Conditional, Format::Characters { class: Class::Tag, min: 1, max: 8 },
        "The browser's language, a BCP 47 tag."),
    row("customer.browser.screenHeight", Conditional, digits(1, 6), "Height of the screen in pixels."),
    row("customer.browser.screenWidth", Conditional, digits(1, 6), "Width of the screen in pixels."),
    row("customer.browser.timezone", Conditional, Format::Offset,
        "Minutes between UTC and the browser's local time; positive where local time is behind UTC."),
    row("customer.browser.userAgent", Conditional, verbatim(1, 2048), "The browser's User-Agent header."),
    row("customer.browser.javaEnabled", Conditional, Format::Flag, "Whether the browser runs Java."),
    row("customer.browser.screenColorDepth", Optional, digits(1, 2), "Bits per pixel."),
    row("customer.browser.challengeWindow", Optional, digits(2, 2), "Code of the size of the challenge window, 01 to 05."),
    row("customer.browser.deviceId", Optional, verbatim(1, 32), "Id of the device."),
];
