//! Cost of conditions in steps. A step is about the comparison of two short values.

use super::{Condition, Operand, Symbols};

/// Largest number of items in a list of a request, as the parameter catalogue has it.
const MAX_ITEMS: u64 = 1_000;
/// Length of a long text, in bytes, as most parameters limit it.
const LONG_TEXT: usize = 255;
/// Bytes of a text that a search reads in one step.
const BYTES_PER_STEP: usize = 256;

/// Returns the steps of a search for a part in a text of this length.
pub(super) fn match_steps(length: usize) -> u64 {
    1 + u64::try_from(length / BYTES_PER_STEP).unwrap_or(u64::MAX - 1)
}

/// Returns the steps of a search for a value among this many sorted ones.
pub(super) fn search_steps(values: usize) -> u64 {
    1 + u64::from(values.checked_ilog2().unwrap_or(0) / 4)
}

/// Returns the most steps that a condition takes: for a list, those of the longest list that a request can have.
pub(crate) fn count_condition(condition: &Condition, symbols: &Symbols) -> u64 {
    let count_values = |fact: &usize| {
        let has_many = symbols.find_fact(*fact).is_some_and(super::super::fact::Fact::has_many_values);
        if has_many { MAX_ITEMS } else { 1 }
    };
    let mut steps = 0_u64;
    let mut open = vec![condition];
    while let Some(condition) = open.pop() {
        steps = steps.saturating_add(match condition {
            Condition::All(parts) | Condition::Any(parts) => {
                open.extend(parts);
                0
            }
            Condition::Not(inside) => {
                open.push(inside);
                0
            }
            Condition::Compare { left: Operand::Fact(fact), .. } | Condition::IsTrue(fact) => 1 + count_values(fact),
            Condition::In { fact, values, .. } => 1 + count_values(fact) * search_steps(values.len()),
            Condition::Match { fact, .. } => 1 + count_values(fact) * match_steps(LONG_TEXT),
            Condition::Compare { .. }
            | Condition::IsPresent(_)
            | Condition::IsMissing(_)
            | Condition::HasSource { .. } => 1,
        });
    }
    steps
}
