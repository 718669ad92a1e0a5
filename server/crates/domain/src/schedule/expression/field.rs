//! A field of an expression as a set of numbers: `5`, `1,15`, `9-17`, `0/20`, `22-4/2`, `MON-FRI`, `*`.

use std::fmt::Display;

/// A field: its range, and the names of its numbers.
#[derive(Debug, Clone, Copy)]
pub(super) struct CronField {
    /// Name in error messages.
    pub(super) name: &'static str,
    pub(super) first: u16,
    pub(super) last: u16,
    /// Names of the numbers from `first` on. Empty if there are only numbers.
    pub(super) names: &'static [&'static str],
    /// True if a range may continue at the beginning of the field, such as `22-4` for hours.
    pub(super) is_cyclic: bool,
}

/// Numbers of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct NumberSet([u64; 3]);

/// Subtracted from a year, so that years follow the numbers of all other fields in a set of 192 bits.
const YEAR_OFFSET: u16 = 1970 - 60;

impl NumberSet {
    /// Creates the set of the numbers from `first` to `last`.
    pub(super) fn of_range(first: u16, last: u16) -> Self {
        let mut set = Self::default();
        (first..=last).for_each(|number| set.insert(number));
        set
    }

    pub(super) fn insert(&mut self, number: u16) {
        let (word, bit) = position(number);
        if let Some(word) = self.0.get_mut(word) {
            *word |= bit;
        }
    }

    pub(super) fn contains(&self, number: u16) -> bool {
        let (word, bit) = position(number);
        self.0.get(word).is_some_and(|word| word & bit != 0)
    }

    /// Returns the smallest number of the set from this one on, for the fields of a time of day.
    pub(super) fn first_from(&self, number: u16) -> Option<u16> {
        (number..60).find(|number| self.contains(*number))
    }
}

/// Returns the word and the bit of a number. Numbers of other fields are below 60, and years are moved to begin there.
fn position(number: u16) -> (usize, u64) {
    let place = if number < 60 { number } else { number.saturating_sub(YEAR_OFFSET).max(60) };
    (usize::from(place / 64), 1 << (place % 64))
}

impl CronField {
    /// Creates a field without names, whose ranges may pass its end.
    pub(super) const fn new(name: &'static str, first: u16, last: u16) -> Self {
        Self { name, first, last, names: &[], is_cyclic: true }
    }

    /// Parses the numbers of a field.
    ///
    /// # Errors
    /// The message, which names the field.
    pub(super) fn parse_numbers(&self, text: &str) -> Result<NumberSet, String> {
        let mut set = NumberSet::default();
        for part in text.split(',') {
            self.parse_part(part, &mut set).map_err(|reason| self.format_error(text, &reason))?;
        }
        Ok(set)
    }

    /// Returns the message for a wrong field.
    pub(super) fn format_error(&self, text: &str, reason: &dyn Display) -> String {
        format!("has a wrong field for the {}, {text}: {reason}", self.name)
    }

    /// Adds the numbers of a part between commas: a number, a range or an asterisk, optionally with a step. A number
    /// with a step begins a range to the end of the field.
    pub(super) fn parse_part(&self, part: &str, set: &mut NumberSet) -> Result<(), String> {
        if part.contains('?') {
            return Err("? stands alone, for one of the two days".to_owned());
        }
        let (range, step) = match part.split_once('/') {
            Some((range, step)) => (range, Some(self.parse_step(step)?)),
            None => (part, None),
        };
        let (from, to) = match range.split_once('-') {
            // A step alone counts from the beginning, as in Quartz.
            None if range == "*" || (range.is_empty() && step.is_some()) => (self.first, self.last),
            None if step.is_some() => (self.parse_number(range)?, self.last),
            None => (self.parse_number(range)?, self.parse_number(range)?),
            Some((from, to)) => (self.parse_number(from)?, self.parse_number(to)?),
        };
        if from > to && !self.is_cyclic {
            return Err(format!("a range of {}s may not run backwards", self.name));
        }
        let count = self.last - self.first + 1;
        let end = if from > to { to + count } else { to };
        for number in (from..=end).step_by(step.unwrap_or(1).into()) {
            set.insert(if number > self.last { number - count } else { number });
        }
        Ok(())
    }

    /// Parses a number, or the name of one.
    pub(super) fn parse_number(&self, text: &str) -> Result<u16, String> {
        let by_name = self.names.iter().position(|name| *name == text).and_then(|place| u16::try_from(place).ok());
        let number = by_name.map(|place| place + self.first).or_else(|| parse_digits(text));
        number.filter(|number| (self.first..=self.last).contains(number)).ok_or_else(|| {
            let subject = if text.is_empty() { "a number is missing".to_owned() } else { format!("{text} is none") };
            match self.names {
                [] => format!("{subject} of the numbers from {} to {}", self.first, self.last),
                names @ [.., last] => format!(
                    "{subject} of the numbers from {} ({}) to {} ({last})",
                    self.first,
                    names.first().unwrap_or(last),
                    self.last
                ),
            }
        })
    }

    fn parse_step(&self, text: &str) -> Result<u16, String> {
        match parse_digits(text) {
            Some(0) => Err("a step may not be 0".to_owned()),
            Some(step) if step <= self.last => Ok(step),
            Some(step) => Err(format!("the step {step} is longer than the field, whose last number is {}", self.last)),
            None => Err("the step behind / is no number".to_owned()),
        }
    }
}

/// Parses one to four digits.
pub(super) fn parse_digits(text: &str) -> Option<u16> {
    let is_number = (1..=4).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    if is_number { text.parse().ok() } else { None }
}
