//! The times of a schedule in words. Expressions that have no short sentence are shown as they are.

use maud::{Markup, html};
use tillgate_domain::schedule::Schedule;
use tillgate_domain::schedule::timing::find_expression;

use crate::layout::texts::Texts;

/// Maximum number of times of a day in a sentence.
const MAX_TIMES: usize = 8;
const MONTHS: [&str; 12] = ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"];
const WEEKDAYS: [&str; 7] = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];

/// Renders the times of a schedule.
pub(super) fn render(texts: &Texts, schedule: &Schedule) -> Markup {
    let expression = find_expression(&schedule.job).unwrap_or_default();
    match describe(texts, &expression) {
        Some(words) => html! { (words) },
        None => html! { (texts.get("plan.expression")) " " code { (expression) } },
    }
}

/// Describes an expression. Returns `None` if it has no short sentence.
fn describe(texts: &Texts, expression: &str) -> Option<String> {
    let expression = expression.to_ascii_uppercase();
    let fields: Vec<&str> = expression.split_ascii_whitespace().collect();
    let (&[second, minute, hour, day, month, weekday], year) = fields.split_first_chunk()?;
    let year = year.first().copied().unwrap_or("*");
    let parts = [
        Some(describe_days(texts, day, weekday)?),
        describe_list(texts, month, "plan.months", |text| name_month(texts, text))?,
        describe_list(texts, year, "plan.years", |text| parse_number(text).map(|year| year.to_string()))?,
        Some(describe_times(texts, (hour, minute, second))?),
    ];
    Some(parts.into_iter().flatten().collect::<Vec<_>>().join(", "))
}

/// Describes the days.
fn describe_days(texts: &Texts, day: &str, weekday: &str) -> Option<String> {
    let is_any = |field: &str| matches!(field, "*" | "?");
    match (day, weekday) {
        (day, weekday) if is_any(day) && is_any(weekday) => Some(texts.get("plan.every_day").to_owned()),
        ("L", weekday) if is_any(weekday) => Some(texts.get("plan.last_day").to_owned()),
        (days, weekday) if is_any(weekday) => {
            let days = read_list(days, |text| parse_number(text).map(|day| day.to_string()))?;
            Some(texts.fill("plan.days", &[("days", &days)]))
        }
        (day, weekdays) if is_any(day) => {
            let weekdays = read_list(weekdays, |text| name_weekday(texts, text))?;
            Some(texts.fill("plan.weekdays", &[("days", &weekdays)]))
        }
        _ => None,
    }
}

/// Describes a list of months or years. Returns `Some(None)` if the field allows all of them.
fn describe_list(
    texts: &Texts,
    field: &str,
    key: &str,
    name: impl Fn(&str) -> Option<String>,
) -> Option<Option<String>> {
    match field {
        "*" => Some(None),
        field => Some(Some(texts.fill(key, &[("list", &read_list(field, name)?)]))),
    }
}

/// Describes the times of a day.
fn describe_times(texts: &Texts, (hour, minute, second): (&str, &str, &str)) -> Option<String> {
    match (hour, minute, second) {
        ("*", "*", "0" | "00") => Some(texts.get("plan.every_minute").to_owned()),
        ("*", minutes, "0" | "00") => {
            let minutes = read_list(minutes, |text| parse_number(text).map(|minute| minute.to_string()))?;
            Some(texts.fill("plan.every_hour", &[("minutes", &minutes)]))
        }
        _ => {
            let [hours, minutes, seconds] = [read_numbers(hour)?, read_numbers(minute)?, read_numbers(second)?];
            // A schedule may name a value again and again, so the product of the lists has no limit of its own.
            if hours.len().saturating_mul(minutes.len()).saturating_mul(seconds.len()) > MAX_TIMES {
                return None;
            }
            let mut times = Vec::new();
            for hour in &hours {
                for (minute, second) in minutes.iter().flat_map(|it| seconds.iter().map(move |second| (it, second))) {
                    let end = if *second == 0 { String::new() } else { format!(":{second:02}") };
                    times.push(format!("{hour:02}:{minute:02}{end}"));
                }
            }
            Some(texts.fill("plan.times", &[("times", &times.join(", "))]))
        }
    }
}

/// Reads a list, and names its values. Returns `None` if a value has no name.
fn read_list(field: &str, name: impl Fn(&str) -> Option<String>) -> Option<String> {
    Some(field.split(',').map(name).collect::<Option<Vec<_>>>()?.join(", "))
}

fn read_numbers(field: &str) -> Option<Vec<u16>> {
    field.split(',').map(parse_number).collect()
}

/// Parses a number without a sign.
fn parse_number(text: &str) -> Option<u16> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

fn name_month(texts: &Texts, text: &str) -> Option<String> {
    let number = parse_place(text, &MONTHS)?;
    texts.find(&format!("month.{number}")).map(str::to_owned)
}

fn name_weekday(texts: &Texts, text: &str) -> Option<String> {
    let number = parse_place(text, &WEEKDAYS)?;
    texts.find(&format!("weekday.{number}")).map(str::to_owned)
}

/// Parses a number or a name.
fn parse_place(text: &str, names: &[&str]) -> Option<usize> {
    let named = names.iter().position(|name| *name == text).map(|place| place + 1);
    named.or_else(|| parse_number(text).map(usize::from))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frequent_times_have_a_sentence() {
        let texts = Texts::choose("en");
        for (expression, words) in [
            ("0 0 06 15 * ? *", "On day 15 of the month, at 06:00"),
            ("0 0 18 ? * 2,6 *", "Every Monday, Friday, at 18:00"),
            ("0 0 10 * 06 ? *", "Every day, in June, at 10:00"),
            ("0 0 9 L * ?", "On the last day of the month, at 09:00"),
            ("0 0,30 9 ? JAN,jul FRI 2027,2028", "Every Friday, in January, July, in 2027, 2028, at 09:00, 09:30"),
            ("0 15 * * * ? *", "Every day, every hour at minute 15"),
            ("0 * * * * ? *", "Every day, every minute"),
            ("7 0 0 1 1 ? *", "On day 1 of the month, in January, at 00:00:07"),
        ] {
            assert_eq!(describe(texts, expression).as_deref(), Some(words), "{expression}");
        }
    }

    #[test]
    fn other_times_and_texts_that_are_no_expression_have_none() {
        let texts = Texts::choose("en");
        for expression in [
            "",
            "0 0 9",
            "0 0 9 15W * ?",
            "0 0 9 ? * 6#3",
            "0 0 9 ? * 8",
            "0 0 9 1 13 ?",
            "0 0 9 1-3 * ?",
            "0 0/5 9 * * ?",
            "* * 9 * * ?",
            "0 0,1,2,3,4,5,6,7,8 9 * * ?",
            "0 0 9 +1 * ?",
        ] {
            assert_eq!(describe(texts, expression), None, "{expression}");
        }
    }
}
