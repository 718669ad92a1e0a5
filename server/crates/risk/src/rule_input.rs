//! Values of the facts that a rule reads, as texts for people.

use super::fact::{Fact, FactKind, FactSlot, SCALE, Value};
use super::input::{Facts, Reading};
use super::{Rule, RuleSet};

/// A fact or counter in the condition of a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleInput {
    /// Its name, as in the condition.
    pub name: String,
    /// Its value for a payment.
    pub value: RuleInputValue,
}

/// Value of an input of a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RuleInputValue {
    /// The value of a fact, or its values with commas between.
    Known(String),
    /// The payment does not have the fact.
    Missing,
    /// A counter, whose value at the time of the check is not kept.
    Counter,
}

impl RuleSet {
    /// Reads the facts in the condition of a rule for a payment, sorted by name.
    pub fn read_inputs(&self, rule: &Rule, facts: &Facts<'_>) -> Vec<RuleInput> {
        let reading = Reading { facts: *facts, time: facts.input.at.to_zoned(self.zone.clone()) };
        let read = |name: &String| {
            let value = match Fact::find(name) {
                None => RuleInputValue::Counter,
                Some(fact) => read_fact(&fact, &reading),
            };
            RuleInput { name: name.clone(), value }
        };
        rule.inputs.iter().map(read).collect()
    }
}

fn read_fact(fact: &Fact, reading: &Reading<'_>) -> RuleInputValue {
    let format = |value: &Value| format_value(value, fact.row.kind);
    match fact.read(reading) {
        FactSlot::Missing => RuleInputValue::Missing,
        FactSlot::One(value) => RuleInputValue::Known(format(&value)),
        FactSlot::Many(values) => RuleInputValue::Known(values.iter().map(format).collect::<Vec<_>>().join(", ")),
    }
}

/// Formats a value of a kind.
fn format_value(value: &Value, kind: FactKind) -> String {
    match (value, kind) {
        (Value::Text(text), _) => text.clone(),
        (Value::Flag(flag), _) => flag.to_string(),
        (Value::Number(minutes), FactKind::Time) => format!("{:02}:{:02}", minutes / 60, minutes % 60),
        (Value::Number(seconds), FactKind::Duration) => format_seconds(*seconds),
        (Value::Number(number), FactKind::Amount) => format_decimal(*number, 2),
        (Value::Number(number), FactKind::Text | FactKind::Number | FactKind::Flag) => format_decimal(*number, 0),
    }
}

/// Formats ten-thousandths with at least this number of decimals, and no further zeros at the end.
fn format_decimal(number: i128, decimals: usize) -> String {
    let (whole, parts) = (number.unsigned_abs() / SCALE.unsigned_abs(), number.unsigned_abs() % SCALE.unsigned_abs());
    let digits = format!("{parts:04}");
    let kept = digits.trim_end_matches('0').len().max(decimals);
    let digits = digits.get(..kept).filter(|digits| !digits.is_empty());
    let sign = if number < 0 { "-" } else { "" };
    format!("{sign}{whole}{}", digits.map(|digits| format!(".{digits}")).unwrap_or_default())
}

/// Formats seconds in the largest unit of which they have at least two.
fn format_seconds(seconds: i128) -> String {
    let units = [(86_400, "d"), (3_600, "h"), (60, "min")];
    let unit = units.into_iter().find(|(length, _)| seconds.abs() >= 2 * length);
    let (length, name) = unit.unwrap_or((1, "s"));
    format!("{} {name}", seconds / length)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use jiff::Timestamp;
    use tillgate_shared::money::{Amount, Currency};

    use super::*;
    use crate::{CheckInput, RiskLists};

    #[test]
    fn the_inputs_of_a_rule_have_the_values_of_the_payment() {
        let rules = "zone = 'UTC'\n[[rule]]\nname = 'a'\nscore = 1\n\
            when = 'amount > 5 and customer.email is present and account.age < 3 d and time > 01:00 \
            and billing.city is missing and count(card, 1 h) > 2 and cart.items[n].type = \"DIGITAL\"'\n";
        let rules = RuleSet::parse(rules).unwrap();
        let mut input = CheckInput {
            at: "2026-11-28T09:05:00Z".parse::<Timestamp>().unwrap(),
            amount: Some(Amount::parse("920.50", Currency::parse("EUR").unwrap()).unwrap()),
            account_age: Some(jiff::SignedDuration::from_hours(50)),
            ..CheckInput::default()
        };
        input.parameters.set("customer.email", "Jo@Kiln.Example");
        input.parameters.set("cart.items[0].type", "DIGITAL");
        input.parameters.set("cart.items[1].type", "PHYSICAL");
        let lists = RiskLists::default();
        let read = rules.read_inputs(&rules.rules()[0], &Facts { input: &input, lists: &lists });
        let read: Vec<(&str, &RuleInputValue)> = read.iter().map(|input| (&*input.name, &input.value)).collect();
        let known = |text: &str| RuleInputValue::Known(text.to_owned());
        let expected = [
            ("account.age", &known("2 d")),
            ("amount", &known("920.50")),
            ("billing.city", &RuleInputValue::Missing),
            ("cart.items[n].type", &known("digital, physical")),
            ("count(card, 1 h)", &RuleInputValue::Counter),
            ("customer.email", &known("jo@kiln.example")),
            ("time", &known("09:05")),
        ];
        assert_eq!(read, expected);
    }

    #[test]
    fn numbers_have_as_many_decimals_as_they_need() {
        for (number, decimals, text) in
            [(0, 0, "0"), (15_000, 0, "1.5"), (-5, 0, "-0.0005"), (9_200_000, 2, "920.00"), (70_000, 0, "7")]
        {
            assert_eq!(format_decimal(number, decimals), text);
        }
        assert_eq!((format_seconds(59), format_seconds(7_199)), ("59 s".to_owned(), "119 min".to_owned()));
    }
}
