//! Gift cards for recipients.

use super::super::Need::Optional;
use super::super::{Parameter, ParameterGroup};
use crate::format::Format;

const OCCASIONS: Format = Format::OneOf(&[
    "ANNIVERSARY",
    "BIRTHDAY",
    "CONGRATULATIONS",
    "APRIL_FOOLS_DAY",
    "EASTER",
    "FATHERS_DAY",
    "GRADUATION",
    "HOLIDAY",
    "SEASONS_GREETINGS",
    "PASSOVER",
    "KWANZAA",
    "HALLOWEEN",
    "MOTHERS_DAY",
    "NEW_YEARS_DAY",
    "BOSSES_DAY",
    "ST_PATRICKS_DAY",
    "SWEETEST_DAY",
    "CHRISTMAS",
    "BABY_SHOWER",
    "THANKSGIVING",
    "OTHER",
    "VALENTINES_DAY",
    "WEDDING",
    "SECRETARYS_DAY",
    "CHINESE_NEW_YEAR",
    "HANUKKAH",
    "CELEBRATE_FALL",
    "GRANDPARENTS_DAY",
    "INDEPENDENCE_DAY",
]);

#[rustfmt::skip] // a row reads as a line
pub(super) static ROWS: &[Parameter] = &[
    Parameter::new(ParameterGroup::GiftCard, "giftCard.message", Optional, Format::Lines { min: 2, max: 160 },
        "Text on the gift card."),
    Parameter::new(ParameterGroup::GiftCard, "giftCard.type", Optional, OCCASIONS, "Occasion of the gift."),
];
