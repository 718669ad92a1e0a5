//! Options for an entity's settings as a channel, for the commands that create and change entities.

use clap::{Args, ValueEnum};
use tillgate_domain::access::channel::{Channel, ThreeDsPolicy};
use tillgate_domain::risk::{ReviewPolicy, RiskErrorPolicy, ScreeningPoint};
use tillgate_gateway::registry;
use tillgate_shared::brand::Brand;
use tillgate_shared::money::Currency;

/// The value that removes a limit.
const ALL: &str = "all";
/// The value that removes the connector, or the acquirer's id.
const NONE: &str = "none";

/// Settings of an entity as a channel.
#[derive(Debug, Args)]
#[command(next_help_heading = "Channel")]
pub(in crate::cli) struct ChannelOptions {
    /// The brands that it offers, with commas between; all of them without this.
    #[arg(long, value_name = "CODES", value_delimiter = ',', value_parser = parse_brand)]
    brands: Option<Vec<String>>,
    /// The currencies that it takes, with commas between; all of them without this.
    #[arg(long, value_name = "CODES", value_delimiter = ',', value_parser = parse_currency)]
    currencies: Option<Vec<String>>,
    /// The test modes that it takes as a sandbox, INTERNAL or EXTERNAL; both without this.
    #[arg(long, value_name = "MODES", value_delimiter = ',', value_parser = ["INTERNAL", "EXTERNAL", ALL])]
    test_modes: Option<Vec<String>>,
    /// The cards that need 3-D Secure; those that are enrolled without this.
    #[arg(long = "3d", value_name = "WHEN", value_enum)]
    three_ds: Option<ThreeDsChoice>,
    /// Pass payments through the risk check; off without this.
    #[arg(long, value_name = "on|off", value_enum)]
    risk: Option<OnOff>,
    /// Check before the connector is asked, or after its approval, which is then reversed if need be; before without
    /// this.
    #[arg(long, value_name = "WHEN", value_enum)]
    screen: Option<ScreenChoice>,
    /// Decline payments that the rules want reviewed, hold them, or authorize and hold them; decline without this.
    #[arg(long, value_name = "decline|hold|authorize", value_enum)]
    review: Option<ReviewChoice>,
    /// Decline payments whose risk check fails, or accept them with a mark; deny without this.
    #[arg(long, value_name = "deny|accept", value_enum)]
    risk_error: Option<RiskErrorChoice>,
    /// Demand the security code of a card that is typed into a form, whatever its page asks for; off without this.
    #[arg(long, value_name = "on|off", value_enum)]
    require_cvv: Option<OnOff>,
    /// Demand the security code of a stored card in a form, whatever its page asks for; off without this.
    #[arg(long, value_name = "on|off", value_enum)]
    registrations_require_cvv: Option<OnOff>,
    #[arg(long, value_name = "NAME", value_parser = parse_connector, help = connector_help())]
    connector: Option<String>,
    /// The id by which the acquirer knows it, 1 to 64 visible characters, or `none`; its entityId without this.
    #[arg(long, value_name = "ID", value_parser = parse_acquirer_merchant)]
    acquirer_merchant: Option<String>,
    /// Its place among the merchant's channels: the lowest that takes a payment gets it; 100 without this.
    #[arg(long, value_name = "NUMBER")]
    priority: Option<u32>,
}

/// A switch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum OnOff {
    On,
    Off,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ThreeDsChoice {
    Required,
    #[value(name = "when-enrolled")]
    Enrolled,
    Never,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ScreenChoice {
    Before,
    After,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ReviewChoice {
    Decline,
    Hold,
    Authorize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum RiskErrorChoice {
    Deny,
    Accept,
}

impl ChannelOptions {
    /// Returns true if test modes were given, and not `all` of them.
    pub(in crate::cli) fn has_test_modes(&self) -> bool {
        self.test_modes.iter().flatten().any(|word| word != ALL)
    }

    /// Replaces the settings that were given. `all` empties a list, and `none` removes the connector or the acquirer's
    /// id.
    pub(in crate::cli) fn apply(&self, channel: &mut Channel) {
        let set_list = |setting: &mut Vec<String>, given: &Option<Vec<String>>| match given {
            Some(words) if words.iter().any(|word| word == ALL) => setting.clear(),
            Some(words) => setting.clone_from(words),
            None => {}
        };
        set_list(&mut channel.brands, &self.brands);
        set_list(&mut channel.currencies, &self.currencies);
        set_list(&mut channel.test_modes, &self.test_modes);
        if let Some(when) = self.three_ds {
            channel.three_d = match when {
                ThreeDsChoice::Required => ThreeDsPolicy::Required,
                ThreeDsChoice::Enrolled => ThreeDsPolicy::WhenEnrolled,
                ThreeDsChoice::Never => ThreeDsPolicy::Never,
            };
        }
        if let Some(risk) = self.risk {
            channel.risk = risk == OnOff::On;
        }
        if let Some(when) = self.screen {
            channel.risk_settings.screen = match when {
                ScreenChoice::Before => ScreeningPoint::Before,
                ScreenChoice::After => ScreeningPoint::After,
            };
        }
        if let Some(policy) = self.review {
            channel.risk_settings.review = match policy {
                ReviewChoice::Decline => ReviewPolicy::Decline,
                ReviewChoice::Hold => ReviewPolicy::Hold,
                ReviewChoice::Authorize => ReviewPolicy::Authorize,
            };
        }
        if let Some(policy) = self.risk_error {
            channel.risk_settings.error = match policy {
                RiskErrorChoice::Deny => RiskErrorPolicy::Deny,
                RiskErrorChoice::Accept => RiskErrorPolicy::Accept,
            };
        }
        if let Some(require) = self.require_cvv {
            channel.require_cvv = require == OnOff::On;
        }
        if let Some(require) = self.registrations_require_cvv {
            channel.registrations_require_cvv = require == OnOff::On;
        }
        if let Some(name) = &self.connector {
            channel.connector = Some(name.clone()).filter(|name| name != NONE);
        }
        if let Some(id) = &self.acquirer_merchant {
            channel.acquirer_merchant = Some(id.clone()).filter(|id| id != NONE);
        }
        channel.priority = self.priority.unwrap_or(channel.priority);
    }

    /// Returns the inheritable settings by the names of their options, and true for each that was given. A channel's
    /// priority cannot be inherited.
    pub(in crate::cli) fn given_options(&self) -> [(&'static str, bool); 12] {
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
fn parse_brand(text: &str) -> Result<String, String> {
    if text == ALL || Brand::find(text).is_some() {
        Ok(text.to_owned())
    } else {
        Err("is not a brand that this gateway knows, such as VISA, nor the word all".to_owned())
    }
}

/// Checks that a text is the code of a currency in use, or `all`.
fn parse_currency(text: &str) -> Result<String, String> {
    if text == ALL || Currency::parse(text).is_some() {
        Ok(text.to_owned())
    } else {
        Err("is not an ISO 4217 code in use, such as EUR, nor the word all".to_owned())
    }
}

/// Describes the option that names a connector.
fn connector_help() -> String {
    format!(
        "The connector that its payments take, or `none`. `http` is the host that `serve --acquirer` names. Without one a \
         sandbox takes the {}, and a live entity no payment",
        registry::default_name()
    )
}

/// Checks that a text is the name of a connector, or `none`.
fn parse_connector(text: &str) -> Result<String, String> {
    if text == NONE || registry::connector_names().any(|name| name == text) {
        return Ok(text.to_owned());
    }
    let names: Vec<&str> = registry::connector_names().chain([NONE]).collect();
    Err(format!("is not a connector of this gateway, which are {}", names.join(", ")))
}

/// Checks an acquirer's id of a merchant: 1 to 64 visible ASCII characters, among them the word `none`.
fn parse_acquirer_merchant(text: &str) -> Result<String, String> {
    if (1..=64).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Ok(text.to_owned());
    }
    Err("has 1 to 64 visible characters, without blanks".to_owned())
}
