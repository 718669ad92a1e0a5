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
    let currency = find_main_currency(figures);
    let money = |day: &DayFigures| day.money.get(&currency).copied().unwrap_or_default();
    let sum = |value: &dyn Fn(&DayFigures) -> u64| -> u64 {
        figures.days.iter().filter(|(day, _)| **day >= monday).map(|(_, day)| value(day)).sum()
    };
    let each = |value: &dyn Fn(&DayFigures) -> u64| -> Vec<u64> { figures.days.values().map(value).collect() };
    let yesterday = today.yesterday().ok().and_then(|day| figures.days.get(&day)).cloned().unwrap_or_default();
    let chart_label = |label: &str| {
        let days = u64::try_from(figures.days.len()).unwrap_or(0);
        texts.fill("home.chart", &[("label", label), ("days", &texts.number(days))])
    };
    let figure = |label, value, unit: &str, note, values| {
        let unit = unit.to_owned();
        KeyFigure { label, value, unit, note, values, chart_label: chart_label(label) }
    };
    let amount = |hundredths: u64| texts.amount(&format!("{}.{:02}", hundredths / 100, hundredths % 100));
    let before = |value: String| texts.fill("home.yesterday", &[("value", &value)]);
    let (volume, refunds) = (|it: MoneySums| it.volume, |it: MoneySums| it.refunds);
    let attempts = sum(&|day| day.attempts);
    let cards = [
        figure(
            texts.get("home.volume"),
            amount(sum(&|day| volume(money(day)))),
            &currency,
            before(amount(volume(money(&yesterday)))),
            each(&|day| volume(money(day))),
        ),
        figure(
            texts.get("home.payments"),
            texts.number(attempts),
            "",
            before(texts.number(yesterday.attempts)),
            each(&|day| day.attempts),
        ),
        figure(
            texts.get("home.approved"),
            format_share(texts, sum(&|day| day.approved), attempts),
            "",
            before(format_share(texts, yesterday.approved, yesterday.attempts)),
            each(&|day| (day.approved * 1000).checked_div(day.attempts).unwrap_or(0)),
        ),
        figure(
            texts.get("home.refunds"),
            amount(sum(&|day| refunds(money(day)))),
            &currency,
            before(amount(refunds(money(&yesterday)))),
            each(&|day| refunds(money(day))),
        ),
    ];
    html! {
        section.stack aria-labelledby="week" {
            h2 id="week" { (texts.get("home.week")) }
            (render_figures(&cards))
            @if let Some(first) = figures.days.keys().next().filter(|first| **first > monday) {
                p.soft.small { (texts.fill("home.counted_since", &[("day", &first.to_string())])) }
            }
        }
    }
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
