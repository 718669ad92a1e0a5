//! Evaluation of conditions in two steps: first with everything that is known without a lock, then with the counters
//! and with the facts that are decided under the write lock. It has no errors but one: the steps of an evaluation are
//! limited. A test of a fact or counter that is not known is false.

use std::cmp::Ordering;

use super::super::MAX_COST;
use super::super::fact::{Fact, FactSlot, Source, Value};
use super::super::input::Reading;
use super::super::{Counters, Facts};
use super::cost::{match_steps, search_steps};
use super::{Comparison, Condition, Operand, Symbols, TextPart};

/// The evaluation of a payment needed more than [`crate::MAX_COST`] steps. The check has failed then.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the rules need too many steps for this payment")]
pub struct RulesTooCostly;

/// The values of all facts and counters of a file for one payment, each read once.
pub(crate) struct Evaluation<'a> {
    reading: Reading<'a>,
    symbols: &'a Symbols,
    values: KnownValues,
}

/// Values that are known, and the steps that are left. They are kept between the two steps of an evaluation.
#[derive(Debug, Clone)]
pub(crate) struct KnownValues {
    /// By index of the fact. `None` if it is not decided yet.
    slots: Vec<Option<FactSlot>>,
    /// By index of the counter. Empty before the counters were read.
    counts: Vec<Option<Value>>,
    /// Sources of a fact's values, by index of the fact. `None` if nothing has asked for them.
    sources: Vec<Option<Vec<Source>>>,
    steps_left: u64,
}

/// A condition, evaluated as far as its values are known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Reduced {
    /// The condition is true or false.
    Known(bool),
    /// The rest of the condition, which needs a counter or a fact that is not decided yet.
    Open(Condition),
}

impl<'a> Evaluation<'a> {
    /// Begins an evaluation: reads the facts that cannot change any more.
    pub(crate) fn begin(symbols: &'a Symbols, facts: &Facts<'a>, zone: &jiff::tz::TimeZone) -> Self {
        let reading = make_reading(facts, zone);
        let slots: Vec<_> =
            symbols.facts().iter().map(|fact| (!fact.row.is_late).then(|| fact.read(&reading))).collect();
        let sources = vec![None; slots.len()];
        let values = KnownValues { slots, counts: Vec::new(), sources, steps_left: MAX_COST };
        Self { reading, symbols, values }
    }

    /// Continues an evaluation: reads the facts that were not decided, and the counters.
    pub(crate) fn resume(
        symbols: &'a Symbols,
        facts: &Facts<'a>,
        zone: &jiff::tz::TimeZone,
        counters: &impl Counters,
        mut values: KnownValues,
    ) -> Self {
        let reading = make_reading(facts, zone);
        for (fact, slot) in symbols.facts().iter().zip(&mut values.slots) {
            slot.get_or_insert_with(|| fact.read(&reading));
        }
        let read_count = |counter| {
            let count = counters.read_counter(counter, facts)?;
            Some(if counter.is_sum() { Value::from_hundredths(count) } else { Value::from_whole(count) })
        };
        values.counts = symbols.counters().iter().map(read_count).collect();
        Self { reading, symbols, values }
    }

    /// Returns what has to be kept until the evaluation continues.
    pub(crate) fn into_values(self) -> KnownValues {
        self.values
    }

    /// Returns true if the condition is true. Every value is known after [`Evaluation::resume`].
    ///
    /// # Errors
    /// If the evaluation has no steps left.
    pub(crate) fn is_true(&mut self, condition: &Condition) -> Result<bool, RulesTooCostly> {
        Ok(self.reduce(condition)? == Reduced::Known(true))
    }

    /// Evaluates a condition as far as its values are known. The depth of the recursion is limited by the parser.
    ///
    /// # Errors
    /// If the evaluation has no steps left.
    pub(crate) fn reduce(&mut self, condition: &Condition) -> Result<Reduced, RulesTooCostly> {
        match condition {
            Condition::All(parts) => self.reduce_parts(parts, true),
            Condition::Any(parts) => self.reduce_parts(parts, false),
            Condition::Not(inside) => Ok(match self.reduce(inside)? {
                Reduced::Known(value) => Reduced::Known(!value),
                Reduced::Open(rest) => Reduced::Open(Condition::Not(Box::new(rest))),
            }),
            leaf => Ok(match self.test_leaf(leaf)? {
                Some(value) => Reduced::Known(value),
                None => Reduced::Open(leaf.clone()),
            }),
        }
    }

    /// Reduces parts of which all (`neutral` is true) or one (`neutral` is false) have to be true.
    fn reduce_parts(&mut self, parts: &[Condition], neutral: bool) -> Result<Reduced, RulesTooCostly> {
        let mut open = Vec::new();
        for part in parts {
            match self.reduce(part)? {
                Reduced::Known(value) if value == neutral => {}
                Reduced::Known(value) => return Ok(Reduced::Known(value)),
                Reduced::Open(rest) => open.push(rest),
            }
        }
        Ok(match open.len() {
            0 => Reduced::Known(neutral),
            _ if neutral => Reduced::Open(Condition::All(open)),
            _ => Reduced::Open(Condition::Any(open)),
        })
    }

    /// Tests a part that has no parts of its own. `None` if a value is not known yet.
    fn test_leaf(&mut self, leaf: &Condition) -> Result<Option<bool>, RulesTooCostly> {
        self.values.take_steps(1)?;
        match leaf {
            Condition::Compare { left, comparison, right } => self.compare_operands(left, *comparison, right),
            Condition::In { fact, negated, values } => self.values.test_fact(
                *fact,
                |_| search_steps(values.len()),
                |value| values.binary_search(value).is_ok() != *negated,
            ),
            Condition::Match { fact, part, text } => self.values.test_fact(
                *fact,
                |value| match_steps(value.as_text().map_or(0, str::len)),
                |value| value.as_text().is_some_and(|value| has_part(value, *part, text)),
            ),
            Condition::IsPresent(fact) => Ok(self.values.find_slot(*fact).map(|slot| !slot.is_missing())),
            Condition::IsMissing(fact) => Ok(self.values.find_slot(*fact).map(FactSlot::is_missing)),
            Condition::IsTrue(fact) => self.values.test_fact(*fact, |_| 1, |value| *value == Value::Flag(true)),
            Condition::HasSource { fact, negated, source } => {
                let is_missing = self.values.find_slot(*fact).map(FactSlot::is_missing);
                Ok(is_missing.map(|is_missing| !is_missing && self.has_source(*fact, *source) != *negated))
            }
            Condition::All(_) | Condition::Any(_) | Condition::Not(_) => Ok(None),
        }
    }

    fn compare_operands(
        &mut self,
        left: &Operand,
        comparison: Comparison,
        right: &Operand,
    ) -> Result<Option<bool>, RulesTooCostly> {
        let right = match self.values.find_operand(right) {
            Some(Some(value)) => value.clone(),
            Some(None) => return Ok(Some(false)),
            None => return Ok(None),
        };
        let matches = |left: &Value| has_order(left.cmp(&right), comparison);
        match left {
            Operand::Fact(fact) => self.values.test_fact(*fact, |_| 1, matches),
            other => Ok(self.values.find_operand(other).map(|left| left.is_some_and(matches))),
        }
    }

    /// Returns true if a value of the fact has this source. The sources of a fact are read once, because those of a
    /// fact of many items are found among all parameters.
    fn has_source(&mut self, fact: usize, source: Source) -> bool {
        let (Some(slot), Some(row)) = (self.values.find_slot(fact), self.symbols.find_fact(fact)) else { return false };
        let sources = match self.values.sources.get(fact) {
            Some(Some(sources)) => return sources.contains(&source),
            _ => read_sources(row, slot, &self.reading),
        };
        let has_source = sources.contains(&source);
        if let Some(known) = self.values.sources.get_mut(fact) {
            *known = Some(sources);
        }
        has_source
    }
}

impl KnownValues {
    /// Takes steps of the evaluation.
    fn take_steps(&mut self, steps: u64) -> Result<(), RulesTooCostly> {
        self.steps_left = self.steps_left.checked_sub(steps).ok_or(RulesTooCostly)?;
        Ok(())
    }

    /// Returns a fact's values. `None` if they are not decided yet.
    fn find_slot(&self, fact: usize) -> Option<&FactSlot> {
        self.slots.get(fact).map_or(Some(&FactSlot::Missing), Option::as_ref)
    }

    /// Returns the single value of an operand, `Some(None)` if it has none. `None` if it is not known yet.
    fn find_operand<'a>(&'a self, operand: &'a Operand) -> Option<Option<&'a Value>> {
        match operand {
            Operand::Literal(value) => Some(Some(value)),
            Operand::Fact(fact) => self.find_slot(*fact).map(FactSlot::single_value),
            Operand::Counter(counter) => self.counts.get(*counter).map(Option::as_ref),
        }
    }

    /// Tests the values of a fact until one passes. `count_steps` returns the steps of one value's test. `None` if they
    /// are not decided yet.
    fn test_fact(
        &mut self,
        fact: usize,
        count_steps: impl Fn(&Value) -> u64,
        test: impl Fn(&Value) -> bool,
    ) -> Result<Option<bool>, RulesTooCostly> {
        let Some(slot) = self.find_slot(fact) else { return Ok(None) };
        let mut steps = 0;
        let passes = slot.any_value(|value| {
            steps += count_steps(value);
            // The rest of a list is not tested once the steps are used up.
            steps > self.steps_left || test(value)
        });
        self.take_steps(steps)?;
        Ok(Some(passes))
    }
}

fn make_reading<'a>(facts: &Facts<'a>, zone: &jiff::tz::TimeZone) -> Reading<'a> {
    Reading { facts: *facts, time: facts.input.at.to_zoned(zone.clone()) }
}

fn read_sources(fact: &Fact, slot: &FactSlot, reading: &Reading<'_>) -> Vec<Source> {
    Source::ALL.into_iter().filter(|source| fact.has_source(*source, slot, reading)).collect()
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
