//! Cron expressions in the Quartz dialect: six or seven fields, days of the week from 1 (Sunday) to 7 (Saturday).
//!
//! [`croner`] parses and evaluates them. This module refuses what Quartz refuses and croner accepts, and rewrites the
//! two notations that croner lacks.

use std::fmt::Display;

use croner::Cron;
use croner::parser::{CronParser, Seconds, Year};
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

/// The years that an expression can name, as in Quartz.
const YEARS: std::ops::RangeInclusive<u16> = 1970..=2099;
/// The last moment at which an expression can match.
const LAST: DateTime = DateTime::constant(2099, 12, 31, 23, 59, 59, 0);

/// Names of the fields, in the order of an expression.
const FIELDS: [&str; 7] = ["second", "minute", "hour", "day of the month", "month", "day of the week", "year"];
const DAY_OF_MONTH: usize = 3;
const MONTH: usize = 4;
const DAY_OF_WEEK: usize = 5;
const MONTHS: [&str; 12] = ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"];
const WEEKDAYS: [&str; 7] = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];

/// A valid expression.
#[derive(Debug, Clone)]
pub struct CronExpression(Cron);

impl CronExpression {
    /// Parses an expression.
    ///
    /// # Errors
    /// The message for `parameterErrors`, which names the field.
    pub fn parse(text: &str) -> Result<Self, String> {
        let text = text.to_ascii_uppercase();
        let fields: Vec<&str> = text.split_ascii_whitespace().collect();
        if !matches!(fields.len(), 6 | 7) {
            return Err(
                "must have six or seven fields: second minute hour dayOfMonth month dayOfWeek [year]".to_owned()
            );
        }
        for (field, name) in fields.iter().zip(FIELDS) {
            check_field(field, name)?;
        }
        check_days(fields[DAY_OF_MONTH], fields[DAY_OF_WEEK])?;
        let rewritten: Vec<String> =
            fields.iter().enumerate().map(|(index, field)| rewrite_field(index, field)).collect();
        let parser = CronParser::builder()
            .seconds(Seconds::Required)
            .year(Year::Optional)
            .alternative_weekdays(true)
            .sloppy_ranges(true)
            .build();
        let parsed = parser.parse(&rewritten.join(" "));
        parsed.map(Self).map_err(|error| format!("must be a cron expression: {error}"))
    }

    /// Returns the first local time at or after `from` that matches. Returns `None` if there is none until the end of
    /// 2099.
    pub fn next_from(&self, from: DateTime) -> Option<DateTime> {
        // The calendar is evaluated in UTC, which has no gaps. The caller converts to its time zone.
        let from = from.to_zoned(TimeZone::UTC).ok()?;
        let found = self.0.find_next_occurrence(&from, true).ok()?.datetime();
        (found <= LAST).then_some(found)
    }
}

/// Checks the parts of a field that croner accepts with another meaning, or reports without naming the field.
fn check_field(field: &str, name: &str) -> Result<(), String> {
    let refuse = |message: &dyn Display| Err(format!("has a wrong field for the {name}, {field}: {message}"));
    for part in field.split(',') {
        let number = part.split(['-', '/', '#']).next().and_then(|text| text.trim_end_matches(['L', 'W']).parse().ok());
        match (name, number) {
            ("day of the week", Some(0_u16 | 8..)) => return refuse(&"1 is Sunday and 7 is Saturday"),
            ("year", Some(year)) if !YEARS.contains(&year) => return refuse(&"years are from 1970 to 2099"),
            _ => {}
        }
        if part.split('/').nth(1).is_some_and(|step| step.parse().is_ok_and(|step: u16| step == 0)) {
            return refuse(&"a step may not be 0");
        }
        let ends = part.split('/').next().unwrap_or(part).split('-').nth(1);
        if name == "day of the week" && ends.is_some_and(|end| end.parse().is_ok_and(|end: u16| end == 0 || end > 7)) {
            return refuse(&"1 is Sunday and 7 is Saturday");
        }
    }
    if field.contains("L-") {
        return refuse(&"days before the last one are not supported, only L, LW and 6L");
    }
    if field.contains('?') && (field != "?" || !name.starts_with("day")) {
        return refuse(&"? stands alone, for a day");
    }
    Ok(())
}

/// Checks that the days are given either in the month or in the week. Two asterisks mean every day.
fn check_days(of_month: &str, of_week: &str) -> Result<(), String> {
    let is_every = |field: &str| matches!(field, "*" | "?");
    if of_month == "?" && of_week == "?" {
        return Err("may have ? for one of the two days only".to_owned());
    }
    if is_every(of_month) || is_every(of_week) {
        return Ok(());
    }
    Err("may have either days of the month or days of the week: write ? for the other".to_owned())
}

/// Rewrites a field for croner: `L` alone is Saturday as a day of the week, and a range that passes the end of its
/// field becomes two.
fn rewrite_field(index: usize, field: &str) -> String {
    if index == DAY_OF_WEEK && field == "L" {
        return "7".to_owned();
    }
    let (first, last, names): (u16, u16, &[&str]) = match index {
        0 | 1 => (0, 59, &[]),
        2 => (0, 23, &[]),
        MONTH => (1, 12, &MONTHS),
        DAY_OF_WEEK => (1, 7, &WEEKDAYS),
        _ => return field.to_owned(),
    };
    let number = |text: &str| {
        let by_name = names.iter().position(|name| *name == text).and_then(|place| u16::try_from(place + 1).ok());
        by_name.or_else(|| text.parse().ok())
    };
    let parts = field.split(',').map(|part| {
        let ends = part.split_once('-').and_then(|(from, to)| Some((number(from)?, number(to)?)));
        match ends {
            Some((from, to)) if from > to => format!("{from}-{last},{first}-{to}"),
            _ => part.to_owned(),
        }
    });
    parts.collect::<Vec<_>>().join(",")
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// Returns the first matches from a local time on.
    fn matches(expression: &str, from: &str, count: usize) -> Vec<String> {
        let expression = CronExpression::parse(expression).unwrap_or_else(|error| panic!("{expression}: {error}"));
        let mut found = Vec::new();
        let mut next = expression.next_from(from.parse().unwrap());
        while let Some(time) = next.filter(|_| found.len() < count) {
            found.push(time.to_string());
            next = expression.next_from(time.checked_add(jiff::Span::new().seconds(1)).unwrap());
        }
        found
    }

    #[test]
    fn expressions_mean_what_they_mean_in_quartz() {
        // 2026-11-01 is a Sunday.
        for (expression, expected) in [
            ("0 0 12 * * ?", ["2026-11-01T12:00:00", "2026-11-02T12:00:00", "2026-11-03T12:00:00"]),
            ("0 15 10 ? * *", ["2026-11-01T10:15:00", "2026-11-02T10:15:00", "2026-11-03T10:15:00"]),
            ("0 0 9 ? * 1", ["2026-11-01T09:00:00", "2026-11-08T09:00:00", "2026-11-15T09:00:00"]),
            ("0 0 9 ? * 7", ["2026-11-07T09:00:00", "2026-11-14T09:00:00", "2026-11-21T09:00:00"]),
            ("0 0 9 ? * L", ["2026-11-07T09:00:00", "2026-11-14T09:00:00", "2026-11-21T09:00:00"]),
            ("0 0 9 ? * SUN", ["2026-11-01T09:00:00", "2026-11-08T09:00:00", "2026-11-15T09:00:00"]),
            ("0 0 9 ? * MON-FRI", ["2026-11-02T09:00:00", "2026-11-03T09:00:00", "2026-11-04T09:00:00"]),
            ("0 0 9 ? * 2-6", ["2026-11-02T09:00:00", "2026-11-03T09:00:00", "2026-11-04T09:00:00"]),
            ("0 0 9 ? * SAT,SUN", ["2026-11-01T09:00:00", "2026-11-07T09:00:00", "2026-11-08T09:00:00"]),
            ("0 0 9 L * ?", ["2026-11-30T09:00:00", "2026-12-31T09:00:00", "2027-01-31T09:00:00"]),
            ("0 0 9 LW * ?", ["2026-11-30T09:00:00", "2026-12-31T09:00:00", "2027-01-29T09:00:00"]),
            ("0 0 9 15W * ?", ["2026-11-16T09:00:00", "2026-12-15T09:00:00", "2027-01-15T09:00:00"]),
            ("0 0 9 1W * ?", ["2026-11-02T09:00:00", "2026-12-01T09:00:00", "2027-01-01T09:00:00"]),
            ("0 0 9 ? * 6L", ["2026-11-27T09:00:00", "2026-12-25T09:00:00", "2027-01-29T09:00:00"]),
            ("0 0 9 ? * FRIL", ["2026-11-27T09:00:00", "2026-12-25T09:00:00", "2027-01-29T09:00:00"]),
            ("0 0 9 ? * 6#3", ["2026-11-20T09:00:00", "2026-12-18T09:00:00", "2027-01-15T09:00:00"]),
            ("0 0 9 ? * 1#5", ["2026-11-29T09:00:00", "2027-01-31T09:00:00", "2027-05-30T09:00:00"]),
            ("0 0 12 1/5 * ?", ["2026-11-01T12:00:00", "2026-11-06T12:00:00", "2026-11-11T12:00:00"]),
            ("0 0/20 14 * * ?", ["2026-11-01T14:00:00", "2026-11-01T14:20:00", "2026-11-01T14:40:00"]),
            ("0 */20 14 * * ?", ["2026-11-01T14:00:00", "2026-11-01T14:20:00", "2026-11-01T14:40:00"]),
            ("0 0 9 1,15 * ? 2027", ["2027-01-01T09:00:00", "2027-01-15T09:00:00", "2027-02-01T09:00:00"]),
            ("0 0 9 1 JAN-MAR ?", ["2027-01-01T09:00:00", "2027-02-01T09:00:00", "2027-03-01T09:00:00"]),
            ("0 0 9 31 * ?", ["2026-12-31T09:00:00", "2027-01-31T09:00:00", "2027-03-31T09:00:00"]),
            ("0 0 9 29 2 ?", ["2028-02-29T09:00:00", "2032-02-29T09:00:00", "2036-02-29T09:00:00"]),
            ("0 0 9 1 1 ? 2027-2029", ["2027-01-01T09:00:00", "2028-01-01T09:00:00", "2029-01-01T09:00:00"]),
            ("0 0 9 1 1 ? 2027/2", ["2027-01-01T09:00:00", "2029-01-01T09:00:00", "2031-01-01T09:00:00"]),
            ("10-12 0 9 1 1 ?", ["2027-01-01T09:00:10", "2027-01-01T09:00:11", "2027-01-01T09:00:12"]),
            ("0 0 9 ? * FRI-MON", ["2026-11-01T09:00:00", "2026-11-02T09:00:00", "2026-11-06T09:00:00"]),
            ("0 0 22-1 1 1 ?", ["2027-01-01T00:00:00", "2027-01-01T01:00:00", "2027-01-01T22:00:00"]),
            ("0 0 9 ? * 2/2", ["2026-11-02T09:00:00", "2026-11-04T09:00:00", "2026-11-06T09:00:00"]),
        ] {
            assert_eq!(matches(expression, "2026-11-01T00:00:00", 3), expected, "{expression}");
        }
    }

    #[test]
    fn expressions_that_quartz_refuses_are_refused_with_a_reason() {
        for (expression, reason) in [
            ("0 0 1 * *", "six or seven fields"),
            ("0 0 9 ? * 0", "1 is Sunday"),
            ("0 0 9 ? * 8", "1 is Sunday"),
            ("0 0 9 ? * 0-3", "1 is Sunday"),
            ("0 0 9 ? * 2-8", "1 is Sunday"),
            ("0 0 9 ? * 0#2", "1 is Sunday"),
            ("0 0 9 ? * 2,0", "1 is Sunday"),
            ("0 0 9 ? * ?", "one of the two days"),
            ("0 0 9 1 * 2", "either days"),
            ("0 0 ? 1 * *", "stands alone"),
            ("0 0 9 ?,1 * *", "stands alone"),
            ("0 0 9 L-3 * ?", "not supported"),
            ("0 0 9 1 1 ? 1969", "1970 to 2099"),
            ("0 0 9 1 1 ? 2100", "1970 to 2099"),
            ("60 0 9 1 1 ?", "cron expression"),
            ("0 0 24 1 1 ?", "cron expression"),
            ("0 0 9 32 1 ?", "cron expression"),
            ("0 0 9 1 13 ?", "cron expression"),
            ("0 0 9 1 FOO ?", "cron expression"),
            ("0 0/0 9 1 1 ?", "step"),
            ("0 0 9 ? * 6#6", "cron expression"),
            ("0 0 9 W * ?", "cron expression"),
        ] {
            let message = CronExpression::parse(expression)
                .map(|parsed| format!("accepted: {parsed:?}"))
                .unwrap_or_else(|error| error);
            assert!(message.contains(reason), "{expression}: {message}");
        }
    }

    #[test]
    fn an_expression_that_never_matches_has_no_time() {
        for expression in ["0 0 0 30 2 ?", "0 0 0 31 2,4,6,9,11 ?", "0 0 0 1 1 ? 2020", "* * * 30 FEB ? *"] {
            assert_eq!(matches(expression, "2026-11-01T00:00:00", 1), [""; 0], "{expression}");
        }
    }
}
