//! Velocity counters: what a condition counts, by which keys, in which window.

use std::fmt;

use tillgate_domain::spelling::{fold_mail_address, fold_text};
use tillgate_shared::money::Currency;

use super::fact::{Fact, FactSlot};
use super::input::{Facts, Reading};
use super::sliding_window::{Increment, SlidingWindow};

/// Shortest and longest window of a counter, in seconds.
pub(super) const WINDOW_SECONDS: std::ops::RangeInclusive<i64> = 60..=90 * 86_400;

/// A value by which payments are counted.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum VelocityKey {
    /// The card, by the blind index of its number.
    Card,
    /// The mailbox of `customer.email`, in any spelling.
    Email,
    /// The shopper's address.
    Ip,
    /// The /24 or /48 of the shopper's address.
    Network,
    /// The device's fingerprint.
    Device,
    /// The account, by a blind index.
    Account,
    /// `card.holder`. Case, width and the number of spaces are ignored.
    Holder,
    /// Street, postcode and country of the billing address. Only letters and digits count.
    Address,
    /// The merchant's own parameter `risk.parameters[name]`.
    Parameter(String),
}

impl VelocityKey {
    /// The keys with fixed names.
    pub const NAMED: [(&str, Self); 8] = [
        ("card", Self::Card),
        ("email", Self::Email),
        ("ip", Self::Ip),
        ("network", Self::Network),
        ("device", Self::Device),
        ("account", Self::Account),
        ("holder", Self::Holder),
        ("address", Self::Address),
    ];

    /// Finds the key of a name. Returns `None` if there is none.
    pub(super) fn find(name: &str) -> Option<Self> {
        let named = Self::NAMED.into_iter().find(|(known, _)| *known == name).map(|(_, key)| key);
        let own = || {
            let is_own = name.starts_with("risk.parameters[") && Fact::find(name).is_some();
            is_own.then(|| Self::Parameter(name.to_owned()))
        };
        named.or_else(own)
    }

    /// Returns the key's value for a payment. `None` if the payment has none.
    pub fn read_value(&self, facts: &Facts<'_>) -> Option<String> {
        let input = facts.input;
        let parameter = |name: &str| input.parameters.get(name);
        match self {
            Self::Card => input.card.clone(),
            Self::Email => {
                // Stored orders may have a text that is no address.
                parameter("customer.email")
                    .map(|email| fold_mail_address(email).unwrap_or_else(|| fold_text(email.trim())))
            }
            Self::Ip => facts.find_address().map(|address| address.to_string()),
            Self::Network => facts.find_network(),
            Self::Device => facts.find_device().map(|(_, device)| device.to_owned()),
            Self::Account => input.account.clone(),
            Self::Holder => parameter("card.holder")
                .map(|holder| fold_text(holder).split_whitespace().collect::<Vec<_>>().join(" ")),
            Self::Address => {
                let parts =
                    [parameter("billing.street1")?, parameter("billing.postcode")?, parameter("billing.country")?];
                let letters =
                    |part: &str| -> String { fold_text(part).chars().filter(|c| c.is_alphanumeric()).collect() };
                Some(parts.map(letters).join("|"))
            }
            Self::Parameter(name) => parameter(name).map(fold_text),
        }
    }
}

/// Parameters of accounts that a browser can state without having them. A card is more than a statement: its issuer is
/// asked for the payment.
const STATED_ACCOUNTS: [&str; 3] = ["virtualAccount.accountId", "bankAccount.iban", "bankAccount.number"];

impl VelocityKey {
    /// Returns true if the key has no value before a card or an account is chosen.
    pub(super) fn needs_account(&self) -> bool {
        matches!(self, Self::Card | Self::Account | Self::Holder)
    }

    /// Returns true if nobody but the shopper's browser states the key's value, or a part of it.
    pub fn is_from_browser(&self, facts: &Facts<'_>) -> bool {
        let input = facts.input;
        let is_sent = |name: &&str| input.from_browser.contains(*name);
        match self {
            Self::Card => false,
            Self::Account => STATED_ACCOUNTS.iter().any(is_sent),
            Self::Email => is_sent(&"customer.email"),
            Self::Ip | Self::Network => input.address.is_none() && is_sent(&"customer.ip"),
            Self::Device => facts.find_device().is_some_and(|(name, _)| is_sent(&name)),
            Self::Holder => is_sent(&"card.holder"),
            Self::Address => ["billing.street1", "billing.postcode", "billing.country"].iter().any(is_sent),
            Self::Parameter(name) => is_sent(&name.as_str()),
        }
    }
}

impl fmt::Display for VelocityKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Parameter(name) => f.write_str(name),
            _ => f.write_str(Self::NAMED.iter().find(|(_, key)| key == self).map_or("", |(name, _)| name)),
        }
    }
}

/// The measure of a counter.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Measure {
    /// Number of payments.
    Count,
    /// Sum of the amounts of payments in the payment's currency, in hundredths.
    Sum,
    /// Number of different values.
    Distinct(Subject),
}

/// The value that a counter counts the different ones of.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Subject {
    /// The value of a key.
    Key(VelocityKey),
    /// The text of a fact with this name.
    Fact(String),
}

/// A velocity counter, which includes the payment that is assessed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct VelocityCounter {
    pub(super) measure: Measure,
    /// One or two keys, sorted, each once.
    pub(super) keys: Vec<VelocityKey>,
    /// Length of the window in seconds, 60 to 90 days.
    pub(super) seconds: i64,
}

impl VelocityCounter {
    /// Returns the values of the counter's keys for a payment. `None` if one is missing: the payment is not counted.
    pub fn read_keys(&self, facts: &Facts<'_>) -> Option<Vec<String>> {
        self.keys.iter().map(|key| key.read_value(facts)).collect()
    }

    /// Returns the currency of a sum, which is counted for each currency. `None` for other measures, and without an
    /// amount.
    pub(super) fn read_currency(&self, facts: &Facts<'_>) -> Option<Currency> {
        facts.input.amount.map(|amount| amount.currency()).filter(|_| self.is_sum())
    }

    /// Returns the payment's contribution to the counter. A value is hashed by `hash_value`. `None` if the payment has
    /// no amount or value to count.
    pub(super) fn read_increment(&self, facts: &Facts<'_>, hash_value: impl Fn(&str) -> u64) -> Option<Increment> {
        match &self.measure {
            Measure::Count => Some(Increment::Total(1)),
            Measure::Sum => facts.find_hundredths().map(Increment::Total),
            Measure::Distinct(subject) => subject.read_value(facts).map(|value| Increment::Value(hash_value(&value))),
        }
    }

    /// Returns true for a sum, which is counted for each currency.
    pub fn is_sum(&self) -> bool {
        self.measure == Measure::Sum
    }

    /// Returns true for a number of different values.
    pub fn is_distinct(&self) -> bool {
        matches!(self.measure, Measure::Distinct(_))
    }

    /// Returns the length of the window in seconds.
    pub fn window_seconds(&self) -> i64 {
        self.seconds
    }

    /// Returns the longest time in seconds for which a payment is counted. The window is a little longer than its
    /// length, because it consists of whole buckets.
    pub fn reach_seconds(&self) -> i64 {
        SlidingWindow::new(self.seconds).reach()
    }
}

impl Subject {
    /// Returns the value for a payment. `None` if it is missing.
    fn read_value(&self, facts: &Facts<'_>) -> Option<String> {
        match self {
            Self::Key(key) => key.read_value(facts),
            Self::Fact(name) => {
                let reading = Reading { facts: *facts, time: facts.input.at.to_zoned(jiff::tz::TimeZone::UTC) };
                match Fact::find(name)?.read(&reading) {
                    FactSlot::One(value) => value.as_text().map(str::to_owned),
                    _ => None,
                }
            }
        }
    }
}

impl fmt::Display for VelocityCounter {
    /// Formats the counter as in a condition: `count(card, 1 h)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.measure {
            Measure::Count => f.write_str("count(")?,
            Measure::Sum => f.write_str("sum(")?,
            Measure::Distinct(Subject::Key(key)) => write!(f, "distinct({key} by ")?,
            Measure::Distinct(Subject::Fact(name)) => write!(f, "distinct({name} by ")?,
        }
        for key in &self.keys {
            write!(f, "{key}, ")?;
        }
        write!(f, "{})", DisplayedDuration(self.seconds))
    }
}

/// Formats seconds in the largest unit that divides them: `90 d`.
pub(super) struct DisplayedDuration(pub(super) i64);

impl fmt::Display for DisplayedDuration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = [(86_400, "d"), (3_600, "h"), (60, "min")];
        let unit = units.into_iter().find(|(length, _)| self.0 != 0 && self.0 % length == 0);
        let (length, name) = unit.unwrap_or((1, "s"));
        write!(f, "{} {name}", self.0 / length)
    }
}

/// Velocity counters of a channel.
pub trait Counters {
    /// Returns the counter's value for a payment: a number, or hundredths for a sum. The payment is already counted.
    /// `None` if the payment has no value for one of the keys.
    fn read_counter(&self, counter: &VelocityCounter, facts: &Facts<'_>) -> Option<i64>;
}
