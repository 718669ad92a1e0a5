//! Printer of conditions, in one canonical form. A printed condition parses to the same condition again.

use std::fmt;

use super::super::fact::{FactKind, SCALE, Value};
use super::super::velocity::DisplayedDuration;
use super::{Condition, Operand, Symbols, TextPart};

/// A condition to print, with the names of its facts and counters.
pub(crate) struct PrintedCondition<'a> {
    pub(crate) condition: &'a Condition,
    pub(crate) symbols: &'a Symbols,
}

impl fmt::Display for PrintedCondition<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.condition {
            Condition::All(parts) => self.print_parts(f, parts, " and "),
            Condition::Any(parts) => self.print_parts(f, parts, " or "),
            Condition::Not(inside) => {
                f.write_str("not ")?;
                self.print_part(f, inside)
            }
            Condition::Compare { left, comparison, right } => {
                self.print_operand(f, left, FactKind::Text)?;
                write!(f, " {} ", comparison.as_str())?;
                self.print_operand(f, right, self.find_kind(left))
            }
            Condition::In { fact, negated, values } => {
                self.print_fact(f, *fact)?;
                f.write_str(if *negated { " not in (" } else { " in (" })?;
                for (index, value) in values.iter().enumerate() {
                    f.write_str(if index == 0 { "" } else { ", " })?;
                    print_value(f, value, self.find_kind(&Operand::Fact(*fact)))?;
                }
                f.write_str(")")
            }
            Condition::Match { fact, part, text } => {
                self.print_fact(f, *fact)?;
                f.write_str(match part {
                    TextPart::Anywhere => " contains ",
                    TextPart::Start => " starts with ",
                    TextPart::End => " ends with ",
                })?;
                print_text(f, text)
            }
            Condition::IsPresent(fact) => {
                self.print_fact(f, *fact)?;
                f.write_str(" is present")
            }
            Condition::IsMissing(fact) => {
                self.print_fact(f, *fact)?;
                f.write_str(" is missing")
            }
            Condition::IsTrue(fact) => self.print_fact(f, *fact),
            Condition::HasSource { fact, negated, source } => {
                f.write_str("source(")?;
                self.print_fact(f, *fact)?;
                write!(f, ") {} {}", if *negated { "!=" } else { "=" }, source.as_str())
            }
        }
    }
}

impl PrintedCondition<'_> {
    fn print_parts(&self, f: &mut fmt::Formatter<'_>, parts: &[Condition], between: &str) -> fmt::Result {
        for (index, part) in parts.iter().enumerate() {
            f.write_str(if index == 0 { "" } else { between })?;
            match part {
                // `and` binds more than `or`.
                Condition::All(_) if between == " or " => {
                    write!(f, "{}", PrintedCondition { condition: part, symbols: self.symbols })?;
                }
                _ => self.print_part(f, part)?,
            }
        }
        Ok(())
    }

    /// Prints a condition inside of another one, in parentheses if it has parts.
    fn print_part(&self, f: &mut fmt::Formatter<'_>, part: &Condition) -> fmt::Result {
        let inside = PrintedCondition { condition: part, symbols: self.symbols };
        match part {
            Condition::All(_) | Condition::Any(_) => write!(f, "({inside})"),
            _ => write!(f, "{inside}"),
        }
    }

    fn print_operand(&self, f: &mut fmt::Formatter<'_>, operand: &Operand, kind: FactKind) -> fmt::Result {
        match operand {
            Operand::Fact(fact) => self.print_fact(f, *fact),
            Operand::Counter(counter) => match self.symbols.counters().get(*counter) {
                Some(counter) => write!(f, "{counter}"),
                None => Ok(()),
            },
            Operand::Literal(value) => print_value(f, value, kind),
        }
    }

    fn print_fact(&self, f: &mut fmt::Formatter<'_>, fact: usize) -> fmt::Result {
        self.symbols.find_fact(fact).map_or(Ok(()), |fact| write!(f, "{fact}"))
    }

    /// Returns the type of the values that an operand is compared with.
    fn find_kind(&self, operand: &Operand) -> FactKind {
        match operand {
            Operand::Fact(fact) => self.symbols.find_fact(*fact).map_or(FactKind::Text, |fact| fact.row.kind),
            _ => FactKind::Number,
        }
    }
}

fn print_value(f: &mut fmt::Formatter<'_>, value: &Value, kind: FactKind) -> fmt::Result {
    match (value, kind) {
        (Value::Text(text), _) => print_text(f, text),
        (Value::Flag(flag), _) => write!(f, "{flag}"),
        (Value::Number(minutes), FactKind::Time) => write!(f, "{:02}:{:02}", minutes / 60, minutes % 60),
        (Value::Number(seconds), FactKind::Duration) => {
            write!(f, "{}", DisplayedDuration(i64::try_from(*seconds).unwrap_or(i64::MAX)))
        }
        (Value::Number(parts), _) => {
            let sign = if *parts < 0 { "-" } else { "" };
            let (whole, decimals) = (parts.abs() / SCALE, parts.abs() % SCALE);
            let decimals = format!("{decimals:04}");
            let decimals = decimals.trim_end_matches('0');
            write!(f, "{sign}{whole}{}{decimals}", if decimals.is_empty() { "" } else { "." })
        }
    }
}

fn print_text(f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    write!(f, "\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
