//! Stored credentials: the agreement under which a stored card is charged again.

use super::super::Need::{Conditional, Optional};
use super::super::{Need, Parameter, ParameterGroup};
use super::{digits, verbatim};
use crate::format::Format;

/// Creates a row with a single value, which the browser may set.
const fn new_row(name: &'static str, need: Need, format: Format, note: &'static str) -> Parameter {
    Parameter::new(ParameterGroup::StandingInstruction, name, need, format, note)
        .allowed_in_browser()
        .with_single_value()
}

#[rustfmt::skip] // a row reads as a line
pub(super) static ROWS: &[Parameter] = &[
    new_row("standingInstruction.type", Optional, Format::OneOf(&["UNSCHEDULED", "INSTALLMENT", "RECURRING"]),
        "UNSCHEDULED for payments without fixed times, INSTALLMENT for fixed times and a fixed number, RECURRING for fixed times until cancelled."),
    new_row("standingInstruction.mode", Optional, Format::OneOf(&["INITIAL", "REPEATED"]),
        "INITIAL for the first payment, which carries the security code or 3-D Secure data; REPEATED for later ones."),
    new_row("standingInstruction.source", Optional, Format::OneOf(&["CIT", "MIT"]),
        "Initiator of the payment: CIT the cardholder, MIT the merchant. In a checkout the shopper is present: MIT is refused."),
    new_row("standingInstruction.initialTransactionId", Optional, verbatim(1, 255),
        "The acquirer's id of the first payment. Sent with all later payments that the merchant initiates."),
    new_row("standingInstruction.industryPractice", Optional,
        Format::OneOf(&["INCREMENTAL_AUTH", "RESUBMISSION", "REAUTHORIZATION", "DELAYED_CHARGES", "NO_SHOW"]),
        "Industry practice that is the reason for this charge. With INCREMENTAL_AUTH, a PA that refers to an earlier PA raises its amount."),
    new_row("standingInstruction.expiry", Conditional, Format::Date,
        "Last day on which the account may be charged. Needed with 3-D Secure for recurring payments and installments."),
    new_row("standingInstruction.frequency", Conditional, digits(1, 4),
        "Minimum number of days between two charges. Needed with 3-D Secure for recurring payments and installments."),
    new_row("standingInstruction.numberOfInstallments", Conditional, digits(1, 3),
        "Maximum number of charges of an installment plan. Needed with 3-D Secure for installments."),
];
