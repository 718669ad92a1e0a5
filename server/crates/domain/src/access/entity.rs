//! Entities: merchants, channels of merchants, and the PSPs and divisions above merchants. Each has its own
//! credentials and settings.

use jiff::SignedDuration;
use serde::{Deserialize, Serialize};
use tillgate_shared::format::url;
use tillgate_shared::parameter::Requirements;

use crate::access::channel::Channel;
use crate::access::form_look::FormLook;
use crate::access::level::Level;
use crate::id::EntityId;
use crate::payment::overcapture::Overcapture;
use crate::refusal::Refusal;

/// Furthest that a sandbox's clock can be moved ahead. It is far enough to test the end of long retentions.
pub const MAX_CLOCK_ADVANCE: SignedDuration = SignedDuration::from_hours(10 * 366 * 24);

/// Time zone of an entity that has none of its own.
pub const DEFAULT_ZONE: &str = "UTC";

/// A node of the entity tree. Payments belong to merchants and channels.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entity {
    /// The id, sent as `entityId` in every request.
    pub id: EntityId,
    /// The name. The statement descriptor ends with it.
    pub name: String,
    /// True if real money moves. Entities are sandboxes unless created as live.
    pub live: bool,
    /// The level in the tree.
    #[serde(default)]
    pub level: Level,
    /// The entity directly above; always the merchant for a channel. `None` at the top of a tree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<EntityId>,
    /// Time by which its clock is moved forward. Channels use the clock of their merchant. Always zero for a live
    /// entity.
    #[serde(default, skip_serializing_if = "SignedDuration::is_zero")]
    pub ahead: SignedDuration,
    /// Settings that the operator may choose.
    pub settings: EntitySettings,
}

/// Settings of an entity. Each default is the one that the specification requires.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct EntitySettings {
    /// Refuse parameters that are not in the catalogue, naming each, instead of ignoring them.
    pub strict: bool,
    /// Accept customer parameters without given name and surname. The specification requires both.
    pub customer_names_optional: bool,
    /// Origins of the merchant's pages. If set, only these pages may embed the form's frames.
    pub origins: Vec<String>,
    /// Decline a payment whose merchantTransactionId has already been paid (800.110.100).
    pub refuse_duplicates: bool,
    /// Let a browser store accounts: `createRegistration` is accepted from a form (contract, 0.34). `None` for the
    /// default, which is yes. A single checkout can allow or refuse it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub browser_registrations: Option<bool>,
    /// Let a browser set `customer.merchantCustomerId`.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub browser_customer_ids: bool,
    /// Never tell a browser that a payment was declined. The form then cannot stay for another try (`retryInPlace`).
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub hide_declines: bool,
    /// Accept card numbers in a sandbox that are not documented test numbers, for generated data.
    pub sandbox_any_number: bool,
    /// Accept requests in the form that clients of other gateways with this contract send: see
    /// `docs/compatibility.md`. A merchant's channels use the setting of their merchant.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub compatible: bool,
    /// Name of the time zone of its schedules and settlements, from the IANA database. `None` for UTC.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_zone: Option<String>,
    /// The plan for retries of scheduled payments, in the form of a
    /// [`RetryPlan`](crate::schedule::retry::RetryPlan). `None` for the default plan.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schedule_retries: Option<String>,
    /// Refunds that need a second person in the back office, in the form of a
    /// [`RefundApproval`](crate::access::approval::RefundApproval). `None` for none. A channel without its own value
    /// uses that of its merchant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refund_approval: Option<String>,
    /// True if another version of risk rules in the back office needs a second person. A channel without its own value
    /// uses that of its merchant.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub rule_approval: bool,
    /// True if acts on keys and credentials in the back office need a second person. A channel without its own value
    /// uses that of its merchant.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub key_approval: bool,
    /// The identifier of the creditor in mandates of direct debits, as
    /// [`parse_creditor_id`](crate::access::creditor_id::parse_creditor_id) returns it. A channel without its own value
    /// uses that of its merchant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sepa_creditor_id: Option<String>,
    /// Tolerance of captures above the authorized amount. A channel without its own value uses that of its
    /// merchant.
    #[serde(skip_serializing_if = "Overcapture::is_none")]
    pub overcapture: Overcapture,
    /// Days for which a preauthorization can be captured, 1 to 30. `None` for the gateway's own time. A channel without
    /// its own value uses that of its merchant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub authorization_days: Option<u8>,
    /// The look of the payment form. A channel has each part that it has not chosen from its merchant.
    #[serde(skip_serializing_if = "FormLook::is_default")]
    pub form_look: FormLook,
    /// Names of the settings whose default was chosen explicitly, so that they are not inherited (see
    /// [`crate::access::inheritance`]).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub chosen_defaults: Vec<String>,
    /// Settings of the entity as a channel.
    pub channel: Channel,
}

/// Name of the setting for registrations by browsers.
const BROWSER_REGISTRATIONS: &str = "browser-registrations";

impl EntitySettings {
    /// Reads stored settings. Stores of earlier versions, whose default for registrations by browsers was no, have only
    /// a mark where no was chosen.
    ///
    /// # Errors
    /// If the text is not JSON of settings.
    pub fn from_json(text: &str) -> serde_json::Result<Self> {
        let mut settings: Self = serde_json::from_str(text)?;
        let is_marked = settings.chosen_defaults.iter().any(|name| name == BROWSER_REGISTRATIONS);
        if is_marked && settings.browser_registrations.is_none() {
            settings.browser_registrations = Some(false);
            settings.chosen_defaults.retain(|name| name != BROWSER_REGISTRATIONS);
        }
        Ok(settings)
    }

    /// Returns true if browsers may store accounts.
    pub fn allows_browser_registrations(&self) -> bool {
        self.browser_registrations.unwrap_or(true)
    }

    /// Returns true if an address is a page of the merchant: it begins with a named origin, in any case, which its
    /// path, query or fragment follows. Without named origins every address is accepted.
    pub fn allows_page(&self, address: &str) -> bool {
        let matches_origin = |origin: &String| {
            let (start, rest) = address.split_at_checked(origin.len())?;
            Some(start.eq_ignore_ascii_case(origin) && (rest.is_empty() || rest.starts_with(['/', '?', '#'])))
        };
        self.origins.is_empty() || self.origins.iter().any(|origin| matches_origin(origin).unwrap_or(false))
    }

    /// Returns true if a shopper may return to an address: a page of the merchant, or an app, whose address has no
    /// origin.
    pub fn allows_result(&self, address: &str) -> bool {
        !url::is_http(address) || self.allows_page(address)
    }

    /// Returns true if an address has an origin that the operator named for this entity. Without named origins it
    /// returns false, because a browser could send any address.
    pub fn has_named_origin(&self, address: &str) -> bool {
        !self.origins.is_empty() && self.allows_page(address)
    }
}

impl AsRef<Self> for Entity {
    fn as_ref(&self) -> &Self {
        self
    }
}

impl Entity {
    /// Returns its merchant id at the acquirer: the one that was set, or its own id.
    pub fn acquirer_merchant_id(&self) -> &str {
        self.settings.channel.acquirer_merchant.as_deref().unwrap_or(self.id.as_str())
    }

    /// Returns the merchant of a channel, or `None` if the entity is not a channel.
    pub fn parent_merchant(&self) -> Option<&EntityId> {
        self.parent.as_ref().filter(|_| self.level == Level::Channel)
    }

    /// Returns the merchant of a channel, or the entity itself.
    pub fn merchant_or_self(&self) -> &EntityId {
        self.parent_merchant().unwrap_or(&self.id)
    }

    /// Returns the name of the time zone of its schedules and settlements.
    pub fn zone_name(&self) -> &str {
        self.settings.time_zone.as_deref().unwrap_or(DEFAULT_ZONE)
    }

    /// Returns the entity whose clock applies: the merchant for a channel, otherwise the entity itself.
    pub fn clock_owner(&self) -> &EntityId {
        self.merchant_or_self()
    }

    /// Parses the duration by which its clock is to be moved further, such as `30m` or `PT30M`. Does not move the
    /// clock.
    ///
    /// # Errors
    /// 404 if the entity is live or takes no payments, because it has no clock that can be moved. 400 if the text is
    /// not a duration, is negative, or moves the clock beyond [`MAX_CLOCK_ADVANCE`]; the refusal then names `advance`.
    pub fn parse_clock_advance(&self, text: &str) -> Result<SignedDuration, Refusal> {
        if self.live {
            return Err(Refusal::not_found("The entity is live: its clock cannot be moved"));
        }
        if !self.level.allows_payments() {
            let level = self.level.display_name();
            return Err(Refusal::not_found(format!("The entity is a {level}: each merchant below it has a clock")));
        }
        let refuse = |message: &str| Refusal::invalid_parameter("advance", Some(text), message);
        let by: SignedDuration = text.parse().map_err(|_| refuse("must be a duration such as 30m, 25h or 2h 30m"))?;
        if by.is_negative() {
            return Err(refuse("may not be negative: a clock goes forward"));
        }
        match self.ahead.checked_add(by) {
            Some(ahead) if ahead <= MAX_CLOCK_ADVANCE => Ok(by),
            _ => Err(refuse("must not move the clock more than ten years ahead of the machine's clock")),
        }
    }

    /// Returns the requirements of this entity for the parameters of a payment, in addition to their formats: the
    /// customer's names, unless its settings make them optional.
    pub fn parameter_requirements(&self) -> Requirements {
        Requirements { customer_names_required: !self.settings.customer_names_optional, ..Requirements::default() }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use crate::access::entity::*;

    #[test]
    fn browsers_store_accounts_unless_the_entity_has_said_no() {
        for (stored, allowed) in [
            ("{}", true),
            (r#"{"browser_registrations":true}"#, true),
            (r#"{"browser_registrations":false}"#, false),
            // The mark of an earlier version.
            (r#"{"chosen_defaults":["strict","browser-registrations"]}"#, false),
            (r#"{"browser_registrations":true,"chosen_defaults":["strict"]}"#, true),
        ] {
            let settings = EntitySettings::from_json(stored).unwrap();
            assert_eq!(settings.allows_browser_registrations(), allowed, "{stored}");
            let again = EntitySettings::from_json(&serde_json::to_string(&settings).unwrap()).unwrap();
            assert_eq!(again, settings, "{stored}");
        }
    }

    #[test]
    fn a_page_is_the_merchants_when_its_origin_is() {
        let settings = EntitySettings { origins: vec!["https://shop.example".to_owned()], ..EntitySettings::default() };
        for (address, expected) in [
            ("https://shop.example", true),
            ("https://Shop.Example/back?x=1", true),
            ("https://shop.example?x", true),
            ("https://shop.example.evil.example/", false),
            ("https://shop.example:8443/", false),
            ("http://shop.example/", false),
            ("https://evil.example/https://shop.example/", false),
            ("https://ü", false),
        ] {
            assert_eq!(settings.allows_page(address), expected, "{address}");
            assert_eq!(settings.has_named_origin(address), expected, "{address}");
            assert_eq!(settings.allows_result(address), expected, "{address}");
        }
        assert!(settings.allows_result("my.app://done") && !settings.has_named_origin("my.app://done"));
        assert!(EntitySettings::default().allows_page("https://anywhere.example/"));
        assert!(!EntitySettings::default().has_named_origin("https://anywhere.example/"));
    }
}
