//! The two fields for days, whose notations `L`, `W` and `#` depend on the month.

use jiff::civil::Date;

use super::field::{NumberSet, parse_digits};
use super::{DAY_OF_MONTH, DAY_OF_WEEK};

/// Largest number of days before the last one, as in Quartz.
const MAX_BEFORE_LAST: u16 = 30;
const SUNDAY: u16 = 1;
const SATURDAY: u16 = 7;

/// Days of the month.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct MonthDays {
    numbers: NumberSet,
    special: Vec<MonthDay>,
}

/// A day that is found in the month.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct MonthDay {
    anchor: Anchor,
    /// True for the weekday (Monday to Friday) that is nearest to the anchor, within the month.
    nearest_weekday: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Anchor {
    Day(u16),
    /// This many days before the last one of the month.
    BeforeLast(u16),
}

/// Days of the week.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct WeekDays {
    numbers: NumberSet,
    special: Vec<WeekDay>,
}

/// One occurrence of a day of the week in the month.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WeekDay {
    /// The day, and the number of its occurrence from 1 on.
    Nth(u16, u16),
    /// The day, in its last occurrence.
    Last(u16),
}

impl MonthDays {
    /// Parses the field: numbers, `L`, `L-3`, `LW`, `L-3W` and `15W`.
    ///
    /// # Errors
    /// The message, which names the field.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let mut days = Self { numbers: NumberSet::default(), special: Vec::new() };
        for part in text.split(',') {
            let parsed = match MonthDay::parse(part) {
                Some(special) => special.map(|special| days.special.push(special)),
                None => DAY_OF_MONTH.parse_part(part, &mut days.numbers),
            };
            parsed.map_err(|reason| DAY_OF_MONTH.format_error(text, &reason))?;
        }
        Ok(days)
    }

    /// Returns the days in the month that begins with this day.
    pub(super) fn list_days(&self, first_of_month: Date) -> NumberSet {
        let mut days = self.numbers;
        for day in self.special.iter().filter_map(|special| special.find_day(first_of_month)) {
            days.insert(day);
        }
        days
    }
}

impl MonthDay {
    /// Parses a notation with `L` or `W`. Returns `None` if the part has neither.
    fn parse(part: &str) -> Option<Result<Self, String>> {
        if !part.contains(['L', 'W']) {
            return None;
        }
        let (text, nearest_weekday) = part.strip_suffix('W').map_or((part, false), |text| (text, true));
        let anchor = match text.strip_prefix('L') {
            Some("") => Ok(Anchor::BeforeLast(0)),
            Some(offset) => match offset.strip_prefix('-').and_then(parse_digits) {
                Some(days) if days <= MAX_BEFORE_LAST => Ok(Anchor::BeforeLast(days)),
                Some(_) => Err(format!("at most {MAX_BEFORE_LAST} days before the last one can be named")),
                None => Err(format!("{part} is none of L, L-3, LW, L-3W and 15W")),
            },
            None if nearest_weekday => match parse_digits(text) {
                Some(_) => DAY_OF_MONTH.parse_number(text).map(Anchor::Day),
                None => Err(format!("W follows one day, such as 15W or LW, and {part} is another notation")),
            },
            None => Err(format!("{part} is none of L, L-3, LW, L-3W and 15W")),
        };
        Some(anchor.map(|anchor| Self { anchor, nearest_weekday }))
    }

    /// Returns the day in a month. `None` if the month is too short for the anchor.
    fn find_day(self, first_of_month: Date) -> Option<u16> {
        let last = last_day(first_of_month);
        let anchor = match self.anchor {
            Anchor::Day(day) if day <= last => day,
            Anchor::Day(_) => return None,
            Anchor::BeforeLast(days) => last.checked_sub(days).filter(|day| *day > 0)?,
        };
        if !self.nearest_weekday {
            return Some(anchor);
        }
        // The month is not left, so a weekend at its edge moves two days.
        Some(match day_of_week(first_of_month, anchor) {
            SATURDAY if anchor == 1 => anchor + 2,
            SATURDAY => anchor - 1,
            SUNDAY if anchor == last => anchor - 2,
            SUNDAY => anchor + 1,
            _ => anchor,
        })
    }
}

impl WeekDays {
    /// Parses the field: numbers and names of days, `L` for Saturday, `6L` and `6#3`.
    ///
    /// # Errors
    /// The message, which names the field.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let mut days = Self { numbers: NumberSet::default(), special: Vec::new() };
        for part in text.split(',') {
            let parsed = match WeekDay::parse(part) {
                Some(special) => special.map(|special| days.special.push(special)),
                None if part == "L" => DAY_OF_WEEK.parse_part("7", &mut days.numbers),
                None => DAY_OF_WEEK.parse_part(part, &mut days.numbers),
            };
            parsed.map_err(|reason| DAY_OF_WEEK.format_error(text, &reason))?;
        }
        Ok(days)
    }

    /// Returns the days in the month that begins with this day.
    pub(super) fn list_days(&self, first_of_month: Date) -> NumberSet {
        let last = last_day(first_of_month);
        let mut days = NumberSet::default();
        for day in 1..=last {
            let weekday = day_of_week(first_of_month, day);
            let is_special = self.special.iter().any(|special| match *special {
                WeekDay::Nth(wanted, nth) => weekday == wanted && day.div_ceil(7) == nth,
                WeekDay::Last(wanted) => weekday == wanted && day + 7 > last,
            });
            if is_special || self.numbers.contains(weekday) {
                days.insert(day);
            }
        }
        days
    }
}

impl WeekDay {
    /// Parses `6#3` or `6L`. Returns `None` for another notation.
    fn parse(part: &str) -> Option<Result<Self, String>> {
        if let Some((day, nth)) = part.split_once('#') {
            let nth = parse_digits(nth).filter(|nth| (1..=5).contains(nth));
            let nth = nth.ok_or_else(|| "a month has a day of the week five times at most, such as 6#3".to_owned());
            return Some(nth.and_then(|nth| Ok(Self::Nth(DAY_OF_WEEK.parse_number(day)?, nth))));
        }
        let day = part.strip_suffix('L').filter(|day| !day.is_empty())?;
        Some(DAY_OF_WEEK.parse_number(day).map(Self::Last))
    }
}

/// Returns the number of days of the month that begins with this day.
fn last_day(first_of_month: Date) -> u16 {
    first_of_month.days_in_month().unsigned_abs().into()
}

/// Returns the day of the week of a day of the month, 1 for Sunday.
fn day_of_week(first_of_month: Date, day: u16) -> u16 {
    let first: u16 = first_of_month.weekday().to_sunday_zero_offset().unsigned_abs().into();
    (first + day - 1) % 7 + 1
}
