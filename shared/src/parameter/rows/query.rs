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
        "Adds the linked payments: the first payment and its captures, reversals, refunds and chargebacks."),
    new_row("paymentTypes", verbatim(2, 255), "Filters by payment types, separated by commas, such as PA,CP,RV."),
    new_row("paymentMethods", verbatim(2, 255), "Filters by payment methods, separated by commas, such as CC,DC."),
    new_row("shortId", verbatim(14, 14), "Short id of the payment, dddd.dddd.dddd, as on the shopper's statement."),
    new_row("limit", Format::Number { min: 1, max: 100 }, "Maximum number of entries in a response, 100 if it is not sent."),
    new_row("cursor", Format::Characters { class: Class::LowerHex, min: 32, max: 32 },
        "Start of the next page: the cursor of the previous response."),
    new_row("pageNo", Format::Number { min: 1, max: 10_000 },
        "Number of the page, starting at 1, for older clients. The response contains the number of pages. Excludes cursor."),
];
