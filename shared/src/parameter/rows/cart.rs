//! Items of the cart, their recipients, and earlier payments for the cart.

use super::super::Need::{Conditional, Optional};
use super::super::{DefaultValue, Need, Parameter, ParameterGroup};
use super::{digits, text, verbatim};
use crate::format::Format;

/// Creates a row for the items of the cart.
const fn item_row(name: &'static str, need: Need, format: Format, note: &'static str) -> Parameter {
    Parameter::new(ParameterGroup::CartItems, name, need, format, note)
}

/// Creates an optional row for earlier payments for the cart.
const fn payment_row(name: &'static str, format: Format, note: &'static str) -> Parameter {
    Parameter::new(ParameterGroup::CartPayments, name, Optional, format, note)
}

#[rustfmt::skip] // a row reads as a line
pub(super) static ITEMS: &[Parameter] = &[
    item_row("cart.items[n].name", Conditional, text(1, 255), "Name of the item."),
    item_row("cart.items[n].merchantItemId", Conditional, verbatim(1, 255), "Your id of the item."),
    item_row("cart.items[n].quantity", Conditional, Format::Decimal { whole: 15, min: 1, max: 3 },
        "Quantity of the item; up to three decimals."),
    item_row("cart.items[n].type", Conditional,
        Format::OneOf(&["PHYSICAL", "DIGITAL", "MIXED", "ANONYMOUS_DONATION", "AUTHORITIES_PAYMENT"]),
        "Type of the item."),
    item_row("cart.items[n].sku", Optional, verbatim(1, 255), "Stock keeping unit."),
    item_row("cart.items[n].currency", Conditional, Format::Currency, "Currency of the item's prices."),
    item_row("cart.items[n].description", Conditional, Format::Lines { min: 1, max: 2048 }, "Item description."),
    item_row("cart.items[n].price", Conditional, Format::Amount,
        "Price of a single unit, including tax and discount."),
    item_row("cart.items[n].totalAmount", Conditional, Format::Amount, "Total price of the quantity."),
    item_row("cart.items[n].taxAmount", Conditional, Format::Amount, "Tax on a single unit."),
    item_row("cart.items[n].totalTaxAmount", Conditional, Format::Amount, "Tax on the total price."),
    item_row("cart.items[n].tax", Conditional, Format::Percent, "Tax rate, 0 to 100 percent."),
    item_row("cart.items[n].shipping", Conditional, Format::Amount, "Cost of shipping the item."),
    item_row("cart.items[n].discount", Conditional, Format::Amount, "Discount rate in percent, with two decimals."),
    item_row("cart.items[n].giftMessage", Optional, text(1, 255), "Gift message to the recipient."),
    item_row("cart.items[n].shippingMethod", Optional, text(1, 255), "Shipping method of the item."),
    item_row("cart.items[n].shippingInstructions", Optional, text(1, 255), "Instructions for shipping the item."),
    item_row("cart.items[n].shippingTrackingNumber", Optional, verbatim(1, 255), "Tracking number of the parcel."),
    item_row("cart.items[n].originalPrice", Optional, text(1, 255), "Price before discounts."),
    item_row("cart.items[n].quantityUnit", Optional, Format::OneOf(&["M", "CM", "KG", "G", "COUNT"]),
        "Unit of the quantity. The default COUNT counts pieces.")
        .with_default(DefaultValue::Value("COUNT")),
    item_row("cart.items[n].productUrl", Optional, Format::Url, "Address of the item's page."),
    item_row("cart.items[n].imageUrl", Optional, Format::Url, "Address of the item's picture."),
    item_row("cart.items[n].totalDiscountAmount", Optional, Format::Amount, "Discount on the total price."),
    item_row("cart.items[n].productCode", Optional, verbatim(1, 30), "Code of the product."),
    item_row("cart.items[n].partNumber", Optional, verbatim(1, 30), "The manufacturer's part number."),
    item_row("cart.items[n].itemNumber", Optional, Format::Number { min: 1, max: 999 }, "Line number on the invoice."),
    item_row("cart.items[n].vatReferenceNumber", Optional, verbatim(1, 30), "Reference for value added tax."),
    item_row("cart.items[n].recipient.salutation", Optional, text(1, 5), "The recipient's salutation."),
    item_row("cart.items[n].recipient.firstName", Optional, text(1, 48), "The recipient's given name."),
    item_row("cart.items[n].recipient.middleName", Optional, text(1, 50), "The recipient's middle name."),
    item_row("cart.items[n].recipient.lastName", Optional, text(1, 48), "The recipient's family name."),
    item_row("cart.items[n].recipient.apartment", Optional, text(1, 100), "The recipient's apartment."),
    item_row("cart.items[n].recipient.street", Optional, text(1, 100), "The recipient's street."),
    item_row("cart.items[n].recipient.address", Optional, text(1, 100), "The rest of the recipient's address."),
    item_row("cart.items[n].recipient.city", Optional, text(1, 80), "The recipient's city."),
    item_row("cart.items[n].recipient.state", Optional, text(1, 50), "The recipient's state, province or county."),
    item_row("cart.items[n].recipient.postcode", Optional, text(1, 16), "The recipient's postal code."),
    item_row("cart.items[n].recipient.country", Optional, Format::CountryOrNumber,
        "The recipient's country, two letters or three digits."),
    item_row("cart.items[n].recipient.phone", Optional, digits(1, 25), "The recipient's phone number, digits only.")
        .with_compatible_format(verbatim(1, 25)),
    item_row("cart.items[n].recipient.email", Optional, text(1, 60), "The recipient's email address."),
];

#[rustfmt::skip] // a row reads as a line
pub(super) static PAYMENTS: &[Parameter] = &[
    payment_row("cart.payments[n].name", text(1, 255), "Description of an earlier payment."),
    payment_row("cart.payments[n].type", Format::OneOf(&["GIFTCARD", "PROMOTION"]), "Type of the earlier payment."),
    payment_row("cart.payments[n].amount", Format::Amount, "Amount of the earlier payment."),
    payment_row("cart.payments[n].currency", Format::Currency, "Currency of the earlier payment."),
    payment_row("cart.payments[n].status", Format::OneOf(&["pending", "authorized", "captured"]), "Status of the earlier payment."),
    payment_row("cart.payments[n].brand", text(1, 255), "Brand of the earlier payment."),
    payment_row("cart.payments[n].primary", Format::Flag, "Indicates whether it is the main payment."),
];
