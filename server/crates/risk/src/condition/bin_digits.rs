//! Comparisons of a card's first digits with more digits than the fact `bin` has.

use super::super::fact::Value;
use super::super::rule::RuleSet;
use super::{Condition, Operand, Symbols};

/// Number of digits of the fact `bin`: as many as responses show of a stored card. A finer rule would tell the next
/// digits of its number.
pub(crate) const BIN_DIGITS: usize = 6;

/// Returns true if a condition compares `bin` with a text that no `bin` has, because it is too long.
fn compares_longer_bin(condition: &Condition, symbols: &Symbols) -> bool {
    let is_bin = |fact: &usize| symbols.find_fact(*fact).is_some_and(|fact| fact.name == "bin");
    let is_long = |text: &str| text.chars().count() > BIN_DIGITS;
    let is_long_value = |value: &Value| value.as_text().is_some_and(is_long);
    let mut open = vec![condition];
    while let Some(condition) = open.pop() {
        let is_found = match condition {
            Condition::All(parts) | Condition::Any(parts) => {
                open.extend(parts);
                false
            }
            Condition::Not(inside) => {
                open.push(inside);
                false
            }
            Condition::Compare { left: Operand::Fact(fact), right: Operand::Literal(value), .. } => {
                is_bin(fact) && is_long_value(value)
            }
            Condition::In { fact, values, .. } => is_bin(fact) && values.iter().any(is_long_value),
            Condition::Match { fact, text, .. } => is_bin(fact) && is_long(text),
            _ => false,
        };
        if is_found {
            return true;
        }
    }
    false
}

impl RuleSet {
    /// Returns the name of a rule that compares `bin` with more digits than it has, so that it does not mean what its
    /// author expects. A stored version of an earlier release may have one. `None` if there is no such rule.
    pub fn find_longer_bin(&self) -> Option<&str> {
        let found = self.rules.iter().find(|rule| compares_longer_bin(&rule.condition, &self.symbols));
        found.map(|rule| rule.name.as_str())
    }

    /// Checks that no rule compares `bin` with more digits than it has.
    ///
    /// # Errors
    /// A message with the name of the first such rule.
    pub fn check_bins(&self) -> Result<(), String> {
        match self.find_longer_bin() {
            None => Ok(()),
            Some(name) => Err(format!("the rule {name} compares `bin`, which has six digits, with more of them")),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_that_is_finer_than_the_shown_digits_is_found_however_it_compares() {
        for (when, is_long) in [
            (r#"bin = "42000000""#, true),
            (r#"not (amount > 1 and bin != "4200000")"#, true),
            (r#"bin in ("420000", "42000001")"#, true),
            (r#"bin starts with "4200001""#, true),
            (r#"bin contains "4200001" or amount > 1"#, true),
            (r#"bin in ("420000", "420001")"#, false),
            (r#"bin starts with "4200""#, false),
            (r#"billing.city = "Springfield""#, false),
        ] {
            let rules = RuleSet::parse(&format!("[[rule]]\nname = 'r'\nwhen = '{when}'\nscore = 1\n")).unwrap();
            assert_eq!(rules.find_longer_bin().is_some(), is_long, "{when}");
        }
    }
}
