//! Data for the risk check.

use super::super::Need::Optional;
use super::super::{DefaultValue, Parameter, ParameterGroup};
use super::verbatim;
use crate::format::Format;

/// Creates an optional row.
const fn new_row(name: &'static str, format: Format, note: &'static str) -> Parameter {
    Parameter::new(ParameterGroup::Risk, name, Optional, format, note)
}

#[rustfmt::skip] // a row reads as a line
pub(super) static ROWS: &[Parameter] = &[
    new_row("risk.channelId", verbatim(1, 255),
        "Channel in the risk system, which selects the rules. The risk check uses its first 12 characters."),
    new_row("risk.serviceId", verbatim(1, 255), "Service in the risk system. The risk check uses its first character."),
    new_row("risk.amount", Format::Amount, "Amount that the risk check and 3-D Secure use instead of amount. In the payment's currency."),
    new_row("risk.orderTimestamp", Format::DateTime { t: false },
        "Time of the order, yyyy-MM-dd HH:mm:ss.")
        .with_default(DefaultValue::Now),
    new_row("risk.brand", verbatim(1, 255), "Brand in the risk system.")
        .with_default(DefaultValue::SameAs("paymentBrand")),
    new_row("risk.parameters[name]", Format::Lines { min: 0, max: 2048 },
        "Further data for the risk check. Names have 3 to 64 letters, digits, dots and underscores."),
    new_row("risk.merchantWebsite", verbatim(1, 60), "Address of your website."),
    new_row("risk.accountToken", verbatim(1, 64), "Token that identifies the account if its number is unknown."),
];
