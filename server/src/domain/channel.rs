//! Channels: what each of them offers, and which one of a merchant's a payment goes to.
//!
//! A merchant entity has channels, and takes no payment itself: one that is asked of the merchant goes to the first of its
//! channels, by priority and then by age, that takes the test mode, the currency and the brand. Everything that a channel
//! does not limit it offers.

use serde::{Deserialize, Serialize};
use tillgate_shared::brand::Brand;
use tillgate_shared::result::{ResultCode, codes};

use super::entity::Entity;
use super::refusal::Refusal;

/// A channel's own settings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Channel {
    /// The brands that it offers; all where there is none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub brands: Vec<String>,
    /// The currencies that it takes; all where there is none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub currencies: Vec<String>,
    /// The test modes that it takes, of a sandbox; both where there is none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub test_modes: Vec<String>,
    /// When cards are authenticated.
    pub three_d: ThreeD,
    /// Whether payments pass the risk check.
    pub risk: bool,
    /// The connection to an acquirer that its payments take; none is chosen where there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connector: Option<String>,
    /// Its place among the merchant's channels: the lowest is asked first.
    pub priority: u32,
    /// Refuse a card that is typed into a form without its security code.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub require_cvv: bool,
    /// Refuse a stored card in a form without its security code.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub registrations_require_cvv: bool,
}

impl Default for Channel {
    fn default() -> Self {
        Self {
            brands: Vec::new(),
            currencies: Vec::new(),
            test_modes: Vec::new(),
            three_d: ThreeD::default(),
            risk: false,
            connector: None,
            priority: 100,
            require_cvv: false,
            registrations_require_cvv: false,
        }
    }
}

/// When a channel authenticates cards.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ThreeD {
    /// Always; a card that is not enrolled is declined.
    Required,
    /// Where the card is enrolled.
    #[default]
    WhenEnrolled,
    /// Never.
    Never,
}

/// What a payment, or a checkout, asks of a channel.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Wanted<'a> {
    /// The brands that the payment may be of, the likeliest first; none where the shopper has not chosen yet.
    pub brands: Vec<&'static Brand>,
    /// The currency, when it is known.
    pub currency: Option<&'a str>,
    /// The test mode; none of a live entity.
    pub test_mode: Option<&'a str>,
}

impl Channel {
    /// Whether it offers a brand.
    pub fn offers(&self, brand: &Brand) -> bool {
        self.brands.is_empty() || self.brands.iter().any(|code| code == brand.code)
    }

    fn takes_currency(&self, wanted: &Wanted<'_>) -> bool {
        wanted.currency.is_none_or(|currency| among(&self.currencies, currency))
    }

    fn takes_mode(&self, wanted: &Wanted<'_>) -> bool {
        wanted.test_mode.is_none_or(|mode| among(&self.test_modes, mode))
    }

    fn takes_brand(&self, wanted: &Wanted<'_>) -> bool {
        wanted.brands.is_empty() || wanted.brands.iter().any(|brand| self.offers(brand))
    }

    /// Whether it takes everything that is wanted.
    pub fn takes(&self, wanted: &Wanted<'_>) -> bool {
        self.takes_mode(wanted) && self.takes_currency(wanted) && self.takes_brand(wanted)
    }
}

fn among(offered: &[String], value: &str) -> bool {
    offered.is_empty() || offered.iter().any(|one| one == value)
}

/// The order in which a merchant's channels are asked.
pub fn sort<E: AsRef<Entity>>(channels: &mut [E]) {
    channels.sort_by(|a, b| {
        let place = |entity: &E| (entity.as_ref().settings.channel.priority, entity.as_ref().id.clone());
        place(a).cmp(&place(b))
    });
}

/// The first channel, of some in order, that takes what is wanted.
///
/// # Errors
/// A refusal with the code of the first thing that none of them takes: 600.200.700 for the test mode; 600.200.500 for the
/// currency, and for a brand where others of its kind are offered; 600.200.201 for a brand of a kind that is not.
pub fn dispatch<'e, E: AsRef<Entity>>(channels: &'e [E], wanted: &Wanted<'_>) -> Result<&'e E, Refusal> {
    let left: Vec<&E> = channels.iter().filter(|entity| settings(*entity).takes_mode(wanted)).collect();
    if left.is_empty() {
        return Err(Refusal::not_set_up(codes::MODE_NOT_CONFIGURED));
    }
    let left: Vec<&E> = left.into_iter().filter(|entity| settings(*entity).takes_currency(wanted)).collect();
    if left.is_empty() {
        return Err(Refusal::not_set_up(codes::SUBTYPE_NOT_CONFIGURED));
    }
    left.iter()
        .find(|entity| settings(**entity).takes_brand(wanted))
        .copied()
        .ok_or_else(|| Refusal::not_set_up(missing_brand(left.iter().map(|entity| settings(*entity)), wanted)))
}

fn settings<E: AsRef<Entity>>(entity: &E) -> &Channel {
    &entity.as_ref().settings.channel
}

fn missing_brand<'a>(channels: impl Iterator<Item = &'a Channel>, wanted: &Wanted<'_>) -> ResultCode {
    let offered = channels.flat_map(|channel| &channel.brands).filter_map(|code| Brand::find(code));
    let mut kinds = offered.map(|brand| brand.kind);
    if kinds.any(|kind| wanted.brands.iter().any(|brand| brand.kind == kind)) {
        codes::SUBTYPE_NOT_CONFIGURED
    } else {
        codes::METHOD_NOT_CONFIGURED
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::sync::Arc;

    use jiff::Timestamp;

    use super::*;
    use crate::domain::entity::Settings;
    use crate::domain::id::EntityId;
    use crate::domain::level::Level;

    fn channel(number: u8, change: impl FnOnce(&mut Channel)) -> Arc<Entity> {
        let mut channel = Channel::default();
        change(&mut channel);
        Arc::new(Entity {
            id: EntityId::new(Timestamp::UNIX_EPOCH, [number; 9]),
            name: format!("channel {number}"),
            live: false,
            level: Level::Channel,
            parent: Some(EntityId::new(Timestamp::UNIX_EPOCH, [0; 9])),
            ahead: jiff::SignedDuration::ZERO,
            settings: Settings { channel, ..Settings::default() },
        })
    }

    fn owned(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    fn wanted<'a>(brand: &str, currency: &'a str, test_mode: &'a str) -> Wanted<'a> {
        let brands = Brand::find(brand).into_iter().collect();
        Wanted { brands, currency: Some(currency), test_mode: Some(test_mode) }
    }

    /// Euro cards, yen cards, and everything else in any currency, in this order of age.
    fn channels() -> Vec<Arc<Entity>> {
        vec![
            channel(1, |channel| {
                channel.brands = owned(&["VISA", "MASTER"]);
                channel.currencies = owned(&["EUR"]);
            }),
            channel(2, |channel| {
                channel.brands = owned(&["VISA", "JCB"]);
                channel.currencies = owned(&["JPY"]);
            }),
            channel(3, |channel| {
                channel.brands = owned(&["PAYPAL", "VISA"]);
                channel.test_modes = owned(&["INTERNAL"]);
            }),
        ]
    }

    #[test]
    fn the_first_channel_that_takes_brand_currency_and_mode_gets_the_payment() {
        for (brand, currency, mode, name) in [
            ("VISA", "EUR", "INTERNAL", "channel 1"),
            ("VISA", "JPY", "INTERNAL", "channel 2"),
            ("VISA", "USD", "INTERNAL", "channel 3"),
            ("PAYPAL", "EUR", "INTERNAL", "channel 3"),
            ("MASTER", "EUR", "EXTERNAL", "channel 1"),
        ] {
            assert_eq!(dispatch(&channels(), &wanted(brand, currency, mode)).unwrap().name, name, "{brand} {currency}");
        }
        let open = Wanted { currency: Some("JPY"), ..Wanted::default() };
        assert_eq!(dispatch(&channels(), &open).unwrap().name, "channel 2");
    }

    #[test]
    fn what_no_channel_takes_is_refused_with_its_own_code() {
        let euro = &channels()[..1];
        for (channels, brand, currency, mode, code) in [
            (euro, "VISA", "USD", "INTERNAL", "600.200.500"),
            (euro, "JCB", "EUR", "INTERNAL", "600.200.500"),
            (euro, "PAYPAL", "EUR", "INTERNAL", "600.200.201"),
            (&channels()[2..], "VISA", "EUR", "EXTERNAL", "600.200.700"),
            (&channels()[..], "PAYPAL", "USD", "EXTERNAL", "600.200.500"),
        ] {
            let refusal = dispatch(channels, &wanted(brand, currency, mode)).unwrap_err();
            assert_eq!(refusal.code.code(), code, "{brand} {currency} {mode}");
        }
    }

    #[test]
    fn channels_are_asked_by_priority_and_then_by_age() {
        let mut channels = vec![
            channel(3, |channel| channel.priority = 5),
            channel(2, |_| ()),
            channel(1, |_| ()),
            channel(4, |channel| channel.priority = 500),
        ];
        sort(&mut channels);
        let names: Vec<&str> = channels.iter().map(|entity| entity.name.as_str()).collect();
        assert_eq!(names, ["channel 3", "channel 1", "channel 2", "channel 4"]);
    }

    #[test]
    fn settings_that_were_stored_before_there_were_channels_offer_everything() {
        let settings: Settings = serde_json::from_str(r#"{"strict":true}"#).unwrap();
        assert_eq!(settings.channel, Channel::default());
        assert!(settings.channel.takes(&wanted("JCB", "JPY", "EXTERNAL")));
    }
}
