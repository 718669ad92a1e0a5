//! Conditions of rules: a small typed language without loops, whose evaluation always ends.

mod bin_digits;
mod cost;
mod evaluate;
mod inputs;
mod operand;
mod parser;
mod print;
mod symbols;
mod token;

pub(super) use bin_digits::BIN_DIGITS;
pub(super) use cost::count_condition;
pub use evaluate::RulesTooCostly;
pub(super) use evaluate::{Evaluation, KnownValues, Reduced};
pub(super) use inputs::name_inputs;
pub(super) use parser::parse_condition;
pub(super) use print::PrintedCondition;
pub(super) use symbols::Symbols;

use super::fact::{FactKind, Source, Value};

/// A condition. Facts and counters are indexes in [`Symbols`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Condition {
    /// All of these.
    All(Vec<Condition>),
    /// One of these.
    Any(Vec<Condition>),
    /// Not this one.
    Not(Box<Condition>),
    /// A comparison of two values.
    Compare { left: Operand, comparison: Comparison, right: Operand },
    /// A value that is in a list, or is not.
    In { fact: usize, negated: bool, values: Vec<Value> },
    /// A text that has another one in it.
    Match { fact: usize, part: TextPart, text: String },
    /// A fact that is known.
    IsPresent(usize),
    /// A fact that is not known.
    IsMissing(usize),
    /// A fact that is true.
    IsTrue(usize),
    /// A fact that was chosen by a party, or was not.
    HasSource { fact: usize, negated: bool, source: Source },
}

/// A side of a comparison.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Operand {
    /// A fact.
    Fact(usize),
    /// A velocity counter.
    Counter(usize),
    /// A fixed value.
    Literal(Value),
}

/// A comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Comparison {
    Equal,
    Unequal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl Comparison {
    const ALL: [Self; 6] =
        [Self::Equal, Self::Unequal, Self::Less, Self::LessOrEqual, Self::Greater, Self::GreaterOrEqual];

    /// Returns its sign.
    fn as_str(self) -> &'static str {
        match self {
            Self::Equal => "=",
            Self::Unequal => "!=",
            Self::Less => "<",
            Self::LessOrEqual => "<=",
            Self::Greater => ">",
            Self::GreaterOrEqual => ">=",
        }
    }

    fn find(sign: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|comparison| comparison.as_str() == sign)
    }

    /// Returns true if it compares the order of two values.
    fn needs_order(self) -> bool {
        !matches!(self, Self::Equal | Self::Unequal)
    }
}

/// The part of a text that is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TextPart {
    Anywhere,
    Start,
    End,
}

/// The kind of condition, which decides what it may read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ConditionScope {
    /// A rule about a payment: everything.
    Payment,
    /// An offer, which is evaluated before there is a payment: no fact about a new card or account, and no counter of
    /// cards, accounts or holders.
    Offer,
}

/// An error in a condition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ConditionError {
    /// Byte offset in the condition.
    pub(super) at: usize,
    /// Description of the error and of the remedy.
    pub(super) message: String,
}

impl ConditionError {
    fn new(at: usize, message: impl Into<String>) -> Self {
        Self { at, message: message.into() }
    }
}

/// Returns an example of a comparison with a fact, for errors.
fn write_example(name: &str, kind: FactKind) -> String {
    match kind {
        FactKind::Text => format!("{name} = \"DE\""),
        FactKind::Number => format!("{name} > 3"),
        FactKind::Amount => format!("{name} > 100"),
        FactKind::Duration => format!("{name} < 1 d"),
        FactKind::Time => format!("{name} >= 22:00"),
        FactKind::Flag => format!("not {name}"),
    }
}
