//! Rules that were evaluated as far as a payment is known before the write lock. Under the lock only comparisons of
//! counters and of late facts are left, so that the rules of one tenant do not delay the payments of others.

use super::condition::{Condition, Evaluation, KnownValues, Reduced, RulesTooCostly};
use super::{Counters, Facts, Rule, RuleSet};

/// Rules evaluated for a payment without its counters: see [`RuleSet::prepare_evaluation`].
#[derive(Debug, Clone)]
pub struct PreparedRules(Result<OpenRules, RulesTooCostly>);

/// The rules that fired and those that are undecided, by index in the set.
#[derive(Debug, Clone)]
struct OpenRules {
    fired: Vec<usize>,
    open: Vec<(usize, Condition)>,
    values: KnownValues,
}

impl PreparedRules {
    /// Returns the number of rules that need a counter or a late fact.
    #[cfg(test)]
    pub(super) fn count_open(&self) -> usize {
        self.0.as_ref().map_or(0, |rules| rules.open.len())
    }
}

impl RuleSet {
    /// Evaluates the rules for a payment as far as they need no counter. Call it before the write lock is taken.
    pub fn prepare_evaluation(&self, facts: &Facts<'_>) -> PreparedRules {
        PreparedRules(self.reduce_rules(facts))
    }

    fn reduce_rules(&self, facts: &Facts<'_>) -> Result<OpenRules, RulesTooCostly> {
        let mut evaluation = Evaluation::begin(&self.symbols, facts, &self.zone);
        let (mut fired, mut open) = (Vec::new(), Vec::new());
        for (index, rule) in self.rules.iter().enumerate() {
            match evaluation.reduce(&rule.condition)? {
                Reduced::Known(true) => fired.push(index),
                Reduced::Known(false) => {}
                Reduced::Open(condition) => open.push((index, condition)),
            }
        }
        Ok(OpenRules { fired, open, values: evaluation.into_values() })
    }

    /// Returns the rules that fire, sorted by name. `prepared` comes from this set and the same payment.
    ///
    /// # Errors
    /// If the evaluation takes too many steps.
    pub(super) fn find_fired(
        &self,
        prepared: PreparedRules,
        facts: &Facts<'_>,
        counters: &impl Counters,
    ) -> Result<Vec<&Rule>, RulesTooCostly> {
        let OpenRules { mut fired, open, values } = prepared.0?;
        let mut evaluation = Evaluation::resume(&self.symbols, facts, &self.zone, counters, values);
        for (index, condition) in &open {
            if evaluation.is_true(condition)? {
                fired.push(*index);
            }
        }
        // Rules are sorted by name in the set.
        fired.sort_unstable();
        Ok(fired.into_iter().filter_map(|index| self.rules.get(index)).collect())
    }
}
