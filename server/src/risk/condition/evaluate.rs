//! Evaluation of conditions. It has no errors: a test of a fact or counter that is not known is false.

use std::cmp::Ordering;

use super::super::fact::{Fact, FactSlot, Value};
use super::super::input::Reading;
use super::super::{Counters, Facts};
use super::{Comparison, Condition, Operand, Symbols, TextPart};

/// The values of all facts and counters of a file for one payment, each read once.
pub(in crate::risk) struct Evaluation<'a> {
    reading: Reading<'a>,
    facts: &'a [Fact],
    slots: Vec<FactSlot>,
    counts: Vec<Option<Value>>,
}

impl<'a> Evaluation<'a> {
    /// Reads the values.
    pub(in crate::risk) fn new(
        symbols: &'a Symbols,
        facts: &Facts<'a>,
        zone: &jiff::tz::TimeZone,
        counters: &impl Counters,
    ) -> Self {
        let reading = Reading { facts: *facts, time: facts.input.at.to_zoned(zone.clone()) };
        let slots = symbols.facts().iter().map(|fact| fact.read(&reading)).collect();
        let read_count = |counter| {
            let count = counters.read_counter(counter, facts)?;
            Some(if counter.is_sum() { Value::from_hundredths(count) } else { Value::from_whole(count) })
        };
        let counts = symbols.counters().iter().map(read_count).collect();
        Self { reading, facts: symbols.facts(), slots, counts }
    }

    /// Returns true if the condition is true. The depth of the recursion is limited by the parser.
    pub(in crate::risk) fn is_true(&self, condition: &Condition) -> bool {
        match condition {
            Condition::All(parts) => parts.iter().all(|part| self.is_true(part)),
            Condition::Any(parts) => parts.iter().any(|part| self.is_true(part)),
            Condition::Not(inside) => !self.is_true(inside),
            Condition::Compare { left, comparison, right } => self.compare_operands(left, *comparison, right),
            Condition::In { fact, negated, values } => {
                self.find_slot(*fact).any_value(|value| values.binary_search(value).is_ok() != *negated)
            }
            Condition::Match { fact, part, text } => self
                .find_slot(*fact)
                .any_value(|value| value.as_text().is_some_and(|value| has_part(value, *part, text))),
            Condition::IsPresent(fact) => !self.find_slot(*fact).is_missing(),
            Condition::IsMissing(fact) => self.find_slot(*fact).is_missing(),
            Condition::IsTrue(fact) => self.find_slot(*fact).any_value(|value| *value == Value::Flag(true)),
            Condition::HasSource { fact, negated, source } => {
                let slot = self.find_slot(*fact);
                let has_source = |fact: &Fact| fact.has_source(*source, slot, &self.reading);
                !slot.is_missing() && self.facts.get(*fact).is_some_and(has_source) != *negated
            }
        }
    }

    fn find_slot(&self, fact: usize) -> &FactSlot {
        self.slots.get(fact).unwrap_or(&FactSlot::Missing)
    }

    fn compare_operands(&self, left: &Operand, comparison: Comparison, right: &Operand) -> bool {
        let right = match right {
            Operand::Literal(value) => Some(value),
            Operand::Fact(fact) => self.find_slot(*fact).single_value(),
            Operand::Counter(counter) => self.counts.get(*counter).and_then(Option::as_ref),
        };
        let Some(right) = right else { return false };
        let matches = |left: &Value| has_order(left.cmp(right), comparison);
        match left {
            Operand::Fact(fact) => self.find_slot(*fact).any_value(matches),
            Operand::Counter(counter) => self.counts.get(*counter).and_then(Option::as_ref).is_some_and(matches),
            Operand::Literal(value) => matches(value),
        }
    }
}

fn has_order(order: Ordering, comparison: Comparison) -> bool {
    match comparison {
        Comparison::Equal => order.is_eq(),
        Comparison::Unequal => order.is_ne(),
        Comparison::Less => order.is_lt(),
        Comparison::LessOrEqual => order.is_le(),
        Comparison::Greater => order.is_gt(),
        Comparison::GreaterOrEqual => order.is_ge(),
    }
}

fn has_part(value: &str, part: TextPart, text: &str) -> bool {
    match part {
        TextPart::Anywhere => value.contains(text),
        TextPart::Start => value.starts_with(text),
        TextPart::End => value.ends_with(text),
    }
}
