//! Search parameters of queries. The days of a range are `date.from` and `date.to`, as in reports.

use super::super::Need::Optional;
use super::super::{Parameter, ParameterGroup};
use super::verbatim;
use crate::format::{Class, Format};

/// Creates an optional row.
const fn new_row(name: &'static str, format: Format, note: &'static str) -> Parameter {
    Parameter::new(ParameterGroup::Query, name, Optional, format, note)
}

#[rustfmt::skip] // a row reads as a line
pub(super) static ROWS: &[Parameter] = &[
    new_row("includeLinkedTransactions", Format::Flag,
        "Asks for everything that belongs together: the first payment, and what captures, reverses or refunds it."),
    new_row("paymentTypes", verbatim(2, 255), "Only payments of these types, with commas between, e.g. PA,CP,RV."),
    new_row("paymentMethods", verbatim(2, 255), "Only payments of these methods, with commas between, e.g. CC,DC."),
    new_row("shortId", verbatim(14, 14), "The number on the shopper's statement, dddd.dddd.dddd."),
    new_row("limit", Format::Number { min: 1, max: 100 }, "Maximum number of entries in a response; 100 if it is left out."),
    new_row("cursor", Format::Characters { class: Class::LowerHex, min: 32, max: 32 },
        "Start of the next page: the cursor of the previous response."),
    new_row("pageNo", Format::Number { min: 1, max: 10_000 },
        "Which page of the list, as older clients count them, from 1; the answer says how many there are. Not with cursor."),
];
