//! Parser of conditions, by recursive descent with bounded depth.
//!
//! `or` binds less than `and`, which binds less than `not`.

use super::super::fact::{Fact, FactKind, suggest_among, suggest_fact};
use super::super::{MAX_CONDITION_BYTES, MAX_DEPTH};
use super::token::{ConditionToken, read_tokens, shorten_text};
use super::{Comparison, Condition, ConditionError, ConditionScope, Symbols, write_example};

/// Words that cannot be facts.
const KEYWORDS: [&str; 13] =
    ["and", "or", "not", "in", "is", "contains", "starts", "ends", "with", "present", "missing", "by", "source"];

/// Parses a condition. Its facts and counters are added to the symbols.
///
/// # Errors
/// The first error in the condition.
pub(crate) fn parse_condition(
    text: &str,
    scope: ConditionScope,
    symbols: &mut Symbols,
) -> Result<Condition, ConditionError> {
    if text.len() > MAX_CONDITION_BYTES {
        return Err(ConditionError::new(0, format!("a condition has at most {MAX_CONDITION_BYTES} bytes: divide it")));
    }
    let mut parser = Parser { tokens: read_tokens(text)?, next: 0, depth: 0, scope, symbols };
    let condition = parser.parse_any()?;
    match parser.peek_token() {
        ConditionToken::End => Ok(condition),
        ConditionToken::Sign(")") => Err(parser.make_error("this parenthesis closes none: remove it")),
        found => {
            let message = format!("expected `and`, `or` or the end of the condition, found {}", found.describe());
            Err(parser.make_error(message))
        }
    }
}

/// Tokens of a condition and the place in them.
pub(super) struct Parser<'t, 's> {
    /// The last token is [`ConditionToken::End`].
    tokens: Vec<(usize, ConditionToken<'t>)>,
    next: usize,
    /// Number of open parentheses and `not`.
    depth: usize,
    pub(super) scope: ConditionScope,
    pub(super) symbols: &'s mut Symbols,
}

impl<'t> Parser<'t, '_> {
    /// Returns the next token, which stays.
    pub(super) fn peek_token(&self) -> &ConditionToken<'t> {
        self.tokens.get(self.next).map_or(&ConditionToken::End, |(_, token)| token)
    }

    /// Returns the offset of the next token.
    pub(super) fn find_offset(&self) -> usize {
        self.tokens.get(self.next).or(self.tokens.last()).map_or(0, |(at, _)| *at)
    }

    /// Takes the next token.
    pub(super) fn take_token(&mut self) -> ConditionToken<'t> {
        let token = self.peek_token().clone();
        self.next += 1;
        token
    }

    /// Takes the next token if it is this word.
    pub(super) fn take_word(&mut self, word: &str) -> bool {
        let found = matches!(self.peek_token(), ConditionToken::Word(found) if *found == word);
        self.next += usize::from(found);
        found
    }

    /// Takes the next token if it is this sign.
    pub(super) fn take_sign(&mut self, sign: &str) -> bool {
        let found = matches!(self.peek_token(), ConditionToken::Sign(found) if *found == sign);
        self.next += usize::from(found);
        found
    }

    /// Takes this sign, which has to be next. `after` describes the place.
    pub(super) fn expect_sign(&mut self, sign: &str, after: &str) -> Result<(), ConditionError> {
        if self.take_sign(sign) {
            return Ok(());
        }
        Err(self.make_error(format!("expected `{sign}` after {after}, found {}", self.peek_token().describe())))
    }

    /// Creates an error at the next token.
    pub(super) fn make_error(&self, message: impl Into<String>) -> ConditionError {
        ConditionError::new(self.find_offset(), message)
    }

    fn parse_any(&mut self) -> Result<Condition, ConditionError> {
        let mut parts = vec![self.parse_all()?];
        while self.take_word("or") {
            parts.push(self.parse_all()?);
        }
        Ok(if parts.len() == 1 { parts.remove(0) } else { Condition::Any(parts) })
    }

    fn parse_all(&mut self) -> Result<Condition, ConditionError> {
        let mut parts = vec![self.parse_unary()?];
        while self.take_word("and") {
            parts.push(self.parse_unary()?);
        }
        Ok(if parts.len() == 1 { parts.remove(0) } else { Condition::All(parts) })
    }

    fn parse_unary(&mut self) -> Result<Condition, ConditionError> {
        let is_not = matches!(self.peek_token(), ConditionToken::Word("not"));
        if !is_not && *self.peek_token() != ConditionToken::Sign("(") {
            return self.parse_test();
        }
        if self.depth == MAX_DEPTH {
            let message = format!("parentheses and `not` are nested more than {MAX_DEPTH} deep: write several rules");
            return Err(self.make_error(message));
        }
        self.depth += 1;
        self.take_token();
        let condition = if is_not {
            Condition::Not(Box::new(self.parse_unary()?))
        } else {
            let inside = self.parse_any()?;
            self.expect_sign(")", "the condition in parentheses")?;
            inside
        };
        self.depth -= 1;
        Ok(condition)
    }

    /// Parses a test of one fact or counter.
    fn parse_test(&mut self) -> Result<Condition, ConditionError> {
        let at = self.find_offset();
        let word = match self.peek_token() {
            ConditionToken::Word(word) => *word,
            found => {
                let found = found.describe();
                return Err(self.make_error(format!("expected a fact, such as `amount`, found {found}")));
            }
        };
        let is_call = matches!(self.tokens.get(self.next + 1), Some((_, ConditionToken::Sign("("))));
        match word {
            "source" if is_call && self.scope == ConditionScope::Offer => {
                let message =
                    "an offer reads nothing that a browser sent: write `… is present` in place of `source(…)`";
                Err(ConditionError::new(at, message))
            }
            "source" if is_call => self.parse_source(),
            "count" | "sum" | "distinct" if is_call => self.parse_velocity(),
            "count" | "sum" | "distinct" => {
                Err(ConditionError::new(at, format!("expected `(` after `{word}`, such as `count(card, 1 h) > 3`")))
            }
            _ => {
                let fact = self.parse_fact()?;
                self.parse_fact_test(at, fact)
            }
        }
    }

    /// Parses the name of a fact.
    pub(super) fn parse_fact(&mut self) -> Result<usize, ConditionError> {
        let at = self.find_offset();
        let ConditionToken::Word(name) = *self.peek_token() else {
            return Err(self.make_error(format!("expected a fact, found {}", self.peek_token().describe())));
        };
        if KEYWORDS.contains(&name) {
            return Err(self.make_error(format!("expected a fact, such as `amount`, found `{name}`")));
        }
        let fact = Fact::find(name).ok_or_else(|| ConditionError::new(at, describe_unknown_fact(name)))?;
        if fact.row.needs_account && self.scope == ConditionScope::Offer {
            let message = format!("an offer is made before the shopper chooses how to pay: it cannot read `{name}`");
            return Err(ConditionError::new(at, message));
        }
        if fact.row.is_for_offers && self.scope == ConditionScope::Payment {
            let message = format!(
                "`{name}` is for offers only: the score and the lists decide about a payment independently of its rules"
            );
            return Err(ConditionError::new(at, message));
        }
        self.take_token();
        self.symbols.intern_fact(fact).map_err(|message| ConditionError::new(at, message))
    }

    /// Returns the name and type of a fact.
    pub(super) fn describe_fact(&self, fact: usize) -> (String, FactKind, bool) {
        let fact = self.symbols.find_fact(fact);
        fact.map_or((String::new(), FactKind::Text, false), |fact| {
            (fact.name.clone(), fact.row.kind, fact.has_many_values())
        })
    }

    fn parse_fact_test(&mut self, at: usize, fact: usize) -> Result<Condition, ConditionError> {
        let (name, kind, _) = self.describe_fact(fact);
        match self.peek_token() {
            ConditionToken::Sign(sign) => {
                if let Some(comparison) = Comparison::find(sign) {
                    return self.parse_comparison(fact, comparison);
                }
            }
            ConditionToken::Word("is") => return self.parse_presence(fact),
            ConditionToken::Word("in" | "not") => return self.parse_list(fact),
            ConditionToken::Word("contains" | "starts" | "ends") => return self.parse_match(fact),
            _ => {}
        }
        if kind == FactKind::Flag {
            return Ok(Condition::IsTrue(fact));
        }
        let found = self.peek_token().describe();
        let example = write_example(&name, kind);
        let is_end = matches!(
            self.peek_token(),
            ConditionToken::End | ConditionToken::Sign(_) | ConditionToken::Word("and" | "or")
        );
        if is_end {
            return Err(ConditionError::new(at, format!("`{name}` needs a comparison, such as `{example}`")));
        }
        let comparisons = ["contains", "starts with", "ends with", "in", "is present", "is missing"];
        let similar = match self.peek_token() {
            ConditionToken::Word(word) => suggest_among(word, comparisons.into_iter()),
            _ => None,
        };
        let hint = similar.map_or_else(String::new, |similar| format!("; did you mean `{similar}`?"));
        let message = format!("expected a comparison after `{name}`, such as `{example}`, found {found}{hint}");
        Err(self.make_error(message))
    }
}

/// Describes a name that is not a fact.
pub(super) fn describe_unknown_fact(name: &str) -> String {
    let shown = shorten_text(name);
    let lower = name.to_ascii_lowercase();
    if KEYWORDS.contains(&lower.as_str()) {
        return format!("write `{lower}` in small letters");
    }
    match suggest_fact(name) {
        Some(similar) => format!("there is no fact `{shown}`; did you mean `{similar}`?"),
        None => format!("there is no fact `{shown}`; docs/risk.md lists all facts"),
    }
}
