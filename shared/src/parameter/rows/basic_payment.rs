//! Amount, currency, type, brand and the merchant's references.

use super::super::Need::{Conditional, Optional, Required};
use super::super::{DefaultValue, Need, Parameter, ParameterGroup};
use super::{text, verbatim};
use crate::format::{Class, Format};

const fn new_row(name: &'static str, need: Need, format: Format, note: &'static str) -> Parameter {
    Parameter::new(ParameterGroup::BasicPayment, name, need, format, note)
}

/// Types of the specification, and further types of deployed gateways of this contract: a debit in two steps, the
/// acquirer's chargeback, and a schedule with its changes. The operation decides which of them a request may have.
const TYPES: Format = Format::OneOf(&["PA", "DB", "CD", "CP", "RV", "RF", "PA.CP", "CB", "CR", "SD", "RS", "DS"]);
/// A brand's own type has two letters and begins a payment.
const OVERRIDES: Format = Format::OneOf(&["PA", "DB", "CD"]);

#[rustfmt::skip] // a row reads as a line
pub(super) static ROWS: &[Parameter] = &[
    new_row("entityId", Conditional, Format::Characters { class: Class::LowerHex, min: 32, max: 32 },
        "The channel that the request is for; with channel dispatching, the merchant.").with_single_value(),
    new_row("amount", Required, Format::Amount,
        "Total amount of the payment, including taxes, shipping and discounts.").with_single_value(),
    new_row("taxAmount", Conditional, Format::Amount, "The tax within the amount."),
    new_row("currency", Required, Format::Currency, "The currency of the amount.").with_single_value(),
    new_row("paymentBrand", Conditional, Format::Characters { class: Class::Word, min: 1, max: 32 },
        "The way to pay, e.g. VISA. May be left out where the card number tells.").allowed_in_browser(),
    new_row("paymentType", Required, TYPES,
        "PA reserves the amount, DB takes it, PA.CP does both in two steps, CD pays it out; CP captures, RV reverses and RF \
         refunds an earlier payment, CB tells of a chargeback; SD, RS and DS make, change and end a schedule.").with_single_value(),
    new_row("brands", Optional, Format::Brands,
        "The brands that a checkout offers, e.g. VISA MASTER; others are refused, whatever its page shows. Our addition."),
    new_row("requireCvv", Optional, Format::Flag,
        "Indicates whether a card that is typed into the form of this checkout needs its security code. Our addition; true adds to what the \
         channel demands (entity set --require-cvv), and no browser can set it."),
    new_row("overridePaymentType[brand]", Optional, OVERRIDES,
        "Another payment type for one brand, e.g. PA for a brand that cannot take money at once. Only when a checkout is created.")
        .with_single_value(),
    new_row("referencedPaymentId", Conditional, Format::Characters { class: Class::Alphanumeric, min: 32, max: 32 },
        "The earlier payment that CP captures, RV reverses or RF refunds, where its id does not stand in the path.").with_single_value(),
    new_row("descriptor", Optional, text(1, 127), "Text on the shopper's statement, behind the payment's short number and a space; merchant.name can override it. The \
         statement has 127 characters: of a longer text its first 112 are kept."),
    new_row("merchantTransactionId", Conditional, verbatim(8, 255),
        "Your own reference of the payment, best unique. Reports carry it, and payments are found by it.")
        .with_compatible_format(verbatim(1, 255)),
    new_row("merchantInvoiceId", Optional, verbatim(8, 255), "Your invoice number, best unique. It is not passed on."),
    new_row("merchantMemo", Optional, text(8, 255), "A note for your reports."),
    new_row("transactionCategory", Optional, Format::OneOf(&["EC", "MO", "TO", "RC", "IN", "PO", "PM", "MOTO"]),
        "Channel of the order: EC web shop, MO mail, TO telephone, RC recurring, IN installment, PO point of sale, PM mobile point of sale, MOTO mail or telephone."),
    new_row("testMode", Optional, Format::OneOf(&["EXTERNAL", "INTERNAL"]),
        "INTERNAL, the default, asks our simulator; EXTERNAL asks the processor's test system.")
        .with_default(DefaultValue::Value("INTERNAL")),
    new_row("integrity", Optional, Format::Flag,
        "Asks for the hash of the form's script, for the integrity attribute of your script tag."),
];
