//! The assessment of a payment: every rule is evaluated, scores add up, and the strongest outcome counts.

use serde::Serialize;
use tillgate_shared::result::ResultCode;

use super::{
    Counters, Facts, MAX_SCORE, Outcome, PreparedRules, Rule, RuleEffect, RuleSet, RulesTooCostly, Thresholds,
};

/// Result of an assessment. It names what it used and contains no values of facts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Assessment {
    /// The outcome.
    #[serde(serialize_with = "serialize_outcome")]
    pub outcome: Outcome,
    /// Sum of the scores of the rules that fired, limited to ±99,999.
    pub score: i32,
    /// Result code that a rule with this outcome names. If several rules do, the first by name counts.
    /// `None` leaves the usual code of the outcome.
    #[serde(serialize_with = "serialize_code")]
    pub code: Option<ResultCode>,
    /// True if a rule denied the payment, not its score.
    #[serde(skip)]
    pub is_denied_by_rule: bool,
    /// True if the cardholder should be challenged by 3-D Secure. A review may demand a challenge, too.
    pub challenge: bool,
    /// Names of the rules that fired, sorted.
    pub fired: Vec<String>,
    /// Names of the facts and counters in the rules that fired, sorted.
    pub inputs: Vec<String>,
}

impl RuleSet {
    /// Assesses a payment at once. The counters already include it.
    ///
    /// # Errors
    /// If the evaluation takes more than [`super::MAX_COST`] steps.
    pub fn evaluate(&self, facts: &Facts<'_>, counters: &impl Counters) -> Result<Assessment, RulesTooCostly> {
        self.evaluate_prepared(self.prepare_evaluation(facts), facts, counters)
    }

    /// Assesses a payment whose evaluation was prepared by this set. The counters already include it.
    ///
    /// A rule that denies wins over everything. Then a rule that accepts wins over scores and over rules that demand a
    /// review or a challenge. Otherwise the most severe outcome counts, by the thresholds or by a rule.
    ///
    /// # Errors
    /// If the evaluation takes more than [`super::MAX_COST`] steps.
    pub fn evaluate_prepared(
        &self,
        prepared: PreparedRules,
        facts: &Facts<'_>,
        counters: &impl Counters,
    ) -> Result<Assessment, RulesTooCostly> {
        Ok(self.assess_fired(&self.find_fired(prepared, facts, counters)?))
    }

    /// Makes the assessment of a payment for which these rules fired.
    fn assess_fired(&self, fired: &[&Rule]) -> Assessment {
        let score = add_scores(fired);
        let has_rule = |outcome| fired.iter().any(|rule| rule.effect == RuleEffect::Outcome(outcome));
        let reaches = |threshold: Option<i32>| threshold.is_some_and(|threshold| score >= threshold);
        let Thresholds { challenge, review, deny } = self.thresholds;
        let wants_challenge = has_rule(Outcome::Challenge) || reaches(challenge);
        let outcome = if has_rule(Outcome::Deny) {
            Outcome::Deny
        } else if has_rule(Outcome::Accept) {
            Outcome::Accept
        } else if reaches(deny) {
            Outcome::Deny
        } else if has_rule(Outcome::Review) || reaches(review) {
            Outcome::Review
        } else if wants_challenge {
            Outcome::Challenge
        } else {
            Outcome::Accept
        };
        // Rules are sorted by name, so the first one does not depend on the order in the file.
        let code = fired.iter().filter(|rule| rule.effect == RuleEffect::Outcome(outcome)).find_map(|rule| rule.code);
        let mut inputs: Vec<&str> = fired.iter().flat_map(|rule| rule.inputs.iter().map(String::as_str)).collect();
        inputs.sort_unstable();
        inputs.dedup();
        Assessment {
            outcome,
            score,
            code,
            is_denied_by_rule: has_rule(Outcome::Deny),
            challenge: wants_challenge && matches!(outcome, Outcome::Challenge | Outcome::Review),
            fired: fired.iter().map(|rule| rule.name.clone()).collect(),
            inputs: inputs.into_iter().map(str::to_owned).collect(),
        }
    }
}

/// Adds the scores of rules. The sum is limited at its end, so that it does not depend on their order.
fn add_scores(fired: &[&Rule]) -> i32 {
    let score = |rule: &&Rule| match rule.effect {
        RuleEffect::Score(score) => i64::from(score),
        RuleEffect::Outcome(_) => 0,
    };
    let most = i64::from(MAX_SCORE);
    let sum = fired.iter().map(score).sum::<i64>().clamp(-most, most);
    i32::try_from(sum).unwrap_or(MAX_SCORE)
}

fn serialize_outcome<S: serde::Serializer>(outcome: &Outcome, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(outcome.as_str())
}

fn serialize_code<S: serde::Serializer>(code: &Option<ResultCode>, serializer: S) -> Result<S::Ok, S::Error> {
    code.map(|code| code.code()).serialize(serializer)
}
