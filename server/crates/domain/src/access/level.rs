//! Levels of the entity tree: PSP, division, merchant, channel. Payments belong to merchants and channels. The levels
//! above hold settings and credentials for the entities below them.

use serde::{Deserialize, Serialize};

/// The level of an entity.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// A payment service provider, the top of a tree.
    Psp,
    /// A part of a PSP, or a group of merchants without a PSP.
    Division,
    /// A merchant, with or without channels.
    #[default]
    Merchant,
    /// A channel of a merchant.
    Channel,
}

impl Level {
    /// Every level, highest first.
    pub const ALL: [Self; 4] = [Self::Psp, Self::Division, Self::Merchant, Self::Channel];

    /// Returns the name used in the store and on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Psp => "psp",
            Self::Division => "division",
            Self::Merchant => "merchant",
            Self::Channel => "channel",
        }
    }

    /// Returns the name used in messages: that of [`Self::as_str`], but `PSP` in capitals.
    pub fn display_name(self) -> &'static str {
        if self == Self::Psp { "PSP" } else { self.as_str() }
    }

    /// Parses the name of a level. Returns `None` if there is no such level.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|level| level.as_str() == text)
    }

    /// Returns true for merchants and channels, at which payments are made, and false for the levels above.
    pub fn allows_payments(self) -> bool {
        matches!(self, Self::Merchant | Self::Channel)
    }

    /// Returns true if an entity of this level may be directly below one of another level: a division below a PSP, a
    /// merchant below either, a channel below a merchant. A PSP is always at the top. Levels above the merchant may be
    /// left out.
    pub fn can_be_below(self, parent: Self) -> bool {
        match self {
            Self::Psp => false,
            Self::Division => parent == Self::Psp,
            Self::Merchant => matches!(parent, Self::Psp | Self::Division),
            Self::Channel => parent == Self::Merchant,
        }
    }
}

impl std::fmt::Display for Level {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use crate::access::level::*;

    #[test]
    fn no_level_stands_below_itself_or_a_lower_one() {
        for (below, level) in Level::ALL.into_iter().enumerate() {
            assert_eq!(Level::parse(level.as_str()), Some(level));
            for (above, parent) in Level::ALL.into_iter().enumerate() {
                assert!(!level.can_be_below(parent) || above < below, "{level} below {parent}");
            }
        }
        assert_eq!(Level::parse("channels"), None);
    }

    #[test]
    fn the_levels_above_a_merchant_may_be_left_out() {
        assert!(Level::Merchant.can_be_below(Level::Division) && Level::Merchant.can_be_below(Level::Psp));
        assert!(Level::Division.can_be_below(Level::Psp) && Level::Channel.can_be_below(Level::Merchant));
        assert!(!Level::Channel.can_be_below(Level::Psp) && !Level::Channel.can_be_below(Level::Division));
    }
}
