//! 3-D Secure: results of an external authentication, and requests for the next one.

use super::super::Need::{Conditional, Optional};
use super::super::{Need, Parameter, ParameterGroup};
use super::{digits, text, verbatim};
use crate::format::{Class, Format};

/// Creates a row with a single value, which only the merchant's server may set.
const fn new_row(name: &'static str, need: Need, format: Format, note: &'static str) -> Parameter {
    Parameter::new(ParameterGroup::ThreeDs, name, need, format, note).with_single_value()
}

const fn base64_format(min: u16, max: u16) -> Format {
    Format::Characters { class: Class::Base64, min, max }
}

const UP_TO_FOUR: Format = Format::OneOf(&["01", "02", "03", "04"]);
const REQUESTOR_V1: &str = "Your id at the scheme's directory server, version 1.";
const PASSWORD_V1: &str = "Your password at the scheme's directory server, version 1.";
const REQUESTOR_V2: &str = "Your id at the scheme's directory server, version 2.";
const NAME_V2: &str = "Your name at the scheme's directory server, version 2.";

#[rustfmt::skip] // a row reads as a line
pub(super) static ROWS: &[Parameter] = &[
    new_row("threeDSecure.eci", Conditional, Format::OneOf(&["01", "02", "03", "04", "05", "06", "07", "08"]),
        "Electronic commerce indicator of an external 3-D Secure authentication."),
    new_row("threeDSecure.verificationId", Conditional, base64_format(28, 28),
        "Authentication value (CAVV, AAV, AEVV) of an external 3-D Secure authentication."),
    new_row("threeDSecure.xid", Conditional, base64_format(1, 64), "Transaction id of an external 3-D Secure authentication, version 1."),
    new_row("threeDSecure.enrollmentStatus", Conditional, Format::OneOf(&["Y", "U", "N"]),
        "Enrolment of the card: yes, unknown, no."),
    new_row("threeDSecure.authenticationStatus", Conditional, Format::OneOf(&["Y", "A", "U", "N"]),
        "Outcome of 3-D Secure: yes, attempted, unknown, no."),
    new_row("threeDSecure.merchant.name", Optional, text(1, 100), "Your name, for the issuer's page."),
    new_row("threeDSecure.merchant.url", Optional, verbatim(0, 2048), "Address of your website, for the issuer's page."),
    new_row("threeDSecure.merchant.country", Optional, Format::Characters { class: Class::Letters, min: 3, max: 3 },
        "Your country in three letters, ISO 3166-1 alpha-3."),
    new_row("threeDSecure.dsTransactionId", Optional, Format::Characters { class: Class::Tag, min: 36, max: 36 },
        "The directory server's transaction id of an external 3-D Secure authentication, version 2."),
    new_row("threeDSecure.version", Optional, Format::ThreeDsVersion, "Version of the protocol, e.g. 2.2.0."),
    new_row("threeDSecure.challengeIndicator", Optional,
        Format::OneOf(&["01", "02", "03", "04", "05", "06", "07", "08", "09", "4"]),
        "Preference for a challenge; 05 to 09 from version 2.2 on. 4 requests a challenge from the gateway's simulator."),
    new_row("threeDSecure.challengeMandatedIndicator", Optional, Format::OneOf(&["Y", "N"]),
        "Indicates whether the law requires a challenge. `Y` overrides an exemption."),
    new_row("threeDSecure.authType", Optional, UP_TO_FOUR, "Method by which the issuer identifies the cardholder: static password, one-time code, in its app, on another device."),
    new_row("threeDSecure.exemptionFlag", Optional, UP_TO_FOUR, "Exemption from strong authentication, from version 2.2 on: low value, risk analysed, trusted merchant, \
         secure corporate payment. You bear the loss if the payment is fraudulent."),
    new_row("threeDSecure.transactionStatusReason", Optional, digits(2, 2), "Reason for the outcome of 3-D Secure."),
    new_row("threeDSecure.v1.visa.requestorId", Optional, text(1, 100), REQUESTOR_V1),
    new_row("threeDSecure.v1.mastercard.requestorId", Optional, text(1, 100), REQUESTOR_V1),
    new_row("threeDSecure.v1.amex.requestorId", Optional, text(1, 100), REQUESTOR_V1),
    new_row("threeDSecure.v1.diners.requestorId", Optional, text(1, 100), REQUESTOR_V1),
    new_row("threeDSecure.v1.discover.requestorId", Optional, text(1, 100), REQUESTOR_V1),
    new_row("threeDSecure.v1.jcb.requestorId", Optional, text(1, 100), REQUESTOR_V1),
    new_row("threeDSecure.v1.cartebancaire.requestorId", Optional, text(1, 100), REQUESTOR_V1),
    new_row("threeDSecure.v1.visa.password", Optional, text(1, 100), PASSWORD_V1).marked_secret(),
    new_row("threeDSecure.v1.jcb.password", Optional, text(1, 100), PASSWORD_V1).marked_secret(),
    new_row("threeDSecure.v2.visa.requestorId", Optional, text(1, 100), REQUESTOR_V2),
    new_row("threeDSecure.v2.visa.requestorName", Optional, text(1, 100), NAME_V2),
    new_row("threeDSecure.v2.mastercard.requestorId", Optional, text(1, 100), REQUESTOR_V2),
    new_row("threeDSecure.v2.mastercard.requestorName", Optional, text(1, 100), NAME_V2),
    new_row("threeDSecure.v2.amex.requestorId", Optional, text(1, 100), REQUESTOR_V2),
    new_row("threeDSecure.v2.amex.requestorName", Optional, text(1, 100), NAME_V2),
    new_row("threeDSecure.v2.diners.requestorId", Optional, text(1, 100), REQUESTOR_V2),
    new_row("threeDSecure.v2.diners.requestorName", Optional, text(1, 100), NAME_V2),
    new_row("threeDSecure.v2.jcb.requestorId", Optional, text(1, 100), REQUESTOR_V2),
    new_row("threeDSecure.v2.jcb.requestorName", Optional, text(1, 100), NAME_V2),
    new_row("threeDSecure.v2.cartebancaire.requestorId", Optional, text(1, 100), REQUESTOR_V2),
    new_row("threeDSecure.v2.cartebancaire.requestorName", Optional, text(1, 100), NAME_V2),
];
