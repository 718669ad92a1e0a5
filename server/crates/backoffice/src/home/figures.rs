//! Four figures of the week with a chart each.

use jiff::ToSpan as _;
use jiff::civil::{Date, Weekday};
use maud::{Markup, html};
use tillgate_gateway::payment::daily_figures::{DailyFigures, DayFigures, MoneySums};

use crate::components::badge::Tone;
use crate::components::figure::{KeyFigure, figures as render_figures};
use crate::components::notice::notice;
use crate::layout::texts::Texts;

/// Renders the figures of this week up to today. Each chart has a bar for every counted day.
pub(super) fn render(texts: &Texts, today: Date, figures: &DailyFigures) -> Markup {
    if figures.days.is_empty() {
        // Today alone has more payments than are counted, and a part of a day is no figure.
        return html! { (notice(Tone::Calm, &html! { (texts.get("home.too_many")) })) };
    }
    let since_monday = i64::from(today.weekday().since(Weekday::Monday));
    let monday = today.checked_sub(since_monday.days()).unwrap_or(today);
    html! {
        section.stack aria-labelledby="week" {
            h2 id="week" { (texts.get("home.week")) }
            (render_figures(&build_cards(texts, (monday, today), figures)))
            @if let Some(first) = figures.days.keys().next().filter(|first| **first > monday) {
                p.soft.small { (texts.fill("home.counted_since", &[("day", &first.to_string())])) }
            }
        }
    }
}

/// Builds the four figures of the days from `monday` to `today`, each with that of the day before.
fn build_cards<'a>(texts: &'a Texts, (monday, today): (Date, Date), figures: &DailyFigures) -> [KeyFigure<'a>; 4] {
    let currency = find_main_currency(figures);
    let money = |day: &DayFigures| day.money.get(&currency).copied().unwrap_or_default();
    let week = figures.days.iter().filter(|(day, _)| **day >= monday).map(|(_, day)| day);
    let sum = |value: &dyn Fn(&DayFigures) -> u64| -> u64 { week.clone().map(value).sum() };
    let yesterday = today.yesterday().ok().and_then(|day| figures.days.get(&day));
    // Without a comparison if yesterday was not counted.
    let note = |value: &dyn Fn(&DayFigures) -> String| {
        yesterday.map(|day| texts.fill("home.yesterday", &[("value", &value(day))])).unwrap_or_default()
    };
    let days = u64::try_from(figures.days.len()).unwrap_or(0);
    let build = |label: &'a str, value, unit: &str, note, each: &dyn Fn(&DayFigures) -> u64| KeyFigure {
        label,
        value,
        unit: unit.to_owned(),
        note,
        values: figures.days.values().map(each).collect(),
        chart_label: texts.fill("home.chart", &[("label", label), ("days", &texts.number(days))]),
    };
    let amount = |hundredths: u64| texts.amount(&format!("{}.{:02}", hundredths / 100, hundredths % 100));
    let by_money = |label, value: fn(MoneySums) -> u64| {
        let of_day = |day: &DayFigures| value(money(day));
        build(label, amount(sum(&of_day)), &currency, note(&|day| amount(of_day(day))), &of_day)
    };
    let attempts = sum(&|day| day.attempts);
    let share = |day: &DayFigures| format_share(texts, day.approved, day.attempts);
    [
        by_money(texts.get("home.volume"), |sums| sums.volume),
        build(
            texts.get("home.payments"),
            texts.number(attempts),
            "",
            note(&|day| texts.number(day.attempts)),
            &|day| day.attempts,
        ),
        build(
            texts.get("home.approved"),
            format_share(texts, sum(&|day| day.approved), attempts),
            "",
            note(&share),
            &|day| (day.approved * 1000).checked_div(day.attempts).unwrap_or(0),
        ),
        by_money(texts.get("home.refunds"), |sums| sums.refunds),
    ]
}

/// Returns the currency with the largest volume, or an empty text if there are no payments.
fn find_main_currency(figures: &DailyFigures) -> String {
    let mut sums = std::collections::BTreeMap::<&str, u64>::new();
    for (currency, money) in figures.days.values().flat_map(|day| &day.money) {
        let sum = sums.entry(currency).or_default();
        *sum = sum.saturating_add(money.volume);
    }
    sums.into_iter().max_by_key(|(_, sum)| *sum).map(|(currency, _)| currency.to_owned()).unwrap_or_default()
}

/// Formats a share in percent with one decimal. Returns a dash if there is nothing to divide by.
fn format_share(texts: &Texts, part: u64, whole: u64) -> String {
    match (part * 1000).checked_div(whole) {
        Some(share) => format!("{} %", texts.amount(&format!("{}.{}", share / 10, share % 10))),
        None => "–".to_owned(),
    }
}
