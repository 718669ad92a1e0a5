//! What payments are asked for by. The days of a range are `date.from` and `date.to`, as in reports.

use super::super::Need::Optional;
use super::super::{Group, Parameter};
use super::verbatim;
use crate::format::{Class, Format};

const fn row(name: &'static str, format: Format, note: &'static str) -> Parameter {
    Parameter::new(Group::Query, name, Optional, format, note)
}

#[rustfmt::skip] // a row reads as a line
pub(super) static ROWS: &[Parameter] = &[
    row("includeLinkedTransactions", Format::Flag,
        "Asks for everything that belongs together: the first payment, and what captures, reverses or refunds it."),
    row("paymentTypes", verbatim(2, 255), "Only payments of these types, with commas between, e.g. PA,CP,RV."),
    row("paymentMethods", verbatim(2, 255), "Only payments of these methods, with commas between, e.g. CC,DC."),
    row("shortId", verbatim(14, 14), "The number on the shopper's statement, dddd.dddd.dddd."),
    row("limit", Format::Number { min: 1, max: 100 }, "How many payments an answer lists at most; 100 when it is left out."),
    row("cursor", Format::Characters { class: Class::LowerHex, min: 32, max: 32 },
        "Where the list goes on: the cursor of the answer before."),
    row("pageNo", Format::Number { min: 1, max: 10_000 },
        "Which page of the list, as older clients count them, from 1; the answer says how many there are. Not with cursor."),
];
