//! Reader of rules files (TOML). Every error names its line and column in the file.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::OnceLock;

use jiff::tz::TimeZone;
use tillgate_domain::plain_line::PlainLine;
use tillgate_shared::result::ResultCode;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::condition::{Condition, ConditionScope, Symbols, count_condition, name_inputs, parse_condition};
use super::fact::suggest_among;
use super::offer::OfferSet;
use super::text_position::PositionedText;
use super::{
    MAX_COST, MAX_ERRORS, MAX_FILE_BYTES, MAX_NAME, MAX_NOTE, MAX_OFFERS, MAX_RULES, MAX_SCORE, Outcome, Rule,
    RuleEffect, RuleSet, TextError, Thresholds,
};

/// First part of the result codes that a rule may name.
const CODE_GROUP: &str = "100.400.";
/// Zone of a file that names none.
const DEFAULT_ZONE: &str = "UTC";

impl RuleSet {
    /// Reads a rules file.
    ///
    /// # Errors
    /// The errors in the file, at most 100, in the order of their places. If the text is not TOML, only errors
    /// of syntax. If it has no other error: its cost, if that is above [`MAX_COST`].
    pub fn parse(text: &str) -> Result<Self, Vec<TextError>> {
        let rules = Self::parse_stored(text)?;
        let positions = PositionedText::new(text);
        let errors: Vec<TextError> =
            rules.describe_cost().into_iter().map(|message| positions.make_error(0, message)).collect();
        if errors.is_empty() { Ok(rules) } else { Err(errors) }
    }

    /// Reads a rules file that was stored, perhaps before there was a limit of its cost. Each evaluation is limited all
    /// the same.
    ///
    /// # Errors
    /// Same as [`RuleSet::parse`], except for the cost.
    pub fn parse_stored(text: &str) -> Result<Self, Vec<TextError>> {
        let positions = PositionedText::new(text);
        if text.len() > MAX_FILE_BYTES {
            return Err(vec![positions.make_error(0, format!("a rules file has at most {MAX_FILE_BYTES} bytes"))]);
        }
        let (table, syntax) = DeTable::parse_recoverable(text);
        let mut reader = FileReader { positions, errors: Vec::new(), names: HashMap::new() };
        if !syntax.is_empty() {
            for error in syntax.iter().take(MAX_ERRORS) {
                let at = error.span().map_or(0, |span| span.start);
                reader.add_error(at, error.message().replace('\n', "; "));
            }
            return Err(reader.sort_errors());
        }
        let rules = reader.read_file(table.get_ref());
        if reader.errors.is_empty() { Ok(rules) } else { Err(reader.sort_errors()) }
    }
}

impl RuleSet {
    /// Describes what costs too much: the rules, the offers, or nothing.
    fn describe_cost(&self) -> Vec<String> {
        let rules = self.rules.iter().map(|rule| (rule.name.as_str(), count_condition(&rule.condition, &self.symbols)));
        let offers = self.offers.offers.iter();
        let offers = offers.map(|offer| (offer.name.as_str(), count_condition(&offer.condition, &self.offers.symbols)));
        [("rule", rules.collect::<Vec<_>>()), ("offer", offers.collect())]
            .into_iter()
            .filter_map(|(kind, costs)| describe_excess(kind, &costs))
            .collect()
    }
}

/// Describes the sections of a kind if they take too many steps together, with the most expensive one.
fn describe_excess(kind: &str, costs: &[(&str, u64)]) -> Option<String> {
    let cost = costs.iter().fold(0, |sum: u64, (_, cost)| sum.saturating_add(*cost));
    let (name, most) = costs.iter().max_by_key(|(_, cost)| *cost)?;
    (cost > MAX_COST).then(|| {
        format!(
            "the {kind}s of this file take up to {cost} steps for a payment, and {MAX_COST} are allowed; `{name}` takes \
             the most ({most}). A test of `[n]` takes a thousand: join such tests with `in (…)`"
        )
    })
}

/// Reads a file and collects its errors.
pub(super) struct FileReader<'a> {
    positions: PositionedText<'a>,
    errors: Vec<TextError>,
    /// Names of rules and offers, each with its place.
    names: HashMap<String, usize>,
}

pub(super) type TomlValue<'a> = Spanned<DeValue<'a>>;

impl FileReader<'_> {
    pub(super) fn add_error(&mut self, at: usize, message: impl Into<String>) {
        if self.errors.len() < MAX_ERRORS {
            self.errors.push(self.positions.make_error(at, message));
        }
    }

    fn sort_errors(mut self) -> Vec<TextError> {
        self.errors.sort();
        self.errors.dedup();
        self.errors
    }

    fn read_file(&mut self, file: &DeTable<'_>) -> RuleSet {
        self.check_keys(file, &["zone", "thresholds", "rule", "offer"], "a rules file");
        let (zone, zone_name) = self.read_zone(file.get("zone"));
        let thresholds = file.get("thresholds").map_or_else(Thresholds::default, |value| self.read_thresholds(value));
        let mut symbols = Symbols::default();
        let read_rule = |reader: &mut Self, value: &TomlValue<'_>| reader.read_rule(value, &mut symbols);
        let mut rules = self.read_sections(file, "rule", MAX_RULES, read_rule);
        rules.sort_by(|a, b| a.name.cmp(&b.name));
        let mut offers = OfferSet::default();
        let read_offer = |reader: &mut Self, value: &TomlValue<'_>| reader.read_offer(value, &mut offers.symbols);
        offers.offers = self.read_sections(file, "offer", MAX_OFFERS, read_offer);
        offers.offers.sort_by(|a, b| a.name.cmp(&b.name));
        RuleSet { zone, zone_name, thresholds, rules, symbols, offers, version: OnceLock::new() }
    }

    /// Reads the sections of a name, such as each `[[rule]]`, up to a number of them.
    fn read_sections<T>(
        &mut self,
        file: &DeTable<'_>,
        name: &str,
        most: usize,
        mut read_section: impl FnMut(&mut Self, &TomlValue<'_>) -> Option<T>,
    ) -> Vec<T> {
        let Some(value) = file.get(name) else { return Vec::new() };
        let DeValue::Array(list) = value.get_ref() else {
            let found = describe_type(value.get_ref());
            self.add_error(value.span().start, format!("`{name}` is {found}: begin each {name} with [[{name}]]"));
            return Vec::new();
        };
        if let Some(excess) = list.get(most) {
            self.add_error(excess.span().start, format!("a rules file has at most {most} {name}s"));
        }
        list.iter().take(most).filter_map(|value| read_section(self, value)).collect()
    }

    /// Reports the keys that a table does not have.
    pub(super) fn check_keys(&mut self, table: &DeTable<'_>, known: &[&str], place: &str) {
        for key in table.keys() {
            let name: &str = key.get_ref();
            if !known.contains(&name) {
                let similar = suggest_among(name, known.iter().copied());
                let hint = similar
                    .map_or_else(|| format!("it has {}", known.join(", ")), |name| format!("did you mean `{name}`?"));
                let shown: String = name.chars().take(MAX_NAME).collect();
                self.add_error(key.span().start, format!("{place} has no key `{}`; {hint}", shown.escape_debug()));
            }
        }
    }

    fn read_zone(&mut self, value: Option<&TomlValue<'_>>) -> (TimeZone, String) {
        let utc = (TimeZone::UTC, DEFAULT_ZONE.to_owned());
        let Some(value) = value else { return utc };
        let Some(name) = self.read_string(value, "zone") else { return utc };
        match TimeZone::get(&name) {
            Ok(zone) => (zone, name),
            Err(_) => {
                self.add_error(value.span().start, "`zone` is not an IANA time zone, such as Europe/Berlin");
                utc
            }
        }
    }

    fn read_thresholds(&mut self, value: &TomlValue<'_>) -> Thresholds {
        let DeValue::Table(table) = value.get_ref() else {
            self.add_error(value.span().start, "`thresholds` is a table: write [thresholds] and its keys below");
            return Thresholds::default();
        };
        self.check_keys(table, &["challenge", "review", "deny"], "[thresholds]");
        let mut read = |name: &str| table.get(name).and_then(|value| self.read_score(value, name));
        let thresholds = Thresholds { challenge: read("challenge"), review: read("review"), deny: read("deny") };
        let steps = [("challenge", thresholds.challenge), ("review", thresholds.review), ("deny", thresholds.deny)];
        let given: Vec<(&str, i32)> = steps.into_iter().filter_map(|(name, score)| Some((name, score?))).collect();
        for pair in given.windows(2) {
            if let [(low, a), (high, b)] = pair
                && a >= b
            {
                let at = table.get(*low).map_or(0, |value| value.span().start);
                self.add_error(at, format!("`{low}` has to be below `{high}`, otherwise no score leads to it"));
            }
        }
        thresholds
    }

    fn read_rule(&mut self, value: &TomlValue<'_>, symbols: &mut Symbols) -> Option<Rule> {
        let at = value.span().start;
        let DeValue::Table(table) = value.get_ref() else {
            self.add_error(at, format!("a rule is a table, and this is {}", describe_type(value.get_ref())));
            return None;
        };
        self.check_keys(table, &["name", "note", "when", "score", "outcome", "code"], "a rule");
        let name = self.read_name(at, table.get("name"));
        let note = table.get("note").and_then(|value| self.read_note(value));
        let condition = self.read_condition(at, table.get("when"), ConditionScope::Payment, symbols);
        let effect = self.read_effect(at, table);
        let code = table.get("code").and_then(|value| self.read_code(value, effect));
        let condition = condition?;
        let inputs = name_inputs(&condition, symbols);
        Some(Rule { name: name?, note, effect: effect?, code, condition, inputs })
    }

    pub(super) fn read_name(&mut self, section: usize, value: Option<&TomlValue<'_>>) -> Option<String> {
        let Some(value) = value else {
            self.add_error(section, "this rule has no `name`: decisions name the rules that fired");
            return None;
        };
        let name = self.read_string(value, "name")?;
        let at = value.span().start;
        if PlainLine::<MAX_NAME>::parse_filled(&name).is_err() {
            self.add_error(at, format!("a rule's name has 1 to {MAX_NAME} characters and no control characters"));
            return None;
        }
        if let Some(first) = self.names.get(&name) {
            let line = self.positions.find_line(*first);
            self.add_error(at, format!("another rule has this name, in line {line}: choose another one"));
            return None;
        }
        self.names.insert(name.clone(), at);
        Some(name)
    }

    pub(super) fn read_note(&mut self, value: &TomlValue<'_>) -> Option<String> {
        let note = self.read_string(value, "note")?;
        if note.chars().count() > MAX_NOTE {
            self.add_error(value.span().start, format!("a note has at most {MAX_NOTE} characters"));
        }
        Some(note)
    }

    pub(super) fn read_condition(
        &mut self,
        section: usize,
        value: Option<&TomlValue<'_>>,
        scope: ConditionScope,
        symbols: &mut Symbols,
    ) -> Option<Condition> {
        let Some(value) = value else {
            self.add_error(section, "this rule has no `when`: write its condition, such as when = 'amount > 100'");
            return None;
        };
        let text = self.read_string(value, "when")?;
        match parse_condition(&text, scope, symbols) {
            Ok(condition) => Some(condition),
            Err(error) => {
                let at = locate_in_string(&self.positions, value.span(), &text, error.at);
                self.add_error(at, error.message);
                None
            }
        }
    }

    fn read_effect(&mut self, rule: usize, table: &DeTable<'_>) -> Option<RuleEffect> {
        match (table.get("score"), table.get("outcome")) {
            (Some(score), None) => self.read_score(score, "score").map(RuleEffect::Score),
            (None, Some(value)) => {
                let name = self.read_string(value, "outcome")?;
                let outcome = Outcome::ALL.into_iter().find(|outcome| outcome.as_str() == name);
                if outcome.is_none() {
                    self.add_error(
                        value.span().start,
                        "`outcome` is \"accept\", \"review\", \"deny\" or \"challenge\"",
                    );
                }
                outcome.map(RuleEffect::Outcome)
            }
            (Some(_), Some(outcome)) => {
                self.add_error(outcome.span().start, "a rule has either `score` or `outcome`: remove one of them");
                None
            }
            (None, None) => {
                self.add_error(rule, "this rule has no effect: write `score` or `outcome`");
                None
            }
        }
    }

    fn read_code(&mut self, value: &TomlValue<'_>, effect: Option<RuleEffect>) -> Option<ResultCode> {
        let text = self.read_string(value, "code")?;
        let code = ResultCode::find(&text).filter(|code| code.code().starts_with(CODE_GROUP));
        let at = value.span().start;
        if code.is_none() {
            self.add_error(at, "`code` is a documented result code of the group 100.400, such as \"100.400.142\"");
        }
        if code.is_some_and(|code| code.is_pending()) {
            self.add_error(at, "`code` is the code of a refusal: this one is the code of a payment that is held");
        }
        let allowed = [Outcome::Deny, Outcome::Review, Outcome::Challenge].map(RuleEffect::Outcome);
        if effect.is_some_and(|effect| !allowed.contains(&effect)) {
            self.add_error(at, "only a rule with outcome \"deny\", \"review\" or \"challenge\" has a `code`");
        }
        code
    }

    pub(super) fn read_string(&mut self, value: &TomlValue<'_>, name: &str) -> Option<String> {
        match value.get_ref() {
            DeValue::String(text) => Some(text.to_string()),
            other => {
                self.add_error(
                    value.span().start,
                    format!("`{name}` is a text in quotes, not {}", describe_type(other)),
                );
                None
            }
        }
    }

    /// Reads a whole number between −99,999 and 99,999.
    fn read_score(&mut self, value: &TomlValue<'_>, name: &str) -> Option<i32> {
        let number = match value.get_ref() {
            DeValue::Integer(integer) => i32::from_str_radix(integer.as_str(), integer.radix()).ok(),
            other => {
                let message = format!("`{name}` is a whole number, not {}", describe_type(other));
                self.add_error(value.span().start, message);
                return None;
            }
        };
        let score = number.filter(|score| (-MAX_SCORE..=MAX_SCORE).contains(score));
        if score.is_none() {
            self.add_error(value.span().start, format!("`{name}` is between -{MAX_SCORE} and {MAX_SCORE}"));
        }
        score
    }
}

pub(super) fn describe_type(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a text",
        DeValue::Integer(_) => "a whole number",
        DeValue::Float(_) => "a number with decimals",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date or time",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}

/// Returns the offset in the file of an offset in a string's value. Inside of a string with escapes it is the beginning
/// of the string.
fn locate_in_string(positions: &PositionedText<'_>, span: Range<usize>, value: &str, at: usize) -> usize {
    let raw = positions.slice(span.clone());
    let quotes = ["'''", "\"\"\"", "'", "\""].into_iter().find(|quotes| raw.starts_with(quotes)).unwrap_or_default();
    let mut start = quotes.len();
    if quotes.len() == 3 {
        // TOML drops a line break after the opening quotes.
        let inside = raw.get(start..).unwrap_or_default();
        start += if inside.starts_with("\r\n") { 2 } else { usize::from(inside.starts_with('\n')) };
    }
    let end = raw.len().saturating_sub(quotes.len());
    let content = raw.get(start..end).unwrap_or_default();
    if content == value {
        return span.start + start + at;
    }
    if content.replace("\r\n", "\n") != value {
        return span.start;
    }
    let before = value.get(..at).unwrap_or(value);
    span.start + start + at + before.matches('\n').count()
}
