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
        "The channel that the request is for. With channel routing, the merchant.").with_single_value(),
    new_row("amount", Required, Format::Amount,
        "Total amount of the payment, including taxes, shipping and discounts.").with_single_value(),
    new_row("taxAmount", Conditional, Format::Amount, "Tax included in the amount."),
    new_row("currency", Required, Format::Currency, "The currency of the amount.").with_single_value(),
    new_row("paymentBrand", Conditional, Format::Characters { class: Class::Word, min: 1, max: 32 },
        "Payment brand, such as VISA. May be omitted if the card number identifies the brand.").allowed_in_browser(),
    new_row("paymentType", Required, TYPES,
        "PA reserves the amount, DB takes it, PA.CP does both in two steps, CD pays it out. CP captures, RV reverses and RF \
         refunds an earlier payment, and CB reports a chargeback. SD, RS and DS create, change and end a schedule.").with_single_value(),
    new_row("brands", Optional, Format::Brands,
        "Brands that the checkout offers, such as VISA MASTER. Other brands are refused even if the page shows them. Extension of the specification."),
    new_row("requireCvv", Optional, Format::Flag,
        "Indicates whether a card that is typed into the form of this checkout needs its security code. Extension of the specification. The channel's setting \
         (entity set --require-cvv) still applies if the value is false. A browser cannot set it."),
    new_row("partialApproval", Optional, Format::OneOf(&["accept", "decline"]),
        "accept books a part of the amount if the acquirer approves only that part, such as the rest of a prepaid card; the response has requestedAmount. \
         decline, the default, reverses the part. Extension of the specification. A browser cannot set it.")
        .with_single_value(),
    new_row("finalCapture", Optional, Format::OneOf(&["true", "false"]),
        "true makes a capture (CP) the last one of its preauthorization, and releases what is left; false, the default, keeps it. Extension of the \
         specification. A browser cannot set it.")
        .with_single_value(),
    new_row("overridePaymentType[brand]", Optional, OVERRIDES,
        "Different payment type for one brand, such as PA for a brand that cannot take money at once. Accepted only when a checkout is created.")
        .with_single_value(),
    new_row("referencedPaymentId", Conditional, Format::Characters { class: Class::Alphanumeric, min: 32, max: 32 },
        "Id of the earlier payment that CP captures, RV reverses, RF refunds, or an incremental PA raises, if the path does not contain it.").with_single_value(),
    new_row("descriptor", Optional, text(1, 127), "Text on the shopper's statement, after the payment's short id and a space. merchant.name can override it. The \
         statement line has 127 characters, so a longer text is cut to its first 112 characters."),
    new_row("merchantTransactionId", Conditional, verbatim(8, 255),
        "Your reference for the payment, preferably unique. It appears in reports, and payments can be found by it.")
        .with_compatible_format(verbatim(1, 255)),
    new_row("merchantInvoiceId", Optional, verbatim(8, 255), "Your invoice number, preferably unique. It is not passed on."),
    new_row("merchantMemo", Optional, text(8, 255), "A note for your reports."),
    new_row("transactionCategory", Optional, Format::OneOf(&["EC", "MO", "TO", "RC", "IN", "PO", "PM", "MOTO"]),
        "Channel of the order: EC web shop, MO mail, TO telephone, RC recurring, IN installment, PO point of sale, PM mobile point of sale, MOTO mail or telephone."),
    new_row("testMode", Optional, Format::OneOf(&["EXTERNAL", "INTERNAL"]),
        "INTERNAL, the default, uses the gateway's simulator. EXTERNAL uses the processor's test system.")
        .with_default(DefaultValue::Value("INTERNAL")),
    new_row("integrity", Optional, Format::Flag,
        "Adds the hash of the form's script to the response, for the integrity attribute of your script tag."),
];
