//! Entities: a merchant, with channels or without, one of its channels, or a PSP or division above merchants; each with
//! credentials and settings of its own.

use jiff::SignedDuration;
use serde::{Deserialize, Serialize};
use tillgate_shared::parameter::Requirements;

use super::channel::Channel;
use super::id::EntityId;
use super::level::Level;
use super::refusal::Refusal;

/// How far a sandbox's clock can be moved: what is kept on file for long can be seen to end.
pub const FURTHEST: SignedDuration = SignedDuration::from_hours(10 * 366 * 24);

/// A node of the tree: payments belong to merchants and channels.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entity {
    /// Its id, sent as `entityId` with every request.
    pub id: EntityId,
    /// Its name; the statement descriptor ends with it.
    pub name: String,
    /// Whether real money moves. Sandbox unless made live.
    pub live: bool,
    /// Its level.
    #[serde(default)]
    pub level: Level,
    /// The entity that it stands directly below: of a channel always its merchant. `None` at the top of a tree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<EntityId>,
    /// How far its clock has been moved forward; a merchant's channels go by the merchant's. Always zero of a live entity.
    #[serde(default, skip_serializing_if = "SignedDuration::is_zero")]
    pub ahead: SignedDuration,
    /// What the operator may choose for it.
    pub settings: Settings,
}

/// An entity's options; each has the default that the specification asks for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// Refuse parameters that the catalogue does not know, by name, instead of ignoring them.
    pub strict: bool,
    /// Take customer parameters without given name and surname. The specification asks for both.
    pub customer_names_optional: bool,
    /// Origins of the merchant's pages. When set, only they may embed the form's frames.
    pub origins: Vec<String>,
    /// Decline a payment whose merchantTransactionId has been paid (800.110.100).
    pub refuse_duplicates: bool,
    /// Let a browser store accounts: `createRegistration` counts from a form. A checkout can allow it by itself.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub browser_registrations: bool,
    /// Let a browser set `customer.merchantCustomerId`.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub browser_customer_ids: bool,
    /// Take card numbers in a sandbox that are no documented test numbers, for generated data.
    pub sandbox_any_number: bool,
    /// Take what clients of other gateways of this contract send: see `docs/compatibility.md`. A merchant's channels have it
    /// with their merchant.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub compatible: bool,
    /// The names of the settings whose default was chosen, so that it is not inherited (see [`super::inheritance`]).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub chosen_defaults: Vec<String>,
    /// What it offers as a channel.
    pub channel: Channel,
}

impl Settings {
    /// Whether an address is one of the merchant's pages, as far as its origins are known.
    pub fn has_page(&self, address: &str) -> bool {
        let begins = |origin: &String| {
            let (start, rest) = address.split_at_checked(origin.len())?;
            Some(start.eq_ignore_ascii_case(origin) && (rest.is_empty() || rest.starts_with(['/', '?', '#'])))
        };
        self.origins.is_empty() || self.origins.iter().any(|origin| begins(origin).unwrap_or(false))
    }

    /// Returns true if an address lies on an origin that the operator named for this entity. Without named origins a browser
    /// could name any address of the world.
    pub fn has_named_page(&self, address: &str) -> bool {
        !self.origins.is_empty() && self.has_page(address)
    }
}

impl AsRef<Self> for Entity {
    fn as_ref(&self) -> &Self {
        self
    }
}

impl Entity {
    /// Returns the merchant of a channel. `None` if it is no channel.
    pub fn merchant(&self) -> Option<&EntityId> {
        self.parent.as_ref().filter(|_| self.level == Level::Channel)
    }

    /// Returns the merchant of a channel, or the entity itself.
    pub fn merchant_or_self(&self) -> &EntityId {
        self.merchant().unwrap_or(&self.id)
    }

    /// Whose clock it goes by: its merchant's, where it is a channel.
    pub fn clock(&self) -> &EntityId {
        self.merchant_or_self()
    }

    /// Reads how far its clock shall be moved, such as `30m` or `PT30M`.
    ///
    /// # Errors
    /// 404 for a live entity, whose clock cannot be moved; a refusal that names `advance` where that is no duration, goes
    /// back, or beyond [`FURTHEST`].
    pub fn advance(&self, text: &str) -> Result<SignedDuration, Refusal> {
        if self.live {
            return Err(Refusal::not_found("Only the clock of a sandbox entity can be moved"));
        }
        let refuse = |message: &str| Refusal::parameter("advance", Some(text), message);
        let by: SignedDuration = text.parse().map_err(|_| refuse("must be a duration such as 30m, 25h or 2h 30m"))?;
        if by.is_negative() {
            return Err(refuse("may not be negative: a clock goes forward"));
        }
        match self.ahead.checked_add(by) {
            Some(ahead) if ahead <= FURTHEST => Ok(by),
            _ => Err(refuse("moves the clock more than ten years ahead of the machine's, which is as far as it goes")),
        }
    }

    /// What this entity asks of a payment beyond the formats.
    pub fn requirements(&self) -> Requirements {
        Requirements { customer_names_required: !self.settings.customer_names_optional, ..Requirements::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_the_merchants_when_its_origin_is() {
        let settings = Settings { origins: vec!["https://shop.example".to_owned()], ..Settings::default() };
        for (address, is) in [
            ("https://shop.example", true),
            ("https://Shop.Example/back?x=1", true),
            ("https://shop.example?x", true),
            ("https://shop.example.evil.example/", false),
            ("https://shop.example:8443/", false),
            ("http://shop.example/", false),
            ("https://evil.example/https://shop.example/", false),
            ("https://ü", false),
        ] {
            assert_eq!(settings.has_page(address), is, "{address}");
            assert_eq!(settings.has_named_page(address), is, "{address}");
        }
        assert!(Settings::default().has_page("https://anywhere.example/"));
        assert!(!Settings::default().has_named_page("https://anywhere.example/"));
    }
}
