//! Card on file: the agreement under which a stored card is charged again.

use super::super::Need::{Conditional, Optional};
use super::super::{Group, Need, Parameter};
use super::{digits, verbatim};
use crate::format::Format;

const fn row(name: &'static str, need: Need, format: Format, note: &'static str) -> Parameter {
    Parameter::new(Group::StandingInstruction, name, need, format, note).by_browser().once()
}

#[rustfmt::skip] // a row reads as a line
pub(super) static ROWS: &[Parameter] = &[
    row("standingInstruction.type", Optional, Format::OneOf(&["UNSCHEDULED", "INSTALLMENT", "RECURRING"]),
        "UNSCHEDULED when something happens, INSTALLMENT at fixed times for a fixed while, RECURRING until cancelled."),
    row("standingInstruction.mode", Optional, Format::OneOf(&["INITIAL", "REPEATED"]),
        "INITIAL for the first payment, which carries the security code or 3D data; REPEATED for later ones."),
    row("standingInstruction.source", Optional, Format::OneOf(&["CIT", "MIT"]),
        "Who asks for the payment: CIT the cardholder, MIT the merchant. In a checkout the shopper is present: MIT is refused."),
    row("standingInstruction.initialTransactionId", Optional, verbatim(1, 255),
        "The acquirer's id of the first payment; sent with all later ones that the merchant asks for."),
    row("standingInstruction.industryPractice", Optional,
        Format::OneOf(&["INCREMENTAL_AUTH", "RESUBMISSION", "REAUTHORIZATION", "DELAYED_CHARGES", "NO_SHOW"]),
        "The trade's reason for charging again."),
    row("standingInstruction.expiry", Conditional, Format::Date,
        "Day after which nothing is charged any more. Needed with 3D authentication for recurring payments and installments."),
    row("standingInstruction.frequency", Conditional, digits(1, 4),
        "Fewest days between two charges. Needed with 3D authentication for recurring payments and installments."),
    row("standingInstruction.numberOfInstallments", Conditional, digits(1, 3),
        "Most charges of an installment plan. Needed with 3D authentication for installments."),
];
