//! Changes of an entity's settings as a channel.

use tillgate_domain::access::channel::Channel;
use tillgate_domain::risk::{ReviewPolicy, RiskErrorPolicy, ScreeningPoint};
use tillgate_domain::three_ds::ThreeDsPolicy;
use tillgate_shared::brand::Brand;
use tillgate_shared::money::Currency;

use crate::registry;

/// The value that removes a limit.
pub const ALL: &str = "all";
/// The value that removes the connector, or the acquirer's id.
pub(super) const NONE: &str = "none";

/// A change of the settings of an entity as a channel. `None` changes nothing; a list with [`ALL`] removes the limit.
#[derive(Debug, Default)]
pub struct ChannelChange {
    /// Codes of the brands that it offers, checked by [`parse_brand`].
    pub brands: Option<Vec<String>>,
    /// Codes of the currencies that it takes, checked by [`parse_currency`].
    pub currencies: Option<Vec<String>>,
    /// The test modes that it takes as a sandbox.
    pub test_modes: Option<Vec<String>>,
    /// The cards that need 3-D Secure.
    pub three_ds: Option<ThreeDsPolicy>,
    /// True to check payments by risk rules.
    pub risk: Option<bool>,
    /// The time of the risk check.
    pub screen: Option<ScreeningPoint>,
    /// The effect of a rule that demands a review.
    pub review: Option<ReviewPolicy>,
    /// The effect of a risk check that fails.
    pub risk_error: Option<RiskErrorPolicy>,
    /// True to demand the security code of a card that is typed into a form.
    pub require_cvv: Option<bool>,
    /// True to demand the security code of a stored card in a form.
    pub registrations_require_cvv: Option<bool>,
    /// Name of the connector, checked by [`parse_connector`].
    pub connector: Option<String>,
    /// The acquirer's id of the merchant, checked by [`parse_acquirer_merchant`].
    pub acquirer_merchant: Option<String>,
    /// Its place among the merchant's channels.
    pub priority: Option<u32>,
}

impl ChannelChange {
    /// Returns true if test modes were given, and not all of them.
    pub(super) fn has_test_modes(&self) -> bool {
        self.test_modes.iter().flatten().any(|word| word != ALL)
    }

    /// Replaces the settings that were given.
    pub(super) fn apply(&self, channel: &mut Channel) {
        let set_list = |setting: &mut Vec<String>, given: &Option<Vec<String>>| match given {
            Some(words) if words.iter().any(|word| word == ALL) => setting.clear(),
            Some(words) => setting.clone_from(words),
            None => {}
        };
        set_list(&mut channel.brands, &self.brands);
        set_list(&mut channel.currencies, &self.currencies);
        set_list(&mut channel.test_modes, &self.test_modes);
        channel.three_d = self.three_ds.unwrap_or(channel.three_d);
        channel.risk = self.risk.unwrap_or(channel.risk);
        let risk = &mut channel.risk_settings;
        risk.screen = self.screen.unwrap_or(risk.screen);
        risk.review = self.review.unwrap_or(risk.review);
        risk.error = self.risk_error.unwrap_or(risk.error);
        channel.require_cvv = self.require_cvv.unwrap_or(channel.require_cvv);
        channel.registrations_require_cvv = self.registrations_require_cvv.unwrap_or(channel.registrations_require_cvv);
        if let Some(name) = &self.connector {
            channel.connector = Some(name.clone()).filter(|name| name != NONE);
        }
        if let Some(id) = &self.acquirer_merchant {
            channel.acquirer_merchant = Some(id.clone()).filter(|id| id != NONE);
        }
        channel.priority = self.priority.unwrap_or(channel.priority);
    }

    /// Returns the names of the inheritable settings, and true for each that was given. A channel's priority cannot be
    /// inherited.
    pub(super) fn given_settings(&self) -> [(&'static str, bool); 12] {
        [
            ("brands", self.brands.is_some()),
            ("currencies", self.currencies.is_some()),
            ("test-modes", self.test_modes.is_some()),
            ("3d", self.three_ds.is_some()),
            ("risk", self.risk.is_some()),
            ("screen", self.screen.is_some()),
            ("review", self.review.is_some()),
            ("risk-error", self.risk_error.is_some()),
            ("require-cvv", self.require_cvv.is_some()),
            ("registrations-require-cvv", self.registrations_require_cvv.is_some()),
            ("connector", self.connector.is_some()),
            ("acquirer-merchant", self.acquirer_merchant.is_some()),
        ]
    }
}

/// Checks that a text is the code of a known brand, or `all`.
///
/// # Errors
/// A message that follows the name of the setting.
pub fn parse_brand(text: &str) -> Result<String, String> {
    if text == ALL || Brand::find(text).is_some() {
        Ok(text.to_owned())
    } else {
        Err("is not a brand that this gateway knows, such as VISA, nor the word all".to_owned())
    }
}

/// Checks that a text is the code of a currency in use, or `all`.
///
/// # Errors
/// A message that follows the name of the setting.
pub fn parse_currency(text: &str) -> Result<String, String> {
    if text == ALL || Currency::parse(text).is_some() {
        Ok(text.to_owned())
    } else {
        Err("is not an ISO 4217 code in use, such as EUR, nor the word all".to_owned())
    }
}

/// Checks that a text is the name of a connector, or `none`.
///
/// # Errors
/// A message that follows the name of the setting, with the names that exist.
pub fn parse_connector(text: &str) -> Result<String, String> {
    if text == NONE || registry::connector_names().any(|name| name == text) {
        return Ok(text.to_owned());
    }
    let names: Vec<&str> = registry::connector_names().chain([NONE]).collect();
    Err(format!("is not a connector of this gateway, which are {}", names.join(", ")))
}

/// Checks an acquirer's id of a merchant: 1 to 64 visible ASCII characters, among them the word `none`.
///
/// # Errors
/// A message that follows the name of the setting.
pub fn parse_acquirer_merchant(text: &str) -> Result<String, String> {
    if (1..=64).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Ok(text.to_owned());
    }
    Err("has 1 to 64 visible characters, without blanks".to_owned())
}
