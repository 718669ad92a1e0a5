//! Parser of the tests of one fact or velocity counter, with the checks of their types.

use tillgate_shared::money::Currency;

use super::super::MAX_DISTINCT;
use super::super::fact::{Fact, FactKind, Source, Value, parse_decimal, suggest_among};
use super::super::velocity::{Measure, Subject, VelocityCounter, VelocityKey, WINDOW_SECONDS};
use super::parser::{Parser, describe_unknown_fact};
use super::token::{ConditionToken, shorten_text};
use super::{Comparison, Condition, ConditionError, ConditionScope, Operand, TextPart, write_example};

/// Largest number of values in a list.
const MAX_LIST: usize = 1_000;
/// Units of durations in seconds.
const UNITS: [(&str, i64); 4] = [("s", 1), ("min", 60), ("h", 3_600), ("d", 86_400)];
/// Largest number of digits of a duration.
const DURATION_DIGITS: usize = 9;

impl Parser<'_, '_> {
    /// Parses `= VALUE` and the like after a fact.
    pub(super) fn parse_comparison(
        &mut self,
        fact: usize,
        comparison: Comparison,
    ) -> Result<Condition, ConditionError> {
        let (name, kind, _) = self.describe_fact(fact);
        if kind == FactKind::Flag {
            return Err(self.make_error(format!("`{name}` is true or false: write `{name}` or `not {name}`")));
        }
        if kind == FactKind::Text && comparison.needs_order() {
            let message =
                format!("`{name}` is a text, which has no order: use `=`, `!=`, `in`, `contains` and the like");
            return Err(self.make_error(message));
        }
        self.take_token();
        let right = match self.peek_token() {
            ConditionToken::Word(_) => self.parse_right_fact(&name, kind)?,
            _ => Operand::Literal(self.parse_literal(&name, kind)?),
        };
        Ok(Condition::Compare { left: Operand::Fact(fact), comparison, right })
    }

    /// Parses the fact with which another one is compared.
    fn parse_right_fact(&mut self, left: &str, kind: FactKind) -> Result<Operand, ConditionError> {
        let at = self.find_offset();
        let fact = self.parse_fact()?;
        let (name, other, has_many) = self.describe_fact(fact);
        if has_many {
            let message = format!("`{name}` has several values: it can stand on the left side only");
            return Err(ConditionError::new(at, message));
        }
        if other != kind {
            let message = format!("`{left}` is {}, and `{name}` is {}", kind.with_article(), other.with_article());
            return Err(ConditionError::new(at, message));
        }
        Ok(Operand::Fact(fact))
    }

    /// Parses a fixed value of a type.
    fn parse_literal(&mut self, name: &str, kind: FactKind) -> Result<Value, ConditionError> {
        let at = self.find_offset();
        let wrong = |parser: &Self, wanted: &str| {
            let example = write_example(name, kind);
            let found = parser.peek_token().describe();
            parser.make_error(format!(
                "`{name}` is {}: {wanted}, such as `{example}`; found {found}",
                kind.with_article()
            ))
        };
        match (kind, self.peek_token()) {
            (FactKind::Text, ConditionToken::Text(text)) => {
                let value = Value::from_named_text(name, text);
                self.take_token();
                Ok(value)
            }
            (FactKind::Text, _) => Err(wrong(self, "compare it with a text in double quotes")),
            (FactKind::Time, ConditionToken::Time(minutes)) => {
                let value = Value::Number((*minutes).into());
                self.take_token();
                Ok(value)
            }
            (FactKind::Time, _) => Err(wrong(self, "compare it with a time")),
            (FactKind::Duration, ConditionToken::Number(_)) => Ok(Value::Number(self.parse_duration()?.into())),
            (FactKind::Duration, _) => Err(wrong(self, "compare it with a duration")),
            (FactKind::Number | FactKind::Amount, ConditionToken::Number(number)) => {
                let decimals = if kind == FactKind::Amount { 2 } else { 4 };
                let value = parse_number(number, decimals).map_err(|message| ConditionError::new(at, message))?;
                self.take_token();
                if kind == FactKind::Amount
                    && matches!(self.peek_token(), ConditionToken::Word(word) if Currency::parse(word).is_some())
                {
                    let message =
                        "amounts are in the payment's currency: write the number alone, and `currency = \"EUR\"`";
                    return Err(self.make_error(message));
                }
                Ok(value)
            }
            (FactKind::Number | FactKind::Amount | FactKind::Flag, _) => Err(wrong(self, "compare it with a number")),
        }
    }

    /// Parses a duration, such as `10 min`, in seconds.
    fn parse_duration(&mut self) -> Result<i64, ConditionError> {
        let at = self.find_offset();
        let advice = "a duration is a whole number and a unit: 30 s, 10 min, 24 h or 90 d";
        let ConditionToken::Number(digits) = *self.peek_token() else {
            return Err(self.make_error(format!("{advice}; found {}", self.peek_token().describe())));
        };
        let is_short = digits.len() <= DURATION_DIGITS;
        let number = digits.parse::<i64>().ok().filter(|number| is_short && *number >= 0);
        let number = number.ok_or_else(|| ConditionError::new(at, advice))?;
        self.take_token();
        let unit = match self.peek_token() {
            ConditionToken::Word(word) => UNITS.iter().find(|(name, _)| name == word),
            _ => None,
        };
        let Some((_, seconds)) = unit else {
            return Err(self.make_error(format!("{advice}; found {}", self.peek_token().describe())));
        };
        self.take_token();
        Ok(number * seconds)
    }

    /// Parses `is present` or `is missing`.
    pub(super) fn parse_presence(&mut self, fact: usize) -> Result<Condition, ConditionError> {
        self.take_token();
        if self.take_word("present") {
            Ok(Condition::IsPresent(fact))
        } else if self.take_word("missing") {
            Ok(Condition::IsMissing(fact))
        } else {
            let found = self.peek_token().describe();
            Err(self.make_error(format!("expected `present` or `missing` after `is`, found {found}")))
        }
    }

    /// Parses `in (…)` or `not in (…)`.
    pub(super) fn parse_list(&mut self, fact: usize) -> Result<Condition, ConditionError> {
        let (name, kind, _) = self.describe_fact(fact);
        let negated = self.take_word("not");
        if !self.take_word("in") {
            return Err(self.make_error(format!("expected `in` after `not`, found {}", self.peek_token().describe())));
        }
        if kind == FactKind::Flag {
            return Err(self.make_error(format!("`{name}` is true or false: write `{name}` or `not {name}`")));
        }
        self.expect_sign("(", "`in`")?;
        let mut values = vec![self.parse_literal(&name, kind)?];
        while self.take_sign(",") {
            if values.len() == MAX_LIST {
                return Err(self.make_error(format!("a list has at most {MAX_LIST} values")));
            }
            values.push(self.parse_literal(&name, kind)?);
        }
        self.expect_sign(")", "the values of the list")?;
        values.sort_unstable();
        values.dedup();
        Ok(Condition::In { fact, negated, values })
    }

    /// Parses `contains`, `starts with` or `ends with` and a text.
    pub(super) fn parse_match(&mut self, fact: usize) -> Result<Condition, ConditionError> {
        let (name, kind, _) = self.describe_fact(fact);
        let at = self.find_offset();
        let ConditionToken::Word(word) = self.take_token() else { return Err(self.make_error("expected `contains`")) };
        let part = match word {
            "starts" => TextPart::Start,
            "ends" => TextPart::End,
            _ => TextPart::Anywhere,
        };
        if part != TextPart::Anywhere && !self.take_word("with") {
            let found = self.peek_token().describe();
            return Err(self.make_error(format!("expected `with` after `{word}`, found {found}")));
        }
        if kind != FactKind::Text {
            let message = format!("`{word}` is for texts, and `{name}` is {}", kind.with_article());
            return Err(ConditionError::new(at, message));
        }
        let is_empty = matches!(self.peek_token(), ConditionToken::Text(text) if text.is_empty());
        if is_empty {
            return Err(self.make_error(format!("every text has this in it; write `{name} is present`")));
        }
        match self.parse_literal(&name, kind)? {
            Value::Text(text) => Ok(Condition::Match { fact, part, text }),
            _ => Err(self.make_error("expected a text in double quotes")),
        }
    }

    /// Parses `source(FACT) = SOURCE`.
    pub(super) fn parse_source(&mut self) -> Result<Condition, ConditionError> {
        self.take_token();
        self.expect_sign("(", "`source`")?;
        let fact = self.parse_fact()?;
        self.expect_sign(")", "the fact")?;
        let negated = match self.peek_token() {
            ConditionToken::Sign("=") => false,
            ConditionToken::Sign("!=") => true,
            found => {
                let message = format!("expected `=` or `!=` after `source(…)`, found {}", found.describe());
                return Err(self.make_error(message));
            }
        };
        self.take_token();
        let found = match self.peek_token() {
            ConditionToken::Word(word) => Source::ALL.into_iter().find(|source| source.as_str() == *word),
            _ => None,
        };
        let Some(source) = found else {
            let message = format!("a source is browser, merchant or gateway; found {}", self.peek_token().describe());
            return Err(self.make_error(message));
        };
        self.take_token();
        Ok(Condition::HasSource { fact, negated, source })
    }

    /// Parses a velocity counter and its comparison.
    pub(super) fn parse_velocity(&mut self) -> Result<Condition, ConditionError> {
        let at = self.find_offset();
        let counter = self.parse_counter()?;
        let kind = if counter.is_sum() { FactKind::Amount } else { FactKind::Number };
        let (name, is_distinct) = (counter.to_string(), counter.is_distinct());
        let counter = self.symbols.intern_counter(counter).map_err(|message| ConditionError::new(at, message))?;
        let comparison = match self.peek_token() {
            ConditionToken::Sign(sign) => Comparison::find(sign),
            _ => None,
        };
        let Some(comparison) = comparison else {
            let (example, found) = (write_example(&name, kind), self.peek_token().describe());
            return Err(self.make_error(format!("expected a comparison, such as `{example}`, found {found}")));
        };
        self.take_token();
        let at = self.find_offset();
        let value = self.parse_literal(&name, kind)?;
        if is_distinct && value >= Value::from_whole(MAX_DISTINCT) {
            let message = format!("different values are counted up to {MAX_DISTINCT}; compare with a smaller number");
            return Err(ConditionError::new(at, message));
        }
        let right = Operand::Literal(value);
        Ok(Condition::Compare { left: Operand::Counter(counter), comparison, right })
    }

    fn parse_counter(&mut self) -> Result<VelocityCounter, ConditionError> {
        let ConditionToken::Word(word) = self.take_token() else { return Err(self.make_error("expected a counter")) };
        self.expect_sign("(", &format!("`{word}`"))?;
        let measure = match word {
            "count" => Measure::Count,
            "sum" => Measure::Sum,
            _ => {
                let subject = self.parse_subject()?;
                if !self.take_word("by") {
                    let found = self.peek_token().describe();
                    let message =
                        format!("expected `by` and a key, such as `distinct(card by ip, 1 h)`, found {found}");
                    return Err(self.make_error(message));
                }
                Measure::Distinct(subject)
            }
        };
        let mut keys = vec![self.parse_key()?];
        self.expect_sign(",", "the key")?;
        if matches!(self.peek_token(), ConditionToken::Word(_)) {
            keys.push(self.parse_key()?);
            self.expect_sign(",", "the second key")?;
        }
        keys.sort_unstable();
        keys.dedup();
        let at = self.find_offset();
        let seconds = self.parse_duration()?;
        if !WINDOW_SECONDS.contains(&seconds) {
            return Err(ConditionError::new(at, "the window of a counter is between 1 min and 90 d"));
        }
        self.expect_sign(")", "the window")?;
        Ok(VelocityCounter { measure, keys, seconds })
    }

    fn parse_key(&mut self) -> Result<VelocityKey, ConditionError> {
        let ConditionToken::Word(word) = *self.peek_token() else {
            return Err(
                self.make_error(format!("expected a key, such as `card`, found {}", self.peek_token().describe()))
            );
        };
        let key = VelocityKey::find(word).ok_or_else(|| {
            let names = VelocityKey::NAMED.iter().map(|(name, _)| *name);
            let hint = suggest_among(word, names).map_or_else(String::new, |name| format!("; did you mean `{name}`?"));
            let keys = "a key is card, email, ip, network, device, account, holder, address or risk.parameters[name]";
            self.make_error(format!("there is no key `{}`: {keys}{hint}", shorten_text(word)))
        })?;
        if self.scope == ConditionScope::Offer && key.needs_account() {
            let message = format!("an offer is made before the shopper chooses how to pay: it cannot count by `{key}`");
            return Err(self.make_error(message));
        }
        self.take_token();
        Ok(key)
    }

    fn parse_subject(&mut self) -> Result<Subject, ConditionError> {
        let at = self.find_offset();
        let ConditionToken::Word(word) = *self.peek_token() else {
            return Err(self.make_error(format!("expected a key or a fact, found {}", self.peek_token().describe())));
        };
        if let Some(key) = VelocityKey::find(word) {
            self.take_token();
            return Ok(Subject::Key(key));
        }
        let fact = Fact::find(word).ok_or_else(|| ConditionError::new(at, describe_unknown_fact(word)))?;
        if fact.row.kind != FactKind::Text || fact.has_many_values() {
            return Err(
                self.make_error(format!("different values are counted of a key or a text, and `{word}` is neither"))
            );
        }
        self.take_token();
        Ok(Subject::Fact(fact.name))
    }
}

/// Reads a number with limited decimals.
fn parse_number(text: &str, decimals: usize) -> Result<Value, String> {
    let number = parse_decimal(text).map(Value::Number);
    let number = number.ok_or("a number has at most 15 digits, a dot and 4 decimals")?;
    let has_more = text.split_once('.').is_some_and(|(_, digits)| digits.len() > decimals);
    if has_more { Err(format!("an amount has at most {decimals} decimals")) } else { Ok(number) }
}
