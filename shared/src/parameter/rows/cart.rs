//! What is in the cart, who gets each item, and what has been paid already.

use super::super::Need::{Conditional, Optional};
use super::super::{DefaultValue, Group, Need, Parameter};
use super::{digits, text, verbatim};
use crate::format::Format;

const fn row(name: &'static str, need: Need, format: Format, note: &'static str) -> Parameter {
    Parameter::new(Group::CartItems, name, need, format, note)
}

const fn paid(name: &'static str, format: Format, note: &'static str) -> Parameter {
    Parameter::new(Group::CartPayments, name, Optional, format, note)
}

#[rustfmt::skip] // a row reads as a line
pub(super) static ITEMS: &[Parameter] = &[
    row("cart.items[n].name", Conditional, text(1, 255), "What it is."),
    row("cart.items[n].merchantItemId", Conditional, verbatim(1, 255), "Your id of the item."),
    row("cart.items[n].quantity", Conditional, Format::Decimal { whole: 15, min: 1, max: 3 },
        "How much of it; up to three decimals."),
    row("cart.items[n].type", Conditional,
        Format::OneOf(&["PHYSICAL", "DIGITAL", "MIXED", "ANONYMOUS_DONATION", "AUTHORITIES_PAYMENT"]),
        "Kind of the item."),
    row("cart.items[n].sku", Optional, verbatim(1, 255), "Stock keeping unit."),
    row("cart.items[n].currency", Conditional, Format::Currency, "Currency of the item's prices."),
    row("cart.items[n].description", Conditional, Format::Lines { min: 1, max: 2048 }, "What there is to say about it."),
    row("cart.items[n].price", Conditional, Format::Money,
        "Price of one, with tax and discount, whatever the quantity."),
    row("cart.items[n].totalAmount", Conditional, Format::Money, "Price of all of them."),
    row("cart.items[n].taxAmount", Conditional, Format::Money, "Tax on one."),
    row("cart.items[n].totalTaxAmount", Conditional, Format::Money, "Tax on all of them."),
    row("cart.items[n].tax", Conditional, Format::Percent, "Rate of the tax, 0 to 100 percent."),
    row("cart.items[n].shipping", Conditional, Format::Money, "What sending the item costs."),
    row("cart.items[n].discount", Conditional, Format::Money, "Rate of the discount in percent, with two decimals."),
    row("cart.items[n].giftMessage", Optional, text(1, 255), "Message to whom it is given."),
    row("cart.items[n].shippingMethod", Optional, text(1, 255), "How the item travels."),
    row("cart.items[n].shippingInstructions", Optional, text(1, 255), "What to mind when it is sent."),
    row("cart.items[n].shippingTrackingNumber", Optional, verbatim(1, 255), "Number by which the parcel is followed."),
    row("cart.items[n].originalPrice", Optional, text(1, 255), "Price before discounts."),
    row("cart.items[n].quantityUnit", Optional, Format::OneOf(&["M", "CM", "KG", "G", "COUNT"]),
        "Unit of the quantity; COUNT, pieces, unless you say otherwise.")
        .or(DefaultValue::Value("COUNT")),
    row("cart.items[n].productUrl", Optional, Format::Url, "Address of the item's page."),
    row("cart.items[n].imageUrl", Optional, Format::Url, "Address of its picture."),
    row("cart.items[n].totalDiscountAmount", Optional, Format::Money, "Discount on all of them."),
    row("cart.items[n].productCode", Optional, verbatim(1, 30), "Code of the product."),
    row("cart.items[n].partNumber", Optional, verbatim(1, 30), "The manufacturer's number."),
    row("cart.items[n].itemNumber", Optional, Format::Number { min: 1, max: 999 }, "Line on the invoice."),
    row("cart.items[n].vatReferenceNumber", Optional, verbatim(1, 30), "Reference for value added tax."),
    row("cart.items[n].recipient.salutation", Optional, text(1, 5), "How to address who gets the item."),
    row("cart.items[n].recipient.firstName", Optional, text(1, 48), "The recipient's given name."),
    row("cart.items[n].recipient.middleName", Optional, text(1, 50), "The recipient's middle name."),
    row("cart.items[n].recipient.lastName", Optional, text(1, 48), "The recipient's family name."),
    row("cart.items[n].recipient.apartment", Optional, text(1, 100), "The recipient's apartment."),
    row("cart.items[n].recipient.street", Optional, text(1, 100), "The recipient's street."),
    row("cart.items[n].recipient.address", Optional, text(1, 100), "The rest of the recipient's address."),
    row("cart.items[n].recipient.city", Optional, text(1, 80), "The recipient's town."),
    row("cart.items[n].recipient.state", Optional, text(1, 50), "The recipient's state, province or county."),
    row("cart.items[n].recipient.postcode", Optional, text(1, 16), "The recipient's postcode."),
    row("cart.items[n].recipient.country", Optional, Format::CountryOrNumber,
        "The recipient's country, two letters or three digits."),
    row("cart.items[n].recipient.phone", Optional, digits(1, 25), "The recipient's telephone number, digits only.")
        .compatible(verbatim(1, 25)),
    row("cart.items[n].recipient.email", Optional, text(1, 60), "The recipient's mail address."),
];

#[rustfmt::skip] // a row reads as a line
pub(super) static PAYMENTS: &[Parameter] = &[
    paid("cart.payments[n].name", text(1, 255), "What has been paid already, in words."),
    paid("cart.payments[n].type", Format::OneOf(&["GIFTCARD", "PROMOTION"]), "Kind of this payment."),
    paid("cart.payments[n].amount", Format::Money, "How much it was."),
    paid("cart.payments[n].currency", Format::Currency, "Its currency."),
    paid("cart.payments[n].status", Format::OneOf(&["pending", "authorized", "captured"]), "How far it is."),
    paid("cart.payments[n].brand", text(1, 255), "Its brand."),
    paid("cart.payments[n].primary", Format::Flag, "Whether it is the main payment."),
];
