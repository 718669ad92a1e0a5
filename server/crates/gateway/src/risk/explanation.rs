//! Explanation of a stored decision: the rules that fired, with the values that they read.
//!
//! A decision names its rules and their inputs, and has no values. The rules come from the stored version, and the
//! values from the payment and the data that were kept for its check.

use std::iter::once;

use tillgate_domain::id::EntityId;
use tillgate_domain::payment::Payment;
use tillgate_domain::risk::RiskDecision;
use tillgate_risk::{Facts, Rule, RuleEffect, RuleInput, RuleSet};

use crate::risk::check::make_check_input;
use crate::{Failure, Gateway};

/// A rule, or an entry of a list, to which a decision is due.
#[derive(Debug, Clone)]
pub struct FiredRule {
    /// The name of the rule, or of the list.
    pub name: String,
    /// The content of the rule. `None` for a list, for rules that may not be seen, and if the version of the rules is
    /// not stored any more.
    pub content: Option<RuleContent>,
}

/// The content of a rule.
#[derive(Debug, Clone)]
pub struct RuleContent {
    /// The purpose.
    pub note: Option<String>,
    /// The effect.
    pub effect: RuleEffect,
    /// The condition.
    pub condition: String,
    /// The facts and counters in the condition.
    pub inputs: Vec<RuleInput>,
}

impl Gateway {
    /// Explains the decision about a payment: the rules that fired, sorted by name. Empty if it was not checked. Rules
    /// of entities other than these have no content.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn explain_decision(&self, payment: &Payment, visible: &[EntityId]) -> Result<Vec<FiredRule>, Failure> {
        let risk = payment.risk.as_ref();
        let Some((risk, decision)) = risk.and_then(|risk| Some((risk, risk.decision.as_ref()?))) else {
            return Ok(Vec::new());
        };
        let rules = self.load_deciding_rules(payment, decision)?.filter(|(owner, _)| visible.contains(owner));
        let rules = rules.map(|(_, rules)| rules);
        // The index of the account is no fact, so its mask need not be removed.
        let input = make_check_input(payment, &risk.context, None, payment.created);
        let lists = self.directory.risk.operator_lists();
        let facts = Facts { input: &input, lists: &lists };
        let explain = |name: &String| {
            let found = rules.as_ref().and_then(|rules| Some((rules, find_rule(rules, name)?)));
            let content = found.map(|(rules, rule)| RuleContent {
                note: rule.note.clone(),
                effect: rule.effect,
                condition: rules.print_condition(rule),
                inputs: rules.read_inputs(rule, &facts),
            });
            FiredRule { name: name.clone(), content }
        };
        Ok(decision.fired.iter().map(explain).collect())
    }

    /// Loads the version of the rules that has decided about a payment, with the owner: its entity, or one above.
    fn load_deciding_rules(
        &self,
        payment: &Payment,
        decision: &RiskDecision,
    ) -> Result<Option<(EntityId, RuleSet)>, Failure> {
        let Some(version) = &decision.version else { return Ok(None) };
        let Some(owner) = self.directory.find_entity(&payment.entity) else { return Ok(None) };
        let above = self.directory.find_ancestors(&owner);
        for entity in once(&owner.id).chain(above.iter().map(|above| &above.id)) {
            if let Some(text) = self.store.load_rules_text(entity, version)? {
                // A version that this release cannot read is logged when the directory is filled.
                return Ok(RuleSet::parse_stored(&text).ok().map(|rules| (entity.clone(), rules)));
            }
        }
        Ok(None)
    }
}

fn find_rule<'a>(rules: &'a RuleSet, name: &str) -> Option<&'a Rule> {
    rules.rules().iter().find(|rule| rule.name == name)
}
