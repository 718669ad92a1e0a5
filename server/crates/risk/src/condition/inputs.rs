//! Names of the facts and counters that a condition reads.

use std::collections::BTreeSet;

use super::{Condition, Operand, Symbols};

/// Returns the names of the facts and counters of a condition, sorted, each once.
pub(crate) fn name_inputs(condition: &Condition, symbols: &Symbols) -> Vec<String> {
    let mut names = BTreeSet::new();
    let mut open = vec![condition];
    let name_fact = |fact: &usize| symbols.find_fact(*fact).map(ToString::to_string);
    while let Some(condition) = open.pop() {
        match condition {
            Condition::All(parts) | Condition::Any(parts) => open.extend(parts),
            Condition::Not(inside) => open.push(inside),
            Condition::Compare { left, right, .. } => {
                names.extend([left, right].into_iter().filter_map(|operand| match operand {
                    Operand::Fact(fact) => name_fact(fact),
                    Operand::Counter(counter) => symbols.counters().get(*counter).map(ToString::to_string),
                    Operand::Literal(_) => None,
                }));
            }
            Condition::In { fact, .. }
            | Condition::Match { fact, .. }
            | Condition::IsPresent(fact)
            | Condition::IsMissing(fact)
            | Condition::IsTrue(fact)
            | Condition::HasSource { fact, .. } => names.extend(name_fact(fact)),
        }
    }
    names.into_iter().collect()
}
