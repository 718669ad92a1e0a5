//! Cron expressions in the Quartz dialect: six or seven fields, days of the week from 1 (Sunday) to 7 (Saturday).
//!
//! A field is a set of numbers. The two fields for days have notations of their own, whose meaning depends on the
//! month: `L`, `L-3`, `LW`, `15W`, `6L` and `6#3`.

mod days;
mod field;

use jiff::civil::{Date, DateTime, Time};

use days::{MonthDays, WeekDays};
use field::{CronField, NumberSet};

/// The years that an expression can name, as in Quartz.
const YEARS: (u16, u16) = (1970, 2099);
const MONTHS: [&str; 12] = ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"];
const WEEKDAYS: [&str; 7] = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];

const SECOND: CronField = CronField::new("second", 0, 59);
const MINUTE: CronField = CronField::new("minute", 0, 59);
const HOUR: CronField = CronField::new("hour", 0, 23);
const DAY_OF_MONTH: CronField = CronField::new("day of the month", 1, 31);
const MONTH: CronField = CronField { names: &MONTHS, ..CronField::new("month", 1, 12) };
const DAY_OF_WEEK: CronField = CronField { names: &WEEKDAYS, ..CronField::new("day of the week", 1, 7) };
const YEAR: CronField = CronField { is_cyclic: false, ..CronField::new("year", YEARS.0, YEARS.1) };

/// A valid expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CronExpression {
    seconds: NumberSet,
    minutes: NumberSet,
    hours: NumberSet,
    days: Days,
    months: NumberSet,
    years: NumberSet,
}

/// Days on which an expression matches.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Days {
    Every,
    OfMonth(MonthDays),
    OfWeek(WeekDays),
}

impl CronExpression {
    /// Parses an expression.
    ///
    /// # Errors
    /// The message for `parameterErrors`, which names the field.
    pub fn parse(text: &str) -> Result<Self, String> {
        let text = text.to_ascii_uppercase();
        let fields: Vec<&str> = text.split_ascii_whitespace().collect();
        let (&[second, minute, hour, of_month, month, of_week], year) = match fields.split_first_chunk() {
            Some((fields, [])) => (fields, "*"),
            Some((fields, [year])) => (fields, *year),
            _ => {
                let message = "must have six or seven fields: second minute hour dayOfMonth month dayOfWeek [year]";
                return Err(message.to_owned());
            }
        };
        Ok(Self {
            seconds: SECOND.parse_numbers(second)?,
            minutes: MINUTE.parse_numbers(minute)?,
            hours: HOUR.parse_numbers(hour)?,
            days: Days::parse(of_month, of_week)?,
            months: MONTH.parse_numbers(month)?,
            years: YEAR.parse_numbers(year)?,
        })
    }

    /// Returns the first local time at or after `from` that matches. Returns `None` if there is none until the end of
    /// 2099.
    pub fn next_from(&self, from: DateTime) -> Option<DateTime> {
        let from = if from.subsec_nanosecond() == 0 { from } else { next_second(from)? };
        let first_day = from.date();
        for year in u16::try_from(first_day.year()).unwrap_or(0).max(YEARS.0)..=YEARS.1 {
            if !self.years.contains(year) {
                continue;
            }
            for month in 1..=12 {
                let Ok(first_of_month) = Date::new(i16::try_from(year).ok()?, month, 1) else { continue };
                let is_over = first_of_month.last_of_month() < first_day;
                if is_over || !self.months.contains(month.unsigned_abs().into()) {
                    continue;
                }
                if let Some(found) = self.first_in_month(first_of_month, from) {
                    return Some(found);
                }
            }
        }
        None
    }

    /// Returns the first match in a month at or after `from`.
    fn first_in_month(&self, first_of_month: Date, from: DateTime) -> Option<DateTime> {
        let matching = self.days.list_days(first_of_month);
        let days = (1..=first_of_month.days_in_month()).filter(|day| matching.contains(day.unsigned_abs().into()));
        let mut dates = days.filter_map(|day| first_of_month.with().day(day).build().ok());
        dates.find_map(|date| {
            let earliest = match date.cmp(&from.date()) {
                std::cmp::Ordering::Less => return None,
                std::cmp::Ordering::Equal => from.time(),
                std::cmp::Ordering::Greater => Time::midnight(),
            };
            self.first_time(earliest).map(|time| date.to_datetime(time))
        })
    }

    /// Returns the first matching time of day at or after `earliest`.
    fn first_time(&self, earliest: Time) -> Option<Time> {
        let [hour, minute, second] =
            [earliest.hour(), earliest.minute(), earliest.second()].map(|part| u16::from(part.unsigned_abs()));
        let in_hour = self.hours.contains(hour).then(|| {
            let in_minute = self.minutes.contains(minute).then(|| self.seconds.first_from(second));
            let later = || Some((self.minutes.first_from(minute + 1)?, self.seconds.first_from(0)?));
            in_minute.flatten().map(|second| (minute, second)).or_else(later)
        });
        let later =
            || Some((self.hours.first_from(hour + 1)?, self.minutes.first_from(0)?, self.seconds.first_from(0)?));
        let found = in_hour.flatten().map(|(minute, second)| (hour, minute, second)).or_else(later);
        let (hour, minute, second) = found?;
        let [hour, minute, second] = [hour, minute, second].map(|part| i8::try_from(part).unwrap_or(0));
        Time::new(hour, minute, second, 0).ok()
    }
}

/// Returns the whole second after a time.
fn next_second(time: DateTime) -> Option<DateTime> {
    let whole = time.with().subsec_nanosecond(0).build().ok()?;
    whole.checked_add(jiff::Span::new().seconds(1)).ok()
}

impl Days {
    /// Parses the two fields for days, of which one is given. Two asterisks mean every day.
    fn parse(of_month: &str, of_week: &str) -> Result<Self, String> {
        match (of_month, of_week) {
            ("?", "?") => Err("may have ? for one of the two days only".to_owned()),
            ("*" | "?", "*" | "?") => Ok(Self::Every),
            (of_month, "*" | "?") => MonthDays::parse(of_month).map(Self::OfMonth),
            ("*" | "?", of_week) => WeekDays::parse(of_week).map(Self::OfWeek),
            (of_month, of_week) => {
                // A field that is wrong by itself is the more useful message.
                MonthDays::parse(of_month)?;
                WeekDays::parse(of_week)?;
                Err("may have either days of the month or days of the week: write ? for the other".to_owned())
            }
        }
    }

    /// Returns the matching days of the month that begins with this day.
    fn list_days(&self, first_of_month: Date) -> NumberSet {
        match self {
            Self::Every => NumberSet::of_range(1, 31),
            Self::OfMonth(days) => days.list_days(first_of_month),
            Self::OfWeek(days) => days.list_days(first_of_month),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod properties;
#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
