//! Tests of the rule engine, one file for each subject, and what they share.

mod attacks;
mod cost;
mod documentation;
mod errors;
mod evaluation;
mod facts;
mod language;
mod lists;
mod offers;
mod properties;
mod spellings;
mod stored;
mod velocity;

use tillgate_shared::money::{Amount, Currency};

use super::{Assessment, CheckInput, Facts, RiskLists, RuleSet, TextError, WindowCounters};

/// Returns a payment of 92.00 EUR with these parameters.
fn make_payment(parameters: &[(&str, &str)]) -> CheckInput {
    CheckInput {
        parameters: parameters.iter().copied().collect(),
        amount: Amount::parse("92.00", Currency::parse("EUR").unwrap()).ok(),
        at: "2026-03-02T12:30:00Z".parse().unwrap(),
        ..CheckInput::default()
    }
}

/// Assesses one payment, without earlier ones.
fn assess(rules: &str, input: &CheckInput) -> Assessment {
    let rules = RuleSet::parse(rules).unwrap();
    let lists = RiskLists::default();
    let facts = Facts { input, lists: &lists };
    let mut counters = WindowCounters::default();
    counters.record_payment(rules.velocity_reads(), &facts);
    rules.evaluate(&facts, &counters).unwrap()
}

/// Returns a file with one rule that denies.
fn make_rule(condition: &str) -> String {
    format!("[[rule]]\nname = \"r\"\noutcome = \"deny\"\nwhen = '''{condition}'''\n")
}

/// Returns true if a condition is true for a payment.
fn is_true(condition: &str, input: &CheckInput) -> bool {
    assess(&make_rule(condition), input).fired == ["r"]
}

/// Returns the errors of a file.
fn find_errors(file: &str) -> Vec<TextError> {
    RuleSet::parse(file).err().unwrap_or_default()
}
