//! Outcomes of reviews by analyst and by rule.

use std::collections::BTreeMap;

use axum::extract::RawQuery;
use axum::response::Response;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use maud::{Markup, html};
use tillgate_domain::access::role::Permission;
use tillgate_domain::review::outcome::OutcomeCounts;
use tillgate_domain::settlement::reconciliation::days::DayRange;
use tillgate_gateway::review::outcomes::{MAX_REVIEWS, OutcomeReport};

use super::scope_of;
use crate::BASE;
use crate::components::badge::Tone;
use crate::components::field::Field;
use crate::components::filter_bar::FilterForm;
use crate::components::list_address::ListAddress;
use crate::components::notice::notice;
use crate::components::table::{Column, Shown, Table, empty};
use crate::components::time::describe_duration;
use crate::layout::page::Section;
use crate::layout::texts::Texts;
use crate::office::Office;
use crate::payment::filter::find_zone;
use crate::payment::period::{read_days, report_period_tabs};

/// Path of the page.
pub(super) const PATH: &str = "/reviews/statistics";
/// Names of the parameters.
const NAMES: [&str; 4] = ["period", "from", "to", "zone"];
/// Largest number of rows of a table.
const MAX_ROWS: usize = 60;

/// Handles `GET /reviews/statistics`.
pub(super) async fn show_statistics(office: Office, RawQuery(query): RawQuery) -> Response {
    let address = ListAddress::read(PATH, &NAMES, query.as_deref().unwrap_or_default());
    let zone = find_zone(address.get("zone"), &office.entities_with(Permission::ViewReviews));
    let mut mistakes = Vec::new();
    if !address.get("zone").is_empty() && TimeZone::get(address.get("zone")).is_err() {
        mistakes.push("zone");
    }
    let today = Timestamp::now().to_zoned(zone.clone()).date();
    let days = read_days(&address, today, &mut mistakes);
    let report = match mistakes.is_empty() {
        true => {
            let (scope, range) = (scope_of(&office), find_times(days, &zone));
            office.read(move |app, cancelled| app.gateway.count_review_outcomes(&scope, range, cancelled)).await
        }
        false => Ok(OutcomeReport::default()),
    };
    let report = match report {
        Ok(report) => report,
        Err(failure) => return office.show_failure(&failure),
    };
    let texts = office.texts;
    let title = texts.get("statistics.title");
    let main = html! {
        div.title {
            p.crumb { a href={ (BASE) "/reviews" } { (texts.get("reviews.title")) } }
            h1 { (title) }
            p { (texts.get("statistics.text")) }
        }
        div.card { (render_filters(texts, &address, (days, &zone), &mistakes)) }
        @if report.is_cut {
            @let count = texts.number(u64::try_from(MAX_REVIEWS).unwrap_or(u64::MAX));
            (notice(Tone::Warn, &html! { (texts.fill("statistics.cut", &[("count", &count)])) }))
        }
        (render_counts(texts, ("statistics.by_analyst", "reviews.analyst"), &report.by_analyst))
        @if !report.by_rule.is_empty() {
            (render_counts(texts, ("statistics.by_rule", "review_page.rule"), &report.by_rule))
        }
    };
    office.show_page(Section::Reviews, title, main)
}

/// Returns the times from the beginning of the first day to the end of the last one.
fn find_times(days: DayRange, zone: &TimeZone) -> (Timestamp, Timestamp) {
    let begin = |day: Date| day.to_zoned(zone.clone()).map(|moment| moment.timestamp()).ok();
    let until = days.to.tomorrow().ok().and_then(begin).unwrap_or(Timestamp::MAX);
    (begin(days.from).unwrap_or(Timestamp::MIN), until)
}

fn render_filters(
    texts: &Texts,
    address: &ListAddress,
    (days, zone): (DayRange, &TimeZone),
    mistakes: &[&'static str],
) -> Markup {
    let field = |name: &'static str, key, value: String| {
        let is_wrong = mistakes.contains(&name);
        let value = if is_wrong { address.get(name) } else { &value };
        let error = is_wrong.then(|| texts.get("payments.invalid"));
        let kind = if name == "zone" { "text" } else { "date" };
        Field { name, label: texts.get(key), value, error, max_length: Some(255), ..Field::default() }.input(kind)
    };
    let form = FilterForm {
        title: texts.get("reports.parameters"),
        active: address.count(&["from", "to", "zone"]),
        chips: Vec::new(),
        has_error: !mistakes.is_empty(),
        action: &format!("{BASE}{PATH}"),
        fields: html! {
            (field("from", "payments.from", days.from.to_string()))
            (field("to", "payments.to", days.to.to_string()))
            (field("zone", "payments.zone", zone.iana_name().unwrap_or("UTC").to_owned()))
        },
        apply: texts.get("payments.apply"),
        clear: texts.get("payments.clear"),
    };
    html! {
        div.filter {
            div.line { (report_period_tabs(texts, address)) }
            (form.render())
            @if mistakes.contains(&"period") { (notice(Tone::Bad, &html! { (texts.get("reports.no_period")) })) }
        }
    }
}

/// Renders the table of one kind of name. Names with most decisions come first.
fn render_counts(texts: &Texts, (title, name): (&str, &str), counts: &BTreeMap<String, OutcomeCounts>) -> Markup {
    let caption = texts.get(title);
    if counts.is_empty() {
        return html! { div.card { (empty(texts.get("statistics.none"), texts.get("reports.none_advice"))) } };
    }
    let mut sorted: Vec<(&String, &OutcomeCounts)> = counts.iter().collect();
    sorted.sort_by_key(|(_, counts)| std::cmp::Reverse(counts.decided()));
    let columns = vec![
        Column::new(texts.get(name)),
        Column::number(texts.get("reviews.state_approved")),
        Column::number(texts.get("reviews.state_cancelled")),
        Column::number(texts.get("reviews.state_expired")).from(Shown::Medium),
        Column::number(texts.get("statistics.pended")).from(Shown::Medium),
        Column::number(texts.get("statistics.median")),
        Column::number(texts.get("statistics.charged_back")),
    ];
    let rows = sorted.iter().take(MAX_ROWS).map(|(name, counts)| {
        let median = counts.median_seconds().map(SignedDuration::from_secs);
        let number = |count| html! { (texts.number(count)) };
        vec![
            html! { span.cut { (name) } },
            number(counts.approved),
            number(counts.cancelled),
            number(counts.expired),
            number(counts.pended),
            html! { @if let Some(median) = median { span.nowrap { (describe_duration(texts, median)) } } },
            number(counts.charged_back),
        ]
    });
    let rows = rows.collect();
    html! { section.card { (Table { caption, hides_caption: false, is_linked: false, columns, rows }.render()) } }
}
