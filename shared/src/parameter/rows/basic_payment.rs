//! Amount, currency, type, brand and the merchant's references.

use super::super::Need::{Conditional, Optional, Required};
use super::super::{DefaultValue, Group, Need, Parameter};
use super::{text, verbatim};
use crate::format::{Class, Format};

const fn row(name: &'static str, need: Need, format: Format, note: &'static str) -> Parameter {
    Parameter::new(Group::BasicPayment, name, need, format, note)
}

/// The specification's types, and those that deployed gateways of this contract have besides: a debit in two steps,
/// the acquirer's chargeback, and a schedule with its changes. Which of them a request takes depends on what it is
/// about to do.
const TYPES: Format = Format::OneOf(&["PA", "DB", "CD", "CP", "RV", "RF", "PA.CP", "CB", "SD", "RS", "DS"]);
/// A brand's own type has two letters and begins a payment.
const OVERRIDES: Format = Format::OneOf(&["PA", "DB", "CD"]);

#[rustfmt::skip] // a row reads as a line
pub(super) static ROWS: &[Parameter] = &[
    row("entityId", Conditional, Format::Characters { class: Class::LowerHex, min: 32, max: 32 },
        "The channel that the request is for; with channel dispatching, the merchant.").once(),
    row("amount", Required, Format::Amount,
        "What is paid. It contains everything else: taxes, shipping, discounts.").once(),
    row("taxAmount", Conditional, Format::Amount, "The tax within the amount."),
    row("currency", Required, Format::Currency, "The currency of the amount.").once(),
    row("paymentBrand", Conditional, Format::Characters { class: Class::Word, min: 1, max: 32 },
        "The way to pay, e.g. VISA. May be left out where the card number tells.").by_browser(),
    row("paymentType", Required, TYPES,
        "PA reserves the amount, DB takes it, PA.CP does both in two steps, CD pays it out; CP captures, RV reverses and RF \
         refunds an earlier payment, CB tells of a chargeback; SD, RS and DS make, change and end a schedule.").once(),
    row("brands", Optional, Format::Brands,
        "The brands that a checkout offers, e.g. VISA MASTER; others are refused, whatever its page shows. Our addition."),
    row("requireCvv", Optional, Format::Flag,
        "Whether a card that is typed into the form of this checkout needs its security code. Our addition; true adds to what the \
         channel demands (entity set --require-cvv), and no browser can set it."),
    row("overridePaymentType[brand]", Optional, OVERRIDES,
        "Another payment type for one brand, e.g. PA for a brand that cannot take money at once. Only when a checkout is created.")
        .once(),
    row("referencedPaymentId", Conditional, Format::Characters { class: Class::Alphanumeric, min: 32, max: 32 },
        "The earlier payment that CP captures, RV reverses or RF refunds, where its id does not stand in the path.").once(),
    row("descriptor", Optional, text(1, 127), "Text on the shopper's statement, behind the payment's short number and a space; merchant.name can override it. The \
         statement has 127 characters: of a longer text its first 112 are kept."),
    row("merchantTransactionId", Conditional, verbatim(8, 255),
        "Your own reference of the payment, best unique. Reports carry it, and payments are found by it.")
        .compatible(verbatim(1, 255)),
    row("merchantInvoiceId", Optional, verbatim(8, 255), "Your invoice number, best unique. It is not passed on."),
    row("merchantMemo", Optional, text(8, 255), "A note for your reports."),
    row("transactionCategory", Optional, Format::OneOf(&["EC", "MO", "TO", "RC", "IN", "PO", "PM", "MOTO"]),
        "How the order came in: EC web shop, MO mail, TO telephone, RC recurring, IN installment, PO point of sale, PM mobile point of sale, MOTO mail or telephone."),
    row("testMode", Optional, Format::OneOf(&["EXTERNAL", "INTERNAL"]),
        "INTERNAL, the default, asks our simulator; EXTERNAL asks the processor's test system.")
        .or(DefaultValue::Value("INTERNAL")),
    row("integrity", Optional, Format::Flag,
        "Asks for the hash of the form's script, for the integrity attribute of your script tag."),
];
