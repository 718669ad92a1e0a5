//! Expiry dates of cards: a month and a year, in their format on the wire and as people and browsers type them.

use std::borrow::Cow;

use super::digits;

/// Format of a month: two digits, 01 to 12.
pub const MONTH_PATTERN: &str = "^(0[1-9]|1[0-2])$";
/// Format of a year: four digits that start with 19 or 20.
pub const YEAR_PATTERN: &str = "^(19|20)[0-9]{2}$";
const MONTH_MESSAGE: &str = "must match ^(0[1-9]|1[0-2])$";
const YEAR_MESSAGE: &str = "must match ^(19|20)[0-9]{2}$";

/// Expiry of a card: it is valid until this month has ended everywhere, which is 12 hours after its end in UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Expiry {
    /// 1900 to 2099.
    pub year: u16,
    /// 1 to 12.
    pub month: u8,
}

/// The part of an expiry date that is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExpiryError {
    /// Not 01 to 12.
    Month,
    /// Not four digits that start with 19 or 20.
    Year,
}

impl ExpiryError {
    /// Returns the message for `parameterErrors`.
    pub fn message(self) -> &'static str {
        match self {
            Self::Month => MONTH_MESSAGE,
            Self::Year => YEAR_MESSAGE,
        }
    }
}

/// Checks a month in its format on the wire, 01 to 12.
///
/// # Errors
/// The message for `parameterErrors`.
pub fn check_month(text: &str) -> Result<(), Cow<'static, str>> {
    parse_month(text).map(drop).ok_or(Cow::Borrowed(MONTH_MESSAGE))
}

/// Checks a year in its format on the wire, 1900 to 2099.
///
/// # Errors
/// The message for `parameterErrors`.
pub fn check_year(text: &str) -> Result<(), Cow<'static, str>> {
    parse_year(text).map(drop).ok_or(Cow::Borrowed(YEAR_MESSAGE))
}

/// Returns the month of a text with two digits, 01 to 12. `None` for another text.
fn parse_month(text: &str) -> Option<u8> {
    let month = parse_number(text).filter(|_| text.len() == 2)?;
    (1..=12).contains(&month).then_some(month as u8)
}

/// Returns the year of a text with four digits, 1900 to 2099. `None` for another text.
fn parse_year(text: &str) -> Option<u16> {
    parse_number(text).filter(|year| text.len() == 4 && (1900..2100).contains(year))
}

/// Returns the value of one to four ASCII digits.
fn parse_number(text: &str) -> Option<u16> {
    if !(1..=4).contains(&text.len()) || !digits::has_only_digits(text) {
        return None;
    }
    Some(text.bytes().fold(0, |value, byte| value * 10 + u16::from(byte - b'0')))
}

impl Expiry {
    /// Reads a month and a year in their formats on the wire: `"12"` and `"2029"`.
    ///
    /// # Errors
    /// The part that is wrong; the month if both are.
    pub fn parse(month_text: &str, year_text: &str) -> Result<Self, ExpiryError> {
        let month = parse_month(month_text).ok_or(ExpiryError::Month)?;
        let year = parse_year(year_text).ok_or(ExpiryError::Year)?;
        Ok(Self { year, month })
    }

    /// Reads a date as people type it and browsers fill it in: `12 / 29`, `12/2029`, `1229`, `2029-12`, `29/12`,
    /// `1/29`.
    ///
    /// If both orders make sense, the month comes first. Years of two digits are within fifty years of `this_year`.
    /// Returns `None` if the text is incomplete, not a date, or has other characters than digits and separators.
    pub fn parse_text(text: &str, this_year: u16) -> Option<Self> {
        if text.chars().any(|character| digits::digit_value(character).is_none() && !is_separator(character)) {
            return None;
        }
        let typed = TypedDigits::from_text(text);
        let (month, year) = typed.month_and_year()?;
        let month = parse_number(month).filter(|month| (1..=12).contains(month))?;
        let year = match year.len() {
            2 => expand_year(parse_number(year)?, this_year),
            _ => self::parse_year(year)?,
        };
        Some(Self { year, month: month as u8 })
    }

    /// Returns true if the card is no longer valid in the month `now`, given as (year, month): see [`last_month`]. It
    /// is valid until the end of its month.
    pub fn is_past(self, now: (u16, u8)) -> bool {
        (self.year, self.month) < now
    }

    /// Returns the month in its format on the wire, `01` to `12`.
    pub fn month_text(self) -> String {
        zero_padded(u16::from(self.month), 2)
    }

    /// Returns the year in its format on the wire, four digits.
    pub fn year_text(self) -> String {
        zero_padded(self.year, 4)
    }
}

/// Half a day, in seconds: the distance of the last time zone from UTC.
pub const SECONDS_OF_HALF_DAY: u32 = 12 * 60 * 60;

/// Returns the month, as (year, month), that a moment has in the last time zone of the world, UTC−12. `unix_seconds`
/// are the seconds since 1970, of the moment itself and not of a local time. Cards are judged by this month, in the
/// form and on the server, so that a card is valid until its month has ended everywhere.
pub fn last_month(unix_seconds: i64) -> (u16, u8) {
    let half_days = unix_seconds.div_euclid(i64::from(SECONDS_OF_HALF_DAY));
    last_month_of_half_day(half_days.clamp(i64::from(i32::MIN / 2), i64::from(i32::MAX / 2)) as i32)
}

/// Same as [`last_month`], for the whole half days since 1970. The form has no numbers of 64 bits: the tool that turns
/// it into plain JavaScript does not compile them.
pub fn last_month_of_half_day(half_days: i32) -> (u16, u8) {
    // From the first of March of the year 0, so that the leap day is the last day of a year.
    let days = (half_days - 1).div_euclid(2) + 719_468;
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let months_since_march = (5 * day_of_year + 2) / 153;
    let (month, next_year) = match months_since_march {
        0..=9 => (months_since_march + 3, 0),
        _ => (months_since_march - 9, 1),
    };
    let year = days.div_euclid(146_097) * 400 + year_of_era + next_year;
    (year.clamp(0, 9999) as u16, month as u8)
}

/// Returns the last `places` digits of a number, with zeros in front.
fn zero_padded(number: u16, places: u32) -> String {
    let digit = |place| char::from(b'0' + (number / 10_u16.pow(place) % 10) as u8);
    (0..places).rev().map(digit).collect()
}

/// Returns a digit as text.
fn digit_text(value: u8) -> &'static str {
    let place = usize::from(value);
    "0123456789".get(place..=place).unwrap_or_default()
}

/// Returns true for spaces, slashes, hyphens, dashes and dots: people, keyboards and browsers put them between month
/// and year.
fn is_separator(character: char) -> bool {
    matches!(character, ' ' | '/' | '-' | '.' | '\u{a0}' | '\u{2000}'..='\u{200f}' | '\u{2010}'..='\u{2015}')
        || matches!(character, '\u{202f}' | '\u{2044}' | '\u{2215}' | '\u{2212}' | '\u{ff0f}' | '\u{ff0d}' | '\u{3000}')
}

/// Returns the year nearest to `this_year` that ends with these two digits: at most fifty years back, forty-nine ahead.
fn expand_year(two_digits: u16, this_year: u16) -> u16 {
    let first = this_year.saturating_sub(50);
    let year = first - first % 100 + two_digits;
    if year < first { year + 100 } else { year }
}

/// A short text of ASCII without an allocation: the module of the form's frames has no allocator. Characters that find
/// no room are left out. No date has as many, so a longer text stays as wrong as it was.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ShortText {
    bytes: [u8; 12],
    length: usize,
}

impl ShortText {
    /// Returns the text.
    pub fn as_str(&self) -> &str {
        self.bytes.get(..self.length).and_then(|bytes| str::from_utf8(bytes).ok()).unwrap_or_default()
    }

    fn from_text(text: &str) -> Self {
        let mut short = Self::default();
        short.push_text(text);
        short
    }

    fn push_text(&mut self, text: &str) {
        for byte in text.bytes() {
            if let Some(place) = self.bytes.get_mut(self.length) {
                *place = byte;
                self.length += 1;
            }
        }
    }

    fn truncate(&mut self, length: usize) {
        self.length = self.length.min(length);
    }
}

/// The digits of a text in ASCII, split at the first separator.
struct TypedDigits {
    first: ShortText,
    /// Digits after the first separator. `None` if there was none.
    rest: Option<ShortText>,
}

impl TypedDigits {
    /// Collects the digits of a text. The first separator after a digit begins the rest; all other characters are
    /// skipped.
    fn from_text(text: &str) -> Self {
        let mut typed = Self { first: ShortText::default(), rest: None };
        for character in text.chars() {
            match digits::digit_value(character) {
                Some(value) => typed.rest.as_mut().unwrap_or(&mut typed.first).push_text(digit_text(value)),
                None if typed.rest.is_none() && is_separator(character) && typed.first.length > 0 => {
                    typed.rest = Some(ShortText::default());
                }
                None => {}
            }
        }
        typed
    }

    /// Returns month and year if they can be told apart with certainty: by the separator, or without digits after it by
    /// their number.
    fn month_and_year(&self) -> Option<(&str, &str)> {
        match &self.rest {
            Some(rest) if rest.length > 0 => order_parts(self.first.as_str(), rest.as_str()),
            _ => split_digits(self.first.as_str()),
        }
    }
}

/// Returns month and year of `12/29`, `12/2029`, `2029-12`, `29/12` and `1/29`. `None` if neither part is a month, or
/// the other one is no year.
fn order_parts<'a>(first: &'a str, second: &'a str) -> Option<(&'a str, &'a str)> {
    match (first.len(), second.len()) {
        (1 | 2, 2) if is_month(first) => Some((first, second)),
        (1 | 2, 4) if is_month(first) && parse_year(second).is_some() => Some((first, second)),
        (4, 1 | 2) if is_month(second) && parse_year(first).is_some() => Some((second, first)),
        (2, 2) if is_month(second) && !is_month(first) => Some((second, first)),
        _ => None,
    }
}

/// Returns month and year of `1229`, `2912`, `122029`, `202912`, `929` and `12029`. `None` if they cannot be told
/// apart.
fn split_digits(digits: &str) -> Option<(&str, &str)> {
    let places = match digits.len() {
        // 129 can still become 12/9x. A first digit of 2 or more is a month by itself.
        3 if digits.starts_with(['0', '1']) => return None,
        3 | 5 => 1,
        4 | 6 => 2,
        _ => return None,
    };
    let split = |places| {
        let (first, second) = digits.split_at_checked(places)?;
        order_parts(first, second)
    };
    split(places).or_else(|| split(digits.len() - 2))
}

fn is_month(text: &str) -> bool {
    parse_number(text).is_some_and(|month| (1..=12).contains(&month))
}

/// Formats an expiry date while it is typed: `1229` becomes `12 / 29`, `5` becomes `05`, `12/` becomes `12 / `.
///
/// A date that a browser fills in with the year first is reordered. Deleting works: once the space after our slash is
/// gone, the slash is removed, too.
pub fn format_typed(text: &str) -> ShortText {
    let mut typed = TypedDigits::from_text(text);
    // Digits after a complete year are dropped first, so that they have no effect.
    if let Some(rest) = &mut typed.rest {
        rest.truncate(year_length(rest.as_str()));
    }
    let separated = typed.rest.is_some();
    let (mut month, mut year) = split_unfinished(&typed);
    year.truncate(year_length(year.as_str()));
    let ordered = typed.month_and_year().or_else(|| order_parts(month.as_str(), year.as_str()));
    if let Some(found) = ordered {
        (month, year) = (ShortText::from_text(found.0), ShortText::from_text(found.1));
    }
    let mut shown = ShortText::default();
    if matches!(month.as_str().as_bytes(), [b'2'..=b'9']) || month.as_str() == "1" && (separated || year.length > 0) {
        shown.push_text("0");
    }
    shown.push_text(month.as_str());
    let slash_typed = separated && shown.length == 2 && !text.ends_with(" /");
    if year.length > 0 || slash_typed {
        shown.push_text(" / ");
        shown.push_text(year.as_str());
    }
    shown
}

/// Returns the number of digits of a year that begins with these digits: four after 19 or 20, otherwise two.
fn year_length(digits: &str) -> usize {
    if digits.starts_with("19") || digits.starts_with("20") { 4 } else { 2 }
}

/// Returns month and year of a text that is still being typed; either may be empty or wrong.
fn split_unfinished(typed: &TypedDigits) -> (ShortText, ShortText) {
    let first = typed.first.as_str();
    let rest = typed.rest.as_ref().map(ShortText::as_str).unwrap_or_default();
    // A first digit of 2 or more is a month by itself. 13 stays as typed and is not a month: a date that was meant
    // differently must not be charged.
    let places = match first.as_bytes() {
        [b'0', _, ..] if first.get(..2).is_some_and(is_month) => 2,
        [b'1', _, ..] => 2,
        [b'0', ..] => 1,
        [_, _] if !rest.is_empty() => 2,
        [_, ..] => 1,
        [] => 0,
    };
    let (month, year) = first.split_at_checked(places).unwrap_or_default();
    let mut year = ShortText::from_text(if month == "0" { "" } else { year });
    year.push_text(rest);
    (ShortText::from_text(month), year)
}

#[cfg(test)]
mod tests;
