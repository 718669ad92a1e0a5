//! The options that say what an entity offers as a channel, for the commands that make and change entities.

use clap::{Args, ValueEnum};
use tillgate_shared::brand::Brand;
use tillgate_shared::money::Currency;

use crate::connector::registry;
use crate::domain::channel::{Channel, ThreeD};

/// The word that takes a limit away.
const ALL: &str = "all";
/// The word that takes the connector away.
const NO_CONNECTOR: &str = "none";

/// What an entity offers as a channel.
#[derive(Debug, Args)]
#[command(next_help_heading = "Channel")]
pub(super) struct ChannelOptions {
    /// The brands that it offers, with commas between; all of them without this.
    #[arg(long, value_name = "CODES", value_delimiter = ',', value_parser = brand)]
    brands: Option<Vec<String>>,
    /// The currencies that it takes, with commas between; all of them without this.
    #[arg(long, value_name = "CODES", value_delimiter = ',', value_parser = currency)]
    currencies: Option<Vec<String>>,
    /// The test modes that it takes as a sandbox, INTERNAL or EXTERNAL; both without this.
    #[arg(long, value_name = "MODES", value_delimiter = ',', value_parser = ["INTERNAL", "EXTERNAL", ALL])]
    test_modes: Option<Vec<String>>,
    /// When cards are authenticated; where they are enrolled without this.
    #[arg(long = "3d", value_name = "WHEN", value_enum)]
    three_d: Option<When>,
    /// Whether payments pass the risk check; they do not without this.
    #[arg(long, value_name = "on|off", value_enum)]
    risk: Option<OnOff>,
    /// Demand the security code of a card that is typed into a form, whatever its page asks for; off without this.
    #[arg(long, value_name = "on|off", value_enum)]
    require_cvv: Option<OnOff>,
    /// Demand the security code of a stored card in a form, whatever its page asks for; off without this.
    #[arg(long, value_name = "on|off", value_enum)]
    registrations_require_cvv: Option<OnOff>,
    /// The connector that its payments take, or `none`. `http` is the host that `serve --acquirer` names. Without
    /// one a sandbox takes the simulator, and a live entity no payment.
    #[arg(long, value_name = "NAME", value_parser = connector)]
    connector: Option<String>,
    /// Its place among the merchant's channels: the lowest that takes a payment gets it; 100 without this.
    #[arg(long, value_name = "NUMBER")]
    priority: Option<u32>,
}

/// A choice between two.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum OnOff {
    On,
    Off,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum When {
    Required,
    #[value(name = "when-enrolled")]
    Enrolled,
    Never,
}

impl ChannelOptions {
    /// Puts what was given in place of what was there.
    pub(super) fn apply(&self, channel: &mut Channel) {
        let limit = |place: &mut Vec<String>, given: &Option<Vec<String>>| match given {
            Some(words) if words.iter().any(|word| word == ALL) => place.clear(),
            Some(words) => place.clone_from(words),
            None => {}
        };
        limit(&mut channel.brands, &self.brands);
        limit(&mut channel.currencies, &self.currencies);
        limit(&mut channel.test_modes, &self.test_modes);
        if let Some(when) = self.three_d {
            channel.three_d = match when {
                When::Required => ThreeD::Required,
                When::Enrolled => ThreeD::WhenEnrolled,
                When::Never => ThreeD::Never,
            };
        }
        if let Some(risk) = self.risk {
            channel.risk = risk == OnOff::On;
        }
        if let Some(require) = self.require_cvv {
            channel.require_cvv = require == OnOff::On;
        }
        if let Some(require) = self.registrations_require_cvv {
            channel.registrations_require_cvv = require == OnOff::On;
        }
        if let Some(name) = &self.connector {
            channel.connector = Some(name.clone()).filter(|name| name != NO_CONNECTOR);
        }
        channel.priority = self.priority.unwrap_or(channel.priority);
    }

    /// The settings that are inherited, by the names of their options, and whether each was given.
    pub(super) fn given(&self) -> [(&'static str, bool); 8] {
        [
            ("brands", self.brands.is_some()),
            ("currencies", self.currencies.is_some()),
            ("test-modes", self.test_modes.is_some()),
            ("3d", self.three_d.is_some()),
            ("risk", self.risk.is_some()),
            ("require-cvv", self.require_cvv.is_some()),
            ("registrations-require-cvv", self.registrations_require_cvv.is_some()),
            ("connector", self.connector.is_some()),
        ]
    }
}

fn brand(text: &str) -> Result<String, String> {
    if text == ALL || Brand::find(text).is_some() {
        Ok(text.to_owned())
    } else {
        Err("is not a brand that this gateway knows, such as VISA, nor the word all".to_owned())
    }
}

fn currency(text: &str) -> Result<String, String> {
    if text == ALL || Currency::parse(text).is_some() {
        Ok(text.to_owned())
    } else {
        Err("is not an ISO 4217 code in use, such as EUR, nor the word all".to_owned())
    }
}

/// Checks the name of a connector.
fn connector(text: &str) -> Result<String, String> {
    if text == NO_CONNECTOR || registry::names().any(|name| name == text) {
        return Ok(text.to_owned());
    }
    let names: Vec<&str> = registry::names().chain([NO_CONNECTOR]).collect();
    Err(format!("is not a connector of this gateway, which are {}", names.join(", ")))
}
