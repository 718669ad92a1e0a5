//! Compares expressions with an evaluation that tries one moment after the other. It shares nothing with the code that
//! it tests: a generated part carries its numbers, found by counting, or a rule for dates.

use jiff::civil::{Date, DateTime};
use jiff::{Span, ToSpan as _};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use super::CronExpression;

/// Number of hours that are tried after a moment.
const TRIED_HOURS: i64 = 800 * 24;

/// A part of a field for days, by its meaning.
#[derive(Debug, Clone)]
enum DayRule {
    Numbers(Vec<u16>),
    BeforeLast(u16),
    Nearest(u16),
    NearestBeforeLast(u16),
    Weekdays(Vec<u16>),
    Nth(u16, u16),
    LastWeekday(u16),
}

/// Returns texts of parts with their numbers, which are counted one by one from the first to the last and, behind the
/// end of the field, from its beginning.
fn number_parts(first: u16, last: u16) -> impl Strategy<Value = (String, Vec<u16>)> {
    let number = first..=last;
    let step = 1..=last.min(9);
    let count = move |from: u16, to: u16, step: u16| {
        let (mut at, mut place, mut found) = (from, 0, Vec::new());
        loop {
            if place % step == 0 {
                found.push(at);
            }
            if at == to {
                return found;
            }
            place += 1;
            at = if at == last { first } else { at + 1 };
        }
    };
    prop_oneof![
        number.clone().prop_map(|number| (number.to_string(), vec![number])),
        (number.clone(), number.clone()).prop_map(move |(from, to)| (format!("{from}-{to}"), count(from, to, 1))),
        (number.clone(), number.clone(), step.clone())
            .prop_map(move |(from, to, step)| (format!("{from}-{to}/{step}"), count(from, to, step))),
        (number, step.clone()).prop_map(move |(from, step)| (format!("{from}/{step}"), count(from, last, step))),
        step.prop_map(move |step| (format!("*/{step}"), count(first, last, step))),
    ]
}

/// Returns fields of one to three parts, or an asterisk.
fn number_fields(first: u16, last: u16) -> impl Strategy<Value = (String, Vec<u16>)> {
    prop_oneof![
        1 => Just(("*".to_owned(), (first..=last).collect::<Vec<u16>>())),
        3 => vec(number_parts(first, last), 1..=3).prop_map(join_parts),
    ]
}

fn join_parts(parts: Vec<(String, Vec<u16>)>) -> (String, Vec<u16>) {
    let text = parts.iter().map(|(text, _)| text.as_str()).collect::<Vec<_>>().join(",");
    (text, parts.into_iter().flat_map(|(_, numbers)| numbers).collect())
}

/// Returns fields for days of the month, and those for days of the week, each with `?` for the other one.
fn day_fields() -> impl Strategy<Value = (String, Vec<DayRule>)> {
    let of_month = prop_oneof![
        number_parts(1, 31).prop_map(|(text, numbers)| (text, DayRule::Numbers(numbers))),
        Just(("L".to_owned(), DayRule::BeforeLast(0))),
        Just(("LW".to_owned(), DayRule::NearestBeforeLast(0))),
        (0..=30_u16).prop_map(|days| (format!("L-{days}"), DayRule::BeforeLast(days))),
        (0..=30_u16).prop_map(|days| (format!("L-{days}W"), DayRule::NearestBeforeLast(days))),
        (1..=31_u16).prop_map(|day| (format!("{day}W"), DayRule::Nearest(day))),
    ];
    let names = || select(vec!["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"]);
    let number_of = |name: &str| {
        let names = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];
        u16::try_from(names.iter().position(|known| *known == name).unwrap() + 1).unwrap()
    };
    let of_week = prop_oneof![
        number_parts(1, 7).prop_map(|(text, numbers)| (text, DayRule::Weekdays(numbers))),
        Just(("L".to_owned(), DayRule::Weekdays(vec![7]))),
        (1..=7_u16).prop_map(|day| (format!("{day}L"), DayRule::LastWeekday(day))),
        names().prop_map(move |name| (format!("{name}L"), DayRule::LastWeekday(number_of(name)))),
        (1..=7_u16, 1..=5_u16).prop_map(|(day, nth)| (format!("{day}#{nth}"), DayRule::Nth(day, nth))),
        (names(), 1..=5_u16).prop_map(move |(name, nth)| (format!("{name}#{nth}"), DayRule::Nth(number_of(name), nth))),
    ];
    let join = |parts: Vec<(String, DayRule)>| {
        let text = parts.iter().map(|(text, _)| text.as_str()).collect::<Vec<_>>().join(",");
        (text, parts.into_iter().map(|(_, rule)| rule).collect::<Vec<_>>())
    };
    prop_oneof![
        vec(of_month, 1..=3).prop_map(move |parts| {
            let (text, rules) = join(parts);
            (format!("{text} * ?"), rules)
        }),
        vec(of_week, 1..=3).prop_map(move |parts| {
            let (text, rules) = join(parts);
            (format!("? * {text}"), rules)
        }),
    ]
}

/// Returns true if a date has the day of the week, 1 for Sunday.
fn has_weekday(date: Date, day: u16) -> bool {
    date.strftime("%w").to_string().parse::<u16>().unwrap() + 1 == day
}

/// Returns true if the date is the weekday nearest to the anchor, among all weekdays of the anchor's month.
fn is_nearest(date: Date, anchor: Option<Date>) -> bool {
    let Some(anchor) = anchor.filter(|anchor| anchor.month() == date.month() && anchor.year() == date.year()) else {
        return false;
    };
    let month = (1..=31).filter_map(|day| Date::new(date.year(), date.month(), day).ok());
    let weekdays = month.filter(|day| !has_weekday(*day, 1) && !has_weekday(*day, 7));
    weekdays.min_by_key(|day| (day.day() - anchor.day()).abs()) == Some(date)
}

fn is_matching_day(rule: &DayRule, date: Date) -> bool {
    let in_days = |days: i64| date.checked_add(Span::new().days(days)).unwrap();
    let is_last = |date: Date| date.checked_add(1.day()).unwrap().day() == 1;
    let before_last = |days: u16| {
        let mut last = date;
        while !is_last(last) {
            last = last.checked_add(1.day()).unwrap();
        }
        last.checked_sub(Span::new().days(i64::from(days))).unwrap()
    };
    let of_month = date.day().unsigned_abs();
    match *rule {
        DayRule::Numbers(ref numbers) => numbers.contains(&of_month.into()),
        DayRule::Weekdays(ref numbers) => numbers.iter().any(|day| has_weekday(date, *day)),
        DayRule::BeforeLast(days) => before_last(days) == date,
        DayRule::NearestBeforeLast(days) => is_nearest(date, Some(before_last(days))),
        DayRule::Nearest(day) => {
            is_nearest(date, Date::new(date.year(), date.month(), i8::try_from(day).unwrap()).ok())
        }
        DayRule::Nth(day, nth) => {
            let earlier =
                (1..=of_month).filter(|earlier| has_weekday(in_days(i64::from(*earlier) - i64::from(of_month)), day));
            has_weekday(date, day) && earlier.count() == usize::from(nth)
        }
        DayRule::LastWeekday(day) => has_weekday(date, day) && in_days(7).month() != date.month(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn days_are_those_that_trying_every_hour_finds(
        (hour_text, hours) in number_fields(0, 23),
        (month_text, months) in number_fields(1, 12),
        (day_text, days) in day_fields(),
        start in 0..20_000_i64,
    ) {
        let text = format!("0 0 {hour_text} {}", day_text.replacen(" * ", &format!(" {month_text} "), 1));
        let expression = CronExpression::parse(&text).unwrap();
        let mut from: DateTime = Date::constant(2024, 2, 1).at(0, 0, 0, 0).checked_add(start.hours()).unwrap();
        for _ in 0..3 {
            let tried = (0..TRIED_HOURS).map(|hours| from.checked_add(hours.hours()).unwrap());
            let expected = tried.into_iter().find(|time| {
                hours.contains(&time.hour().unsigned_abs().into())
                    && months.contains(&time.month().unsigned_abs().into())
                    && days.iter().any(|rule| is_matching_day(rule, time.date()))
            });
            let found = expression.next_from(from);
            let Some(expected) = expected else {
                let end = from.checked_add(TRIED_HOURS.hours()).unwrap();
                prop_assert!(found.is_none_or(|found| found >= end), "{text} from {from}: {found:?}");
                break;
            };
            prop_assert_eq!(found, Some(expected), "{} from {}", text, from);
            from = expected.checked_add(1.second()).unwrap();
            // The next whole hour, because only those are tried.
            from = from.date().at(from.hour(), 0, 0, 0).checked_add(1.hour()).unwrap();
        }
    }

    #[test]
    fn times_of_day_are_those_that_trying_every_second_finds(
        (second_text, seconds) in number_fields(0, 59),
        (minute_text, minutes) in number_fields(0, 59),
        (hour_text, hours) in number_fields(0, 23),
        start in 0..86_400_i64,
    ) {
        let text = format!("{second_text} {minute_text} {hour_text} * * ?");
        let expression = CronExpression::parse(&text).unwrap();
        let from = Date::constant(2026, 2, 27).at(0, 0, 0, 0).checked_add(start.seconds()).unwrap();
        let matches = |second: &i64| {
            let of_day = (start + second) % 86_400;
            let is_in = |numbers: &[u16], value: i64| numbers.contains(&u16::try_from(value).unwrap());
            is_in(&hours, of_day / 3_600) && is_in(&minutes, of_day / 60 % 60) && is_in(&seconds, of_day % 60)
        };
        let expected = (0..=86_400).find(matches).map(|second| from.checked_add(second.seconds()).unwrap());
        prop_assert_eq!(expression.next_from(from), expected, "{} from {}", text, from);
    }

    #[test]
    fn whatever_is_written_is_read_or_refused_in_our_words(text in "[0-9A-Z*?/,#LW-]{1,12}( [0-9LW*?/,#-]{1,6}){4,7}") {
        if let Err(message) = CronExpression::parse(&text) {
            let ours = ["has a wrong field for the ", "must have six or seven", "may have "];
            prop_assert!(ours.iter().any(|start| message.starts_with(start)), "{text}: {message}");
        }
    }
}
