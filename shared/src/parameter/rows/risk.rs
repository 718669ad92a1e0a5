//! What the risk check shall know.

use super::super::Need::Optional;
use super::super::{DefaultValue, Group, Parameter};
use super::verbatim;
use crate::format::Format;

const fn row(name: &'static str, format: Format, note: &'static str) -> Parameter {
    Parameter::new(Group::Risk, name, Optional, format, note)
}

#[rustfmt::skip] // a row reads as a line
pub(super) static ROWS: &[Parameter] = &[
    row("risk.channelId", verbatim(1, 255),
        "Channel in the risk system, which chooses the rules. The screening takes its first 12 characters."),
    row("risk.serviceId", verbatim(1, 255), "Service in the risk system. The screening takes its first character."),
    row("risk.amount", Format::Amount, "Amount that the risk check judges instead; 3D authentication shows it, too. In the payment's currency."),
    row("risk.orderTimestamp", Format::DateTime { t: false },
        "When the order was made, if that was not now: yyyy-MM-dd HH:mm:ss.")
        .or(DefaultValue::Now),
    row("risk.brand", verbatim(1, 255), "Brand in the risk system.")
        .or(DefaultValue::Of("paymentBrand")),
    row("risk.parameters[name]", Format::Lines { min: 0, max: 2048 },
        "Anything else for the risk check. Names have 3 to 64 letters, digits, dots and underscores."),
    row("risk.merchantWebsite", verbatim(1, 60), "Your site."),
    row("risk.accountToken", verbatim(1, 64), "A stand-in for the account, where its number is unknown."),
];
