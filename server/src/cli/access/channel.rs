//! Options for an entity's settings as a channel, for the commands that create and change entities.

use clap::{Args, ValueEnum};
use tillgate_domain::risk::{ReviewPolicy, RiskErrorPolicy, ScreeningPoint};
use tillgate_domain::three_ds::ThreeDsPolicy;
use tillgate_gateway::access::channel_settings::{
    ALL, ChannelChange, parse_acquirer_merchant, parse_brand, parse_connector, parse_currency,
};
use tillgate_gateway::registry;

/// Settings of an entity as a channel.
#[derive(Debug, Args)]
#[command(next_help_heading = "Channel")]
pub(in crate::cli) struct ChannelOptions {
    /// Brands that the channel offers, separated by commas. Default: all.
    #[arg(long, value_name = "CODES", value_delimiter = ',', value_parser = parse_brand)]
    brands: Option<Vec<String>>,
    /// Currencies that the channel accepts, separated by commas. Default: all.
    #[arg(long, value_name = "CODES", value_delimiter = ',', value_parser = parse_currency)]
    currencies: Option<Vec<String>>,
    /// Test modes that the channel accepts as a sandbox, INTERNAL or EXTERNAL. Default: both.
    #[arg(long, value_name = "MODES", value_delimiter = ',', value_parser = ["INTERNAL", "EXTERNAL", ALL])]
    test_modes: Option<Vec<String>>,
    /// Cards that need 3-D Secure. Default: enrolled cards.
    #[arg(long = "3d", value_name = "WHEN", value_enum)]
    three_ds: Option<ThreeDsChoice>,
    /// Run the risk check for payments. Default: off.
    #[arg(long, value_name = "on|off", value_enum)]
    risk: Option<OnOff>,
    /// Run the risk check before the request to the connector, or after the approval, which is reversed if necessary.
    /// Default: before.
    #[arg(long, value_name = "WHEN", value_enum)]
    screen: Option<ScreenChoice>,
    /// Decline payments that the rules send to review, hold them, or authorize and hold them. Default: decline.
    #[arg(long, value_name = "decline|hold|authorize", value_enum)]
    review: Option<ReviewChoice>,
    /// Decline payments whose risk check fails, or accept and mark them. Default: deny.
    #[arg(long, value_name = "deny|accept", value_enum)]
    risk_error: Option<RiskErrorChoice>,
    /// Require the security code of a card that is typed into a form, even if the page does not ask for it. Default:
    /// off.
    #[arg(long, value_name = "on|off", value_enum)]
    require_cvv: Option<OnOff>,
    /// Require the security code of a stored card in a form, even if the page does not ask for it. Default: off.
    #[arg(long, value_name = "on|off", value_enum)]
    registrations_require_cvv: Option<OnOff>,
    #[arg(long, value_name = "NAME", value_parser = parse_connector, help = connector_help())]
    connector: Option<String>,
    /// Id of the channel at the acquirer, 1 to 64 visible characters, or `none`. Default: its entityId.
    #[arg(long, value_name = "ID", value_parser = parse_acquirer_merchant)]
    acquirer_merchant: Option<String>,
    /// Priority among the merchant's channels: the lowest number that accepts a payment gets it. Default: 100.
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
        "Connector of the channel's payments, or `none`. `http` is the host of `serve --acquirer`. Without a connector, a \
         sandbox uses the {}, and a live entity accepts no payments",
        registry::default_name()
    )
}
