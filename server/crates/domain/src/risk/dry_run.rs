//! Report of a dry run: what a version of risk rules would have decided about stored payments, beside what was decided.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Serialize, Serializer};
use tillgate_shared::money::Amount;

use crate::id::{EntityId, PaymentId};
use crate::risk::{RiskDecision, RiskOutcome};

/// Largest number of examples of each kind of change.
pub const MAX_EXAMPLES: usize = 20;
/// Number of examples of each kind of change if none is requested.
pub const DEFAULT_EXAMPLES: usize = 5;

/// The subject of a dry run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DryRunSubject {
    /// The entity whose payments, and those below it, are replayed.
    pub entity_id: EntityId,
    /// The version.
    pub version: String,
    /// The period as requested: days, or times, in UTC, both included.
    pub date_from: String,
    /// The end of the period.
    pub date_to: String,
    /// The time as of which list entries apply.
    pub lists_at: Timestamp,
}

/// Number and amounts of payments.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct PaymentSum {
    /// Number of payments.
    pub count: u64,
    /// Amounts by currency.
    pub amounts: AmountsByCurrency,
}

/// Sums in hundredths by the code of their currency. Serialized as texts with two decimals.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AmountsByCurrency(pub BTreeMap<&'static str, i128>);

/// Payments, and the parts of them that were approved and charged back.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PaymentTally {
    /// All of them.
    #[serde(flatten)]
    pub all: PaymentSum,
    /// Those that were approved.
    pub approved: PaymentSum,
    /// Those of which something was charged back, with the amounts that were.
    pub charged_back: PaymentSum,
}

/// Payments with the same outcomes then and now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OutcomeTally {
    /// The stored outcome. `None` if the payment was not checked.
    #[serde(serialize_with = "serialize_before")]
    pub before: Option<RiskOutcome>,
    /// The outcome by the version.
    pub after: RiskOutcome,
    /// True if the payment would have been treated in another way. A payment that was not checked went on as if
    /// accepted.
    pub is_change: bool,
    /// The payments.
    #[serde(flatten)]
    pub payments: PaymentTally,
    /// Ids of the first of them, if their outcome would have changed.
    pub examples: Vec<PaymentId>,
}

/// Payments for which a rule fired.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RuleTally {
    /// Name of the rule, or `list LIST KEY`.
    pub name: String,
    /// All of them.
    pub fired: PaymentTally,
    /// Those whose outcome would have changed.
    pub changed: PaymentTally,
}

/// Payments of the period that were not assessed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct UnassessedPayments {
    /// Entities with an active version of their own, or from an entity between them and that of the dry run.
    pub entities: u64,
    /// Payments of these entities.
    pub of_other_version: u64,
    /// Payments that ended before a check: duplicates, and for checks after the authorization those without approval.
    pub ended_before: u64,
    /// Sandbox payments whose test data asked for an outcome.
    pub test_data: u64,
}

/// Report of a dry run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DryRunReport {
    /// The version that was tried out, and the period.
    #[serde(flatten)]
    pub subject: DryRunSubject,
    /// The payments that were assessed.
    pub checked: PaymentTally,
    /// Those whose outcome would have changed.
    pub changed: PaymentTally,
    /// Payments by both outcomes, the mildest first.
    pub outcomes: Vec<OutcomeTally>,
    /// Payments by rule: all rules of the version, and the lists with an entry for a payment. Sorted by name.
    pub rules: Vec<RuleTally>,
    /// Payments that were assessed without the data of a check, because their channel had none.
    pub without_risk_data: u64,
    /// Payments that were not assessed.
    pub left_out: UnassessedPayments,
    /// Payments before the period that were counted in the velocity counters.
    pub counted_before: u64,
    /// Keys of velocity counters that were forgotten because there were too many. Counts may be too low then.
    pub forgotten_counters: u64,
}

/// A payment that was assessed.
#[derive(Debug, Clone, Copy)]
pub struct AssessedPayment<'a> {
    /// Its id.
    pub id: &'a PaymentId,
    /// Its amount.
    pub amount: Amount,
    /// True if it was approved.
    pub is_approved: bool,
    /// The amount that was charged back, in hundredths. `None` if nothing was.
    pub charged_back: Option<i64>,
    /// The stored outcome. `None` if it was not checked.
    pub before: Option<RiskOutcome>,
    /// The decision of the version.
    pub after: &'a RiskDecision,
}

impl AmountsByCurrency {
    fn add(&mut self, currency: &'static str, hundredths: i64) {
        *self.0.entry(currency).or_default() += i128::from(hundredths);
    }

    /// Returns each sum with two decimals, with the code of its currency before it.
    pub fn format_all(&self) -> impl Iterator<Item = (&'static str, String)> {
        self.0.iter().map(|(currency, sum)| {
            let sign = if *sum < 0 { "-" } else { "" };
            (*currency, format!("{sign}{}.{:02}", sum.abs() / 100, sum.abs() % 100))
        })
    }
}

impl Serialize for AmountsByCurrency {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.format_all())
    }
}

impl PaymentTally {
    /// Adds a payment.
    fn add(&mut self, payment: &AssessedPayment<'_>) {
        let (currency, amount) = (payment.amount.currency().code(), payment.amount.hundredths());
        self.all.add(currency, amount);
        if payment.is_approved {
            self.approved.add(currency, amount);
        }
        if let Some(charged_back) = payment.charged_back {
            self.charged_back.add(currency, charged_back);
        }
    }
}

impl PaymentSum {
    fn add(&mut self, currency: &'static str, hundredths: i64) {
        self.count += 1;
        self.amounts.add(currency, hundredths);
    }
}

impl OutcomeTally {
    /// Returns the position in the report: by the stored outcome, then by the other.
    fn position(before: Option<RiskOutcome>, after: RiskOutcome) -> (u8, u8) {
        let severity = |outcome| match outcome {
            RiskOutcome::Accept => 1,
            RiskOutcome::Challenge => 2,
            RiskOutcome::Review => 3,
            RiskOutcome::Deny => 4,
            RiskOutcome::Error => 5,
        };
        (before.map_or(0, severity), severity(after))
    }
}

/// Returns the name of a stored outcome, or that there is none.
pub fn outcome_name(outcome: Option<RiskOutcome>) -> &'static str {
    outcome.map_or("not checked", RiskOutcome::as_str)
}

fn serialize_before<S: Serializer>(outcome: &Option<RiskOutcome>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(outcome_name(*outcome))
}

impl DryRunReport {
    /// Creates the report of a dry run without payments. `rules` are the names of the version's rules.
    pub fn new<'a>(subject: DryRunSubject, rules: impl Iterator<Item = &'a str>) -> Self {
        let mut report = Self {
            subject,
            checked: PaymentTally::default(),
            changed: PaymentTally::default(),
            outcomes: Vec::new(),
            rules: Vec::new(),
            without_risk_data: 0,
            left_out: UnassessedPayments::default(),
            counted_before: 0,
            forgotten_counters: 0,
        };
        rules.for_each(|name| {
            report.find_rule(name);
        });
        report
    }

    /// Adds an assessed payment. Of each kind of change, the ids of the first `examples` payments are kept.
    pub fn add_payment(&mut self, payment: &AssessedPayment<'_>, examples: usize) {
        let (before, after) = (payment.before, payment.after.outcome);
        let is_change = before.unwrap_or(RiskOutcome::Accept) != after;
        self.checked.add(payment);
        if is_change {
            self.changed.add(payment);
        }
        let outcome = self.find_outcome(before, after, is_change);
        outcome.payments.add(payment);
        if is_change && outcome.examples.len() < examples {
            outcome.examples.push(payment.id.clone());
        }
        for name in &payment.after.fired {
            let rule = self.find_rule(name);
            rule.fired.add(payment);
            if is_change {
                rule.changed.add(payment);
            }
        }
    }

    /// Returns the row of two outcomes, which is added if it is new.
    fn find_outcome(&mut self, before: Option<RiskOutcome>, after: RiskOutcome, is_change: bool) -> &mut OutcomeTally {
        let position = OutcomeTally::position(before, after);
        let found = self.outcomes.binary_search_by_key(&position, |row| OutcomeTally::position(row.before, row.after));
        let index = found.unwrap_or_else(|index| {
            let (payments, examples) = (PaymentTally::default(), Vec::new());
            self.outcomes.insert(index, OutcomeTally { before, after, is_change, payments, examples });
            index
        });
        &mut self.outcomes[index]
    }

    /// Returns the row of a rule, which is added if it is new.
    fn find_rule(&mut self, name: &str) -> &mut RuleTally {
        let found = self.rules.binary_search_by(|row| row.name.as_str().cmp(name));
        let index = found.unwrap_or_else(|index| {
            let (fired, changed) = (PaymentTally::default(), PaymentTally::default());
            self.rules.insert(index, RuleTally { name: name.to_owned(), fired, changed });
            index
        });
        &mut self.rules[index]
    }
}
