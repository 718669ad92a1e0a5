//! Channels: the brands, currencies and test modes of each, and the routing of a payment to one of a merchant's
//! channels.
//!
//! A merchant with channels processes no payment itself. A payment requested of the merchant goes to the first of its
//! channels, by priority and then by age, that accepts the test mode, the currency and the brand. Unset limits allow
//! everything.

use serde::{Deserialize, Serialize};
use tillgate_shared::brand::Brand;
use tillgate_shared::result::{ResultCode, codes};

use crate::access::entity::Entity;
use crate::refusal::Refusal;
use crate::risk::RiskSettings;
use crate::three_ds::ThreeDsPolicy;

/// Settings of a channel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Channel {
    /// Accepted brands. Empty accepts all.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub brands: Vec<String>,
    /// Accepted currencies. Empty accepts all.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub currencies: Vec<String>,
    /// Accepted test modes of a sandbox entity. Empty accepts both.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub test_modes: Vec<String>,
    /// 3-D Secure policy for cards.
    pub three_d: ThreeDsPolicy,
    /// True if payments go through the risk check.
    pub risk: bool,
    /// Settings of the risk check.
    #[serde(skip_serializing_if = "is_default")]
    pub risk_settings: RiskSettings,
    /// Name of the connector that processes its payments. `None` if none was chosen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connector: Option<String>,
    /// The merchant id at the acquirer. `None` if it is the entity's own id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub acquirer_merchant: Option<String>,
    /// Position among the merchant's channels: the lowest number is tried first.
    pub priority: u32,
    /// Refuse a card entered into a form without its security code.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub require_cvv: bool,
    /// Refuse a stored card used in a form without its security code.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub registrations_require_cvv: bool,
}

impl Default for Channel {
    fn default() -> Self {
        Self {
            brands: Vec::new(),
            currencies: Vec::new(),
            test_modes: Vec::new(),
            three_d: ThreeDsPolicy::default(),
            risk: false,
            risk_settings: RiskSettings::default(),
            connector: None,
            acquirer_merchant: None,
            priority: 100,
            require_cvv: false,
            registrations_require_cvv: false,
        }
    }
}

/// Returns true if the settings of the risk check are the defaults, which are not stored.
fn is_default(settings: &RiskSettings) -> bool {
    *settings == RiskSettings::default()
}

/// Properties of a payment or checkout that a channel has to accept.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChannelRequest<'a> {
    /// Possible brands of the payment, the likeliest first. Empty if the shopper has not chosen yet.
    pub brands: Vec<&'static Brand>,
    /// The currency, if it is known.
    pub currency: Option<&'a str>,
    /// The test mode. `None` for a live entity.
    pub test_mode: Option<&'a str>,
}

impl Channel {
    /// Returns true if the channel accepts a brand: it is listed, or none is.
    pub fn allows_brand(&self, brand: &Brand) -> bool {
        self.brands.is_empty() || self.brands.iter().any(|code| code == brand.code)
    }

    /// Returns true if the request has no currency, or the channel accepts it.
    fn allows_currency(&self, request: &ChannelRequest<'_>) -> bool {
        request.currency.is_none_or(|currency| allows_value(&self.currencies, currency))
    }

    /// Returns true if the request has no test mode, or the channel accepts it.
    fn allows_test_mode(&self, request: &ChannelRequest<'_>) -> bool {
        request.test_mode.is_none_or(|mode| allows_value(&self.test_modes, mode))
    }

    /// Returns true if the request has no brand, or the channel accepts at least one of them.
    fn allows_any_brand(&self, request: &ChannelRequest<'_>) -> bool {
        request.brands.is_empty() || request.brands.iter().any(|brand| self.allows_brand(brand))
    }

    /// Returns true if the channel accepts the test mode, the currency and at least one of the possible brands of a
    /// request. Properties that are not known yet are accepted.
    pub fn allows_request(&self, request: &ChannelRequest<'_>) -> bool {
        self.allows_test_mode(request) && self.allows_currency(request) && self.allows_any_brand(request)
    }
}

/// Returns true if a list contains a value. An empty list accepts every value.
fn allows_value(accepted: &[String], value: &str) -> bool {
    accepted.is_empty() || accepted.iter().any(|item| item == value)
}

/// Sorts the channels of a merchant into the order in which they are tried: by priority, lowest number first, then by
/// id, which means by age.
pub fn sort_by_priority<E: AsRef<Entity>>(channels: &mut [E]) {
    channels.sort_by(|a, b| {
        let key = |entity: &E| (entity.as_ref().settings.channel.priority, entity.as_ref().id.clone());
        key(a).cmp(&key(b))
    });
}

/// Selects the first channel in the given order that accepts a request.
///
/// # Errors
/// If no channel accepts the request. The code depends on the first property that no remaining channel accepts:
/// 600.200.700 for the test mode, also if there is no channel; 600.200.500 for the currency, and for a brand if other
/// brands of its kind are offered; 600.200.201 for a brand of a kind that is not offered.
pub fn select_channel<'e, E: AsRef<Entity>>(channels: &'e [E], request: &ChannelRequest<'_>) -> Result<&'e E, Refusal> {
    let candidates: Vec<&E> =
        channels.iter().filter(|entity| channel_settings(*entity).allows_test_mode(request)).collect();
    if candidates.is_empty() {
        return Err(Refusal::not_configured(codes::MODE_NOT_CONFIGURED));
    }
    let candidates: Vec<&E> =
        candidates.into_iter().filter(|entity| channel_settings(*entity).allows_currency(request)).collect();
    if candidates.is_empty() {
        return Err(Refusal::not_configured(codes::SUBTYPE_NOT_CONFIGURED));
    }
    candidates.iter().find(|entity| channel_settings(**entity).allows_any_brand(request)).copied().ok_or_else(|| {
        Refusal::not_configured(missing_brand_code(candidates.iter().map(|entity| channel_settings(*entity)), request))
    })
}

fn channel_settings<E: AsRef<Entity>>(entity: &E) -> &Channel {
    &entity.as_ref().settings.channel
}

/// Returns the code that refuses a brand that none of the channels accepts: 600.200.500 if they list another brand of
/// its kind (a card, a bank account, a wallet …), otherwise 600.200.201.
fn missing_brand_code<'a>(channels: impl Iterator<Item = &'a Channel>, request: &ChannelRequest<'_>) -> ResultCode {
    let accepted = channels.flat_map(|channel| &channel.brands).filter_map(|code| Brand::find(code));
    let mut kinds = accepted.map(|brand| brand.kind);
    if kinds.any(|kind| request.brands.iter().any(|brand| brand.kind == kind)) {
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

    use crate::access::channel::*;
    use crate::access::entity::EntitySettings;
    use crate::access::level::Level;
    use crate::id::EntityId;

    /// Creates a channel whose id has the age `number`, with default settings except for the change.
    fn create_channel(number: u8, change: impl FnOnce(&mut Channel)) -> Arc<Entity> {
        let mut channel = Channel::default();
        change(&mut channel);
        Arc::new(Entity {
            id: EntityId::new(Timestamp::UNIX_EPOCH, [number; 9]),
            name: format!("channel {number}"),
            live: false,
            level: Level::Channel,
            parent: Some(EntityId::new(Timestamp::UNIX_EPOCH, [0; 9])),
            ahead: jiff::SignedDuration::ZERO,
            settings: EntitySettings { channel, ..EntitySettings::default() },
        })
    }

    fn to_strings(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    fn create_request<'a>(brand: &str, currency: &'a str, test_mode: &'a str) -> ChannelRequest<'a> {
        let brands = Brand::find(brand).into_iter().collect();
        ChannelRequest { brands, currency: Some(currency), test_mode: Some(test_mode) }
    }

    /// Channels by age: one for cards in euros, one for cards in yen, and one for everything else in any currency.
    fn create_channels() -> Vec<Arc<Entity>> {
        vec![
            create_channel(1, |channel| {
                channel.brands = to_strings(&["VISA", "MASTER"]);
                channel.currencies = to_strings(&["EUR"]);
            }),
            create_channel(2, |channel| {
                channel.brands = to_strings(&["VISA", "JCB"]);
                channel.currencies = to_strings(&["JPY"]);
            }),
            create_channel(3, |channel| {
                channel.brands = to_strings(&["PAYPAL", "VISA"]);
                channel.test_modes = to_strings(&["INTERNAL"]);
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
            assert_eq!(
                select_channel(&create_channels(), &create_request(brand, currency, mode)).unwrap().name,
                name,
                "{brand} {currency}"
            );
        }
        let any_brand = ChannelRequest { currency: Some("JPY"), ..ChannelRequest::default() };
        assert_eq!(select_channel(&create_channels(), &any_brand).unwrap().name, "channel 2");
    }

    #[test]
    fn what_no_channel_takes_is_refused_with_its_own_code() {
        let euro = &create_channels()[..1];
        for (channels, brand, currency, mode, code) in [
            (euro, "VISA", "USD", "INTERNAL", "600.200.500"),
            (euro, "JCB", "EUR", "INTERNAL", "600.200.500"),
            (euro, "PAYPAL", "EUR", "INTERNAL", "600.200.201"),
            (&create_channels()[2..], "VISA", "EUR", "EXTERNAL", "600.200.700"),
            (&create_channels()[..], "PAYPAL", "USD", "EXTERNAL", "600.200.500"),
        ] {
            let refusal = select_channel(channels, &create_request(brand, currency, mode)).unwrap_err();
            assert_eq!(refusal.code.code(), code, "{brand} {currency} {mode}");
        }
    }

    #[test]
    fn channels_are_asked_by_priority_and_then_by_age() {
        let mut channels = vec![
            create_channel(3, |channel| channel.priority = 5),
            create_channel(2, |_| ()),
            create_channel(1, |_| ()),
            create_channel(4, |channel| channel.priority = 500),
        ];
        sort_by_priority(&mut channels);
        let names: Vec<&str> = channels.iter().map(|entity| entity.name.as_str()).collect();
        assert_eq!(names, ["channel 3", "channel 1", "channel 2", "channel 4"]);
    }

    #[test]
    fn settings_that_were_stored_before_there_were_channels_offer_everything() {
        let settings: EntitySettings = serde_json::from_str(r#"{"strict":true}"#).unwrap();
        assert_eq!(settings.channel, Channel::default());
        assert!(settings.channel.allows_request(&create_request("JCB", "JPY", "EXTERNAL")));
    }
}
