//! Expiry dates of cards: a month and a year, as the wire has them and as people and browsers type them.

use std::borrow::Cow;

use super::digits;

/// Two digits, 01 to 12.
pub const MONTH_PATTERN: &str = "^(0[1-9]|1[0-2])$";
/// Four digits that start with 19 or 20.
pub const YEAR_PATTERN: &str = "^(19|20)[0-9]{2}$";
const MONTH_MESSAGE: &str = "must match ^(0[1-9]|1[0-2])$";
const YEAR_MESSAGE: &str = "must match ^(19|20)[0-9]{2}$";

/// When a card stops being valid: at the end of this month.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Expiry {
    /// 1900 to 2099.
    pub year: u16,
    /// 1 to 12.
    pub month: u8,
}

/// Which half of an expiry date is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExpiryError {
    /// Not 01 to 12.
    Month,
    /// Not four digits that start with 19 or 20.
    Year,
}

impl ExpiryError {
    /// The message for `parameterErrors`.
    pub fn message(self) -> &'static str {
        match self {
            Self::Month => MONTH_MESSAGE,
            Self::Year => YEAR_MESSAGE,
        }
    }
}

/// Checks a month as the wire has it.
///
/// # Errors
/// The message for `parameterErrors`.
pub fn check_month(text: &str) -> Result<(), Cow<'static, str>> {
    month(text).map(drop).ok_or(Cow::Borrowed(MONTH_MESSAGE))
}

/// Checks a year as the wire has it.
///
/// # Errors
/// The message for `parameterErrors`.
pub fn check_year(text: &str) -> Result<(), Cow<'static, str>> {
    year(text).map(drop).ok_or(Cow::Borrowed(YEAR_MESSAGE))
}

fn month(text: &str) -> Option<u8> {
    let month = number(text).filter(|_| text.len() == 2)?;
    (1..=12).contains(&month).then_some(month as u8)
}

fn year(text: &str) -> Option<u16> {
    number(text).filter(|year| text.len() == 4 && (1900..2100).contains(year))
}

/// The value of one to four ASCII digits.
fn number(text: &str) -> Option<u16> {
    if !(1..=4).contains(&text.len()) || !digits::only(text) {
        return None;
    }
    Some(text.bytes().fold(0, |value, byte| value * 10 + u16::from(byte - b'0')))
}

impl Expiry {
    /// Reads a month and a year as the wire has them: `"12"` and `"2029"`.
    ///
    /// # Errors
    /// Which of the two is wrong; the month, when both are.
    pub fn parse(month_text: &str, year_text: &str) -> Result<Self, ExpiryError> {
        let month = month(month_text).ok_or(ExpiryError::Month)?;
        let year = year(year_text).ok_or(ExpiryError::Year)?;
        Ok(Self { year, month })
    }

    /// Reads what people type and browsers fill in: `12 / 29`, `12/2029`, `1229`, `2029-12`, `29/12`, `1/29`.
    ///
    /// Where both orders make sense the month comes first. Years of two digits lie within fifty years of
    /// `this_year`. `None` while the text is incomplete or makes no date.
    pub fn parse_text(text: &str, this_year: u16) -> Option<Self> {
        if text.chars().any(|character| digits::value(character).is_none() && !is_separator(character)) {
            return None;
        }
        let typed = Typed::read(text);
        let (month, year) = typed.month_and_year()?;
        let month = number(month).filter(|month| (1..=12).contains(month))?;
        let year = match year.len() {
            2 => within_fifty_years(number(year)?, this_year),
            _ => self::year(year)?,
        };
        Some(Self { year, month: month as u8 })
    }

    /// Whether the card is no longer valid in the month `now`, given as (year, month). It is valid through its month.
    pub fn is_past(self, now: (u16, u8)) -> bool {
        (self.year, self.month) < now
    }

    /// The month as the wire has it, `01` to `12`.
    pub fn month_text(self) -> String {
        padded(u16::from(self.month), 2)
    }

    /// The year as the wire has it, four digits.
    pub fn year_text(self) -> String {
        padded(self.year, 4)
    }
}

fn padded(number: u16, places: u32) -> String {
    let digit = |place| char::from(b'0' + (number / 10_u16.pow(place) % 10) as u8);
    (0..places).rev().map(digit).collect()
}

/// What people, keyboards and browsers put between month and year.
fn is_separator(character: char) -> bool {
    matches!(character, ' ' | '/' | '-' | '.' | '\u{a0}' | '\u{2000}'..='\u{200f}' | '\u{2010}'..='\u{2015}')
        || matches!(character, '\u{202f}' | '\u{2044}' | '\u{2215}' | '\u{2212}' | '\u{ff0f}' | '\u{ff0d}' | '\u{3000}')
}

/// The year nearest to `this_year` that ends in these two digits: at most fifty years back, forty-nine ahead.
fn within_fifty_years(two_digits: u16, this_year: u16) -> u16 {
    let first = this_year.saturating_sub(50);
    let year = first - first % 100 + two_digits;
    if year < first { year + 100 } else { year }
}

/// The digits of a text in ASCII, cut in two at the first separator.
struct Typed {
    first: String,
    /// What follows the first separator; `None` when there was none.
    rest: Option<String>,
}

impl Typed {
    fn read(text: &str) -> Self {
        let mut typed = Self { first: String::new(), rest: None };
        for character in text.chars() {
            match (digits::ascii(character), &mut typed.rest) {
                (Some(digit), Some(rest)) => rest.push(digit),
                (Some(digit), None) => typed.first.push(digit),
                (None, None) if is_separator(character) && !typed.first.is_empty() => typed.rest = Some(String::new()),
                (None, _) => {}
            }
        }
        typed
    }

    /// Month and year as far as they can be told apart for certain.
    fn month_and_year(&self) -> Option<(&str, &str)> {
        match &self.rest {
            Some(rest) if !rest.is_empty() => two_parts(&self.first, rest),
            _ => one_part(&self.first),
        }
    }
}

/// Month and year of `12/29`, `12/2029`, `2029-12`, `29/12` and `1/29`.
fn two_parts<'a>(first: &'a str, second: &'a str) -> Option<(&'a str, &'a str)> {
    match (first.len(), second.len()) {
        (1 | 2, 2) if is_month(first) => Some((first, second)),
        (1 | 2, 4) if is_month(first) && year(second).is_some() => Some((first, second)),
        (4, 1 | 2) if is_month(second) && year(first).is_some() => Some((second, first)),
        (2, 2) if is_month(second) && !is_month(first) => Some((second, first)),
        _ => None,
    }
}

/// Month and year of `1229`, `2912`, `122029`, `202912`, `929` and `12029`.
fn one_part(digits: &str) -> Option<(&str, &str)> {
    let places = match digits.len() {
        // 129 can still become 12/9x; from 2 on the first digit is a month of its own.
        3 if digits.starts_with(['0', '1']) => return None,
        3 | 5 => 1,
        4 | 6 => 2,
        _ => return None,
    };
    let split = |places| {
        let (first, second) = digits.split_at_checked(places)?;
        two_parts(first, second)
    };
    split(places).or_else(|| split(digits.len() - 2))
}

fn is_month(text: &str) -> bool {
    number(text).is_some_and(|month| (1..=12).contains(&month))
}

/// Formats an expiry date while it is typed: `1229` becomes `12 / 29`, `5` becomes `05`, `12/` becomes `12 / `.
///
/// What a browser fills in with the year in front is turned round. Deleting works: once the space behind our own
/// slash is gone, the slash goes, too.
pub fn format_typed(text: &str) -> String {
    let mut typed = Typed::read(text);
    // Digits beyond a year are dropped first, so that they decide nothing.
    if let Some(rest) = &mut typed.rest {
        rest.truncate(year_length(rest));
    }
    let separated = typed.rest.is_some();
    let (mut month, year) = match typed.month_and_year() {
        Some((month, year)) => (String::from(month), String::from(year)),
        None => {
            let (month, mut year) = unfinished(typed);
            year.truncate(year_length(&year));
            match two_parts(&month, &year) {
                Some((month, year)) => (String::from(month), String::from(year)),
                None => (month, year),
            }
        }
    };
    if month.len() == 1 && (month.as_str() > "1" || month == "1" && (separated || !year.is_empty())) {
        month.insert(0, '0');
    }
    let slash_typed = separated && month.len() == 2 && !text.ends_with(" /");
    if !year.is_empty() || slash_typed {
        month.push_str(" / ");
        month.push_str(&year);
    }
    month
}

/// How many digits a year that begins like this can have.
fn year_length(digits: &str) -> usize {
    if digits.starts_with("19") || digits.starts_with("20") { 4 } else { 2 }
}

/// Month and year of a text that is still being typed.
fn unfinished(typed: Typed) -> (String, String) {
    let Typed { mut first, rest } = typed;
    let rest = rest.unwrap_or_default();
    // From 2 on a digit is a month by itself. 13 stays what was typed and is no month: a date that was meant otherwise
    // must not be charged.
    let places = match first.as_bytes() {
        [b'0', _, ..] if first.get(..2).is_some_and(is_month) => 2,
        [b'1', _, ..] => 2,
        [b'0', ..] => 1,
        [_, _] if !rest.is_empty() => 2,
        [_, ..] => 1,
        [] => 0,
    };
    let mut year = String::from(first.get(places..).unwrap_or_default());
    first.truncate(places);
    if first == "0" {
        year.clear();
    }
    year.push_str(&rest);
    (first, year)
}

#[cfg(test)]
mod tests;
