//! The rule engine of the risk check: reads a channel's rules from TOML, and assesses payments with them.
//!
//! The engine is pure. It does no I/O and has no clock: [`RuleSet::parse`] takes the text of a rules file,
//! [`RuleSet::evaluate`] takes the facts of a payment and its velocity counters, and
//! [`RuleSet::evaluate_offers`] what is known before there is a payment.

mod account_sighting;
mod assessment;
mod bins;
mod condition;
mod counter_key;
mod counter_plan;
mod counter_row;
mod domains;
mod error;
mod fact;
mod input;
mod list_value;
mod networks;
mod offer;
mod offer_section;
mod payment_count;
mod prepared_rules;
mod rule;
mod rule_input;
mod rules_file;
mod sliding_window;
mod text_position;
mod velocity;
mod windows;

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;

pub use account_sighting::{AccountSighting, SeenAccount};
pub use assessment::Assessment;
pub use bins::{BinFacts, BinTable, CardFunding};
pub use condition::RulesTooCostly;
pub use counter_key::CounterKey;
pub use counter_plan::CounterPlan;
pub use counter_row::{CounterRow, DamagedCounters};
pub use domains::DomainList;
pub use error::TextError;
pub use fact::{FactKind, FactRow, Source, all_facts, suggest_among, suggest_fact};
pub use input::{CheckInput, CheckoutVerdict, Facts, RiskLists};
pub use list_value::{ListedValue, MAX_LIST_VALUE, find_list_key, normalize_list_value, read_listed_values};
pub use networks::NetworkTable;
pub use offer::{BrandOffer, Offer, OfferEffect, OfferSet};
pub use payment_count::{CountedPayment, PaymentCount, StoredCounters};
pub use prepared_rules::PreparedRules;
pub use rule::{Outcome, Rule, RuleEffect, RuleSet, RuleSetVersion, Thresholds};
pub use rule_input::{RuleInput, RuleInputValue};
pub use sliding_window::MAX_DISTINCT;
pub use velocity::{Counters, VelocityCounter, VelocityKey};
pub use windows::WindowCounters;

/// Largest size of a rules file, in bytes.
pub const MAX_FILE_BYTES: usize = 1 << 20;
/// Largest number of rules in a file.
pub const MAX_RULES: usize = 1_000;
/// Largest number of offers in a file.
pub const MAX_OFFERS: usize = 100;
/// Largest length of a condition, in bytes.
pub const MAX_CONDITION_BYTES: usize = 8_192;
/// Largest number of parentheses and `not` around a part of a condition.
pub const MAX_DEPTH: usize = 32;
/// Largest number of different facts in the rules of a file, and in its offers.
pub const MAX_FACTS: usize = 500;
/// Largest number of different velocity counters in a file.
pub const MAX_COUNTERS: usize = 64;
/// Largest number of different velocity counters in a file that count different values, which cost the most space.
pub const MAX_DISTINCT_COUNTERS: usize = 16;
/// Largest length of a rule's name, in characters.
pub const MAX_NAME: usize = 64;
/// Largest length of a rule's note, in characters.
pub const MAX_NOTE: usize = 1_000;
/// Largest score, and largest negative score, of a rule and of a payment.
pub const MAX_SCORE: i32 = 99_999;
/// Largest cost of the rules of a file, of its offers, and of an evaluation, in steps. A step is about the comparison
/// of two short values; an evaluation with all of them takes one or two milliseconds.
pub const MAX_COST: u64 = 200_000;
/// Largest number of errors that are reported for a file.
pub const MAX_ERRORS: usize = 100;
