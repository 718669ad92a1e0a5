//! A version of a channel's rules.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::OnceLock;

use jiff::tz::TimeZone;
use sha2::{Digest as _, Sha256};
use tillgate_shared::result::ResultCode;

use super::condition::{Condition, PrintedCondition, Symbols};
use super::offer::OfferSet;
use super::velocity::VelocityCounter;

/// Outcome of an assessment, or of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// Accept the payment.
    Accept,
    /// Accept the payment after a challenge by 3-D Secure.
    Challenge,
    /// Let a person decide.
    Review,
    /// Decline the payment.
    Deny,
}

impl Outcome {
    /// All outcomes, ascending by severity.
    pub const ALL: [Self; 4] = [Self::Accept, Self::Challenge, Self::Review, Self::Deny];

    /// Returns its name in a rules file.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Accept => "accept",
            Self::Challenge => "challenge",
            Self::Review => "review",
            Self::Deny => "deny",
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Scores from which a payment has an outcome. `None` if no score leads to it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Thresholds {
    /// Lowest score of a challenge.
    pub challenge: Option<i32>,
    /// Lowest score of a review.
    pub review: Option<i32>,
    /// Lowest score of a denial.
    pub deny: Option<i32>,
}

/// Effect of a rule that fires.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RuleEffect {
    /// Adds to the score, −99,999 to 99,999.
    Score(i32),
    /// Decides at once.
    Outcome(Outcome),
}

impl fmt::Display for RuleEffect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Score(score) => write!(f, "score {score:+}"),
            Self::Outcome(outcome) => outcome.fmt(f),
        }
    }
}

/// A rule.
#[derive(Debug, Clone)]
pub struct Rule {
    /// Its name, unique in the file; 1 to 64 characters.
    pub name: String,
    /// Its purpose, at most 1,000 characters.
    pub note: Option<String>,
    /// Its effect.
    pub effect: RuleEffect,
    /// Result code of a payment that this rule refuses, or sends to a review in which it is refused.
    pub code: Option<ResultCode>,
    /// Its condition.
    pub(super) condition: Condition,
    /// Names of the facts and counters in the condition, sorted.
    pub(super) inputs: Vec<String>,
}

/// The rules of a version, checked and ready to be evaluated.
#[derive(Debug, Clone)]
pub struct RuleSet {
    pub(super) zone: TimeZone,
    pub(super) zone_name: String,
    pub(super) thresholds: Thresholds,
    /// Sorted by name, so that the order in the file is irrelevant.
    pub(super) rules: Vec<Rule>,
    pub(super) symbols: Symbols,
    pub(super) offers: OfferSet,
    /// Computed at first use, because it formats every condition.
    pub(super) version: OnceLock<RuleSetVersion>,
}

/// Name of a version: a hash of everything in it that decides. Notes, comments and the order of rules do not count.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct RuleSetVersion([u8; 32]);

impl RuleSetVersion {
    /// Returns the whole hash (SHA-256).
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Display for RuleSetVersion {
    /// Formats the first 64 bits: 16 hexadecimal digits.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().take(8).try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for RuleSetVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl RuleSet {
    /// Returns the rules, sorted by name.
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// Returns the condition of a rule in its canonical form.
    pub fn print_condition(&self, rule: &Rule) -> String {
        PrintedCondition { condition: &rule.condition, symbols: &self.symbols }.to_string()
    }

    /// Returns the rules that decide which brands a shopper is offered.
    pub fn offers(&self) -> &OfferSet {
        &self.offers
    }

    /// Returns the thresholds.
    pub fn thresholds(&self) -> Thresholds {
        self.thresholds
    }

    /// Returns true if an outcome can be a challenge: a rule demands one, or a score leads to one.
    pub fn can_challenge(&self) -> bool {
        let demands = |rule: &Rule| rule.effect == RuleEffect::Outcome(Outcome::Challenge);
        self.thresholds.challenge.is_some() || self.rules.iter().any(demands)
    }

    /// Returns true if a condition of a rule or an offer reads the fact with this name.
    pub fn reads_fact(&self, name: &str) -> bool {
        let offers = self.offers.symbols.facts();
        self.symbols.facts().iter().chain(offers).any(|fact| fact.name == name)
    }

    /// Returns the IANA name of the zone for times of the day.
    pub fn zone_name(&self) -> &str {
        &self.zone_name
    }

    /// Returns the different velocity counters that an evaluation reads, at most 64. A payment has to be counted in
    /// each of them before it is evaluated.
    pub fn velocity_reads(&self) -> &[VelocityCounter] {
        self.symbols.counters()
    }

    /// Returns the different velocity counters that rules and offers read, sorted. A payment is counted in each.
    pub fn counted_counters(&self) -> Vec<VelocityCounter> {
        let counters = self.symbols.counters().iter().chain(self.offers.symbols.counters());
        counters.collect::<BTreeSet<_>>().into_iter().cloned().collect()
    }

    /// Returns the name of this version.
    pub fn version(&self) -> RuleSetVersion {
        *self.version.get_or_init(|| self.compute_version())
    }

    fn compute_version(&self) -> RuleSetVersion {
        let Thresholds { challenge, review, deny } = self.thresholds;
        let mut hash = Sha256::new();
        hash.update(format!("zone {}\nthresholds {challenge:?} {review:?} {deny:?}\n", self.zone_name));
        for rule in &self.rules {
            let code = rule.code.map_or("", |code| code.code());
            let condition = self.print_condition(rule);
            hash.update(format!("rule {:?} {} {code} {condition:?}\n", rule.name, rule.effect));
        }
        for offer in self.offers.offers() {
            let condition = self.offers.print_condition(offer);
            hash.update(format!("offer {:?} {} {condition:?}\n", offer.name, offer.effect));
        }
        RuleSetVersion(hash.finalize().into())
    }
}
