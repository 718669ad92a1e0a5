//! Options for an entity's settings as a channel, for the commands that create and change entities.

use clap::{Args, ValueEnum};
use tillgate_domain::access::channel::ThreeDsPolicy;
use tillgate_domain::risk::{ReviewPolicy, RiskErrorPolicy, ScreeningPoint};
use tillgate_gateway::access::channel_settings::{
    ALL, ChannelChange, parse_acquirer_merchant, parse_brand, parse_connector, parse_currency,
};
use tillgate_gateway::registry;

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
    /// Returns the change of settings that was given.
    pub(in crate::cli) fn to_change(&self) -> ChannelChange {
        let is_on = |given: OnOff| given == OnOff::On;
        ChannelChange {
            brands: self.brands.clone(),
            currencies: self.currencies.clone(),
            test_modes: self.test_modes.clone(),
            three_ds: self.three_ds.map(|when| match when {
                ThreeDsChoice::Required => ThreeDsPolicy::Required,
                ThreeDsChoice::Enrolled => ThreeDsPolicy::WhenEnrolled,
                ThreeDsChoice::Never => ThreeDsPolicy::Never,
            }),
            risk: self.risk.map(is_on),
            screen: self.screen.map(|when| match when {
                ScreenChoice::Before => ScreeningPoint::Before,
                ScreenChoice::After => ScreeningPoint::After,
            }),
            review: self.review.map(|policy| match policy {
                ReviewChoice::Decline => ReviewPolicy::Decline,
                ReviewChoice::Hold => ReviewPolicy::Hold,
                ReviewChoice::Authorize => ReviewPolicy::Authorize,
            }),
            risk_error: self.risk_error.map(|policy| match policy {
                RiskErrorChoice::Deny => RiskErrorPolicy::Deny,
                RiskErrorChoice::Accept => RiskErrorPolicy::Accept,
            }),
            require_cvv: self.require_cvv.map(is_on),
            registrations_require_cvv: self.registrations_require_cvv.map(is_on),
            connector: self.connector.clone(),
            acquirer_merchant: self.acquirer_merchant.clone(),
            priority: self.priority,
        }
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
