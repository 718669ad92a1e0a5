//! Facts: the names that conditions use, one row each, and finding the row of a name.

mod parameter;
mod suggestion;
mod table;
mod value;

use std::fmt;

pub use suggestion::{suggest_among, suggest_fact};
pub(super) use value::{FactSlot, SCALE, Value, parse_decimal};

use super::input::Reading;

/// The type of a fact, which decides what it can be compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FactKind {
    /// A text. ASCII case is ignored.
    Text,
    /// A number with up to four decimals.
    Number,
    /// An amount in the payment's currency.
    Amount,
    /// A period of time.
    Duration,
    /// A time of the day.
    Time,
    /// True or false.
    Flag,
}

impl FactKind {
    /// Returns its name with its article, for errors.
    pub(super) fn with_article(self) -> String {
        let article = if self == Self::Amount { "an" } else { "a" };
        format!("{article} {}", self.as_str())
    }

    /// Returns its name in the documentation.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Number => "number",
            Self::Amount => "amount",
            Self::Duration => "duration",
            Self::Time => "time of day",
            Self::Flag => "yes or no",
        }
    }
}

/// The party that chooses the value of a fact. The one that is trusted least comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Source {
    /// The shopper's browser, and so an attacker.
    Browser,
    /// The merchant's server.
    Merchant,
    /// The gateway, or a party that it asks.
    Gateway,
}

impl Source {
    /// All sources.
    pub(super) const ALL: [Self; 3] = [Self::Browser, Self::Merchant, Self::Gateway];

    /// Returns its name in a condition.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Browser => "browser",
            Self::Merchant => "merchant",
            Self::Gateway => "gateway",
        }
    }
}

/// Reader of a fact's value. Returns `None` if the fact is not known.
type ReadFact = fn(&Reading<'_>) -> Option<Value>;

/// A fact.
#[derive(Debug, Clone, Copy)]
pub struct FactRow {
    /// Its name. `[n]` stands for any item, `[name]` for the merchant's own key.
    pub name: &'static str,
    /// Its type.
    pub kind: FactKind,
    /// The party that can choose its value. A parameter that a browser may send can also come from the merchant.
    pub source: Source,
    /// Its meaning.
    pub note: &'static str,
    /// True if it is not known before a card or an account is chosen, so that offers cannot read it.
    pub needs_account: bool,
    /// True if its value may change until the payment is written, so that it is read under the write lock.
    pub is_late: bool,
    /// True if only offers can read it: it is known of a payment only after the rules have decided.
    pub is_for_offers: bool,
    /// The parameters that determine the fact's source, if they were sent: it is the one that is trusted least. The
    /// row's source applies without any of them.
    follows: &'static [&'static str],
    /// Reads a computed fact. `None` for parameters.
    read: Option<ReadFact>,
}

/// A fact in a condition: its row, and its name as written.
#[derive(Debug, Clone)]
pub(super) struct Fact {
    /// The name, with the merchant's own key or an index: `risk.parameters[vip]`, `cart.items[0].sku`.
    pub(super) name: String,
    /// The row.
    pub(super) row: FactRow,
}

impl Fact {
    /// Finds the fact of a name. Returns `None` if there is none.
    pub(super) fn find(name: &str) -> Option<Self> {
        let row = table::ROWS.iter().find(|row| row.name == name).copied().or_else(|| parameter::find_row(name))?;
        Some(Self { name: name.to_owned(), row })
    }

    /// Returns true if the fact stands for one value of each item of a list.
    pub(super) fn has_many_values(&self) -> bool {
        self.name.contains("[n]")
    }

    /// Reads the values of the fact.
    pub(super) fn read(&self, reading: &Reading<'_>) -> FactSlot {
        match self.row.read {
            Some(read) => FactSlot::from(read(reading)),
            None => parameter::read_values(self, &reading.facts.input.parameters),
        }
    }

    /// Returns true if a value of the fact has this source. A missing fact has none.
    pub(super) fn has_source(&self, source: Source, slot: &FactSlot, reading: &Reading<'_>) -> bool {
        let input = reading.facts.input;
        let sent_by = |name: &str| match name {
            _ if input.from_browser.contains(name) => Source::Browser,
            _ if input.from_gateway.contains(name) => Source::Gateway,
            _ => Source::Merchant,
        };
        if slot.is_missing() {
            return false;
        }
        if self.row.read.is_none() {
            return parameter::matching_names(&self.name, &input.parameters).any(|name| sent_by(name) == source);
        }
        // The address that the gateway saw replaces the one that was sent.
        let is_replaced = |name: &str| name == "customer.ip" && input.address.is_some();
        let follows = self.row.follows.iter().filter(|name| input.parameters.contains(name) && !is_replaced(name));
        follows.map(|name| sent_by(name)).min().unwrap_or(self.row.source) == source
    }
}

impl fmt::Display for Fact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

/// Returns all facts: first the computed ones, then the parameters.
pub fn all_facts() -> impl Iterator<Item = FactRow> {
    table::ROWS.iter().copied().chain(parameter::all_rows())
}
