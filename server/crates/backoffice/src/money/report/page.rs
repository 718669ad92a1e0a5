//! One report: its parameters, and for each part a chart beside a table with the same numbers.

use axum::body::Body;
use axum::extract::{Path, RawQuery};
use axum::http::{HeaderValue, header};
use axum::response::Response;
use maud::{Markup, html};
use tillgate_domain::report::format_hundredths;
use tillgate_gateway::Failure;

use super::ReportKind;
use super::data::read_report;
use super::query::{DEFAULT_GROUP, ReportQuery};
use super::series::{DividedReport, MATCHING, Series, divide, parse_hundredths};
use crate::BASE;
use crate::access::Problem;
use crate::components::badge::Tone;
use crate::components::bar_chart::{Point, by_name, over_time};
use crate::components::facts::summary;
use crate::components::field::Field;
use crate::components::filter_bar::FilterForm;
use crate::components::notice::notice;
use crate::components::table::{Column, Table, empty};
use crate::layout::page::Section;
use crate::layout::response::mark_as_personal;
use crate::layout::texts::Texts;
use crate::money::entity_choice::ENTITY;
use crate::money::unmatched_list::PATH as UNMATCHED;
use crate::office::Office;
use crate::payment::labels::type_text;
use crate::payment::period::report_period_tabs;

/// Largest number of bars by name in a chart. A table shows all rows.
const MAX_BARS: usize = 20;
/// The columns of totals that can be chosen, with the keys of their texts.
const GROUPS: [(&str, &str); 5] = [
    (DEFAULT_GROUP, "reports.by_day"),
    ("paymentType,result", "reports.by_result"),
    ("paymentBrand,paymentType", "reports.by_brand"),
    ("day,paymentType", "reports.by_day_only"),
    ("day,paymentBrand,paymentType,result", "reports.by_all"),
];

/// Handles `GET /money/reports/{report}`.
pub(in crate::money) async fn show_report(
    office: Office,
    Path(name): Path<String>,
    RawQuery(query): RawQuery,
) -> Response {
    let Some(kind) = ReportKind::parse(&name) else { return office.show_unknown() };
    let query = ReportQuery::read(&office, kind, query.as_deref().unwrap_or_default());
    let texts = office.texts;
    let report = match query.mistakes.is_empty() {
        true => read_report(&office, kind, &query, move |table| divide(kind, &table)).await.map(Some),
        false => Ok(None),
    };
    let (report, fault) = match report {
        Ok(report) => (report, None),
        // A report with too many rows is the fault of its parameters.
        Err(Failure::Refused(refusal)) if !refusal.parameters.is_empty() => (None, Some(texts.get("reports.too_many"))),
        Err(failure) => return office.show_failure(&failure),
    };
    let title = format!("report_name.{}", kind.name());
    let title = texts.get(&title);
    let main = render(&office, kind, &query, report.as_ref());
    match fault {
        Some(fault) => office.show_fault(Section::Money, title, fault, &main),
        None => office.show_page(Section::Money, title, main),
    }
}

/// Handles `GET /money/reports/{report}/csv`: the same rows as the API has, all of them.
pub(in crate::money) async fn send_csv(
    office: Office,
    Path(name): Path<String>,
    RawQuery(query): RawQuery,
) -> Response {
    let Some(kind) = ReportKind::parse(&name) else { return office.show_unknown() };
    let query = ReportQuery::read(&office, kind, query.as_deref().unwrap_or_default());
    if !query.mistakes.is_empty() {
        return office.show_unknown();
    }
    let Some(_download) = office.state.downloads.start(&office.signed_in.user.id) else {
        return office.show_problem(&Problem::RunningDownload);
    };
    let csv = match read_report(&office, kind, &query, |table| table.format_csv()).await {
        Ok(csv) => csv,
        Err(Failure::Refused(_)) => return office.show_unknown(),
        Err(failure) => return office.show_failure(&failure),
    };
    let mut response = Response::new(Body::from(csv));
    let headers = response.headers_mut();
    mark_as_personal(headers);
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/csv; charset=utf-8"));
    let disposition = HeaderValue::from_str(&format!("attachment; filename=\"{}.csv\"", kind.name()));
    headers.insert(header::CONTENT_DISPOSITION, disposition.unwrap_or(HeaderValue::from_static("attachment")));
    response
}

fn render(office: &Office, kind: ReportKind, query: &ReportQuery, report: Option<&DividedReport>) -> Markup {
    let texts = office.texts;
    let (name, line) = (format!("report_name.{}", kind.name()), format!("report_line.{}", kind.name()));
    let download = query.address.with(&[]).format_at(&format!("{}/csv", kind.path()));
    html! {
        div.title {
            p.crumb { a href={ (BASE) "/money/reports" } { (texts.get("reports.title")) } }
            h1 { (texts.get(&name)) }
            @if report.is_some_and(|report| !report.series.is_empty()) {
                div.actions { a.button href=(download) download={ (kind.name()) ".csv" } { (texts.get("payments.csv")) } }
            }
            p { (texts.get(&line)) }
        }
        div.card { (render_filters(texts, kind, query)) }
        @if let Some(report) = report {
            (render_sums(texts, kind, report))
            (render_parts(office, query, report))
        }
    }
}

/// Renders the parameters.
fn render_filters(texts: &Texts, kind: ReportKind, query: &ReportQuery) -> Markup {
    let form = FilterForm {
        title: texts.get("reports.parameters"),
        active: query.address.count(&[ENTITY, "from", "to", "zone", "group"]),
        chips: Vec::new(),
        has_error: !query.mistakes.is_empty(),
        action: &format!("{BASE}{}", kind.path()),
        fields: render_fields(texts, kind, query),
        apply: texts.get("payments.apply"),
        clear: texts.get("payments.clear"),
    };
    html! {
        div.filter {
            div.line { (report_period_tabs(texts, &query.address)) }
            (form.render())
            @if query.has_mistake("period") { (notice(Tone::Bad, &html! { (texts.get("reports.no_period")) })) }
        }
    }
}

fn render_fields(texts: &Texts, kind: ReportKind, query: &ReportQuery) -> Markup {
    let field = |name: &'static str, label, value| Field {
        name,
        label,
        value,
        error: query.has_mistake(name).then(|| texts.get("payments.invalid")),
        max_length: Some(255),
        ..Field::default()
    };
    let typed = |name: &str, day: jiff::civil::Date| match query.has_mistake(name) {
        true => query.address.get(name).to_owned(),
        false => day.to_string(),
    };
    let (from, to) = (typed("from", query.days.from), typed("to", query.days.to));
    let zone =
        if query.has_mistake("zone") { query.address.get("zone") } else { query.zone.iana_name().unwrap_or("UTC") };
    let group = query.address.find("group").unwrap_or(DEFAULT_GROUP);
    let known = GROUPS.iter().any(|(columns, _)| *columns == group);
    let mut groups: Vec<(&str, &str)> = GROUPS.iter().map(|(columns, key)| (*columns, texts.get(key))).collect();
    if !known {
        groups.push((group, group));
    }
    html! {
        (query.choice.render(texts, query.address.get(ENTITY), query.has_mistake(ENTITY)))
        (field("from", texts.get("payments.from"), &from).input("date"))
        (field("to", texts.get("payments.to"), &to).input("date"))
        (field("zone", texts.get("payments.zone"), zone).input("text"))
        @if kind == ReportKind::Totals { (field("group", texts.get("reports.group"), group).select(&groups)) }
        @if query.has_mistake("group") { div.error { (texts.get("payments.invalid")) } }
    }
}

/// Renders the sum of each currency, for reports in which it says something.
fn render_sums(texts: &Texts, kind: ReportKind, report: &DividedReport) -> Markup {
    let Some(column) = kind.summed().filter(|_| !report.sums.is_empty()) else { return html! {} };
    let sum = |((currency, status), sum): (&(String, String), &i64)| {
        let number = texts.amount(&format_hundredths((*sum).into()));
        let label = format!("{} · {currency}", column_text(texts, column));
        if status.is_empty() {
            return (label, html! { (number) });
        }
        let label = format!("{label} · {}", value_text(texts, status));
        (label, html! { a href={ (BASE) (UNMATCHED) } { (number) } })
    };
    let sums: Vec<_> = report.sums.iter().map(sum).collect();
    let rows: Vec<_> = sums.iter().map(|(label, number)| (label.as_str(), Some(number.clone()))).collect();
    summary(&rows)
}

/// Renders all parts of a report.
fn render_parts(office: &Office, query: &ReportQuery, report: &DividedReport) -> Markup {
    let texts = office.texts;
    let (series, hidden_rows) = (&report.series, report.hidden_rows);
    let hidden = texts.number(u64::try_from(hidden_rows).unwrap_or(u64::MAX));
    html! {
        @if series.is_empty() {
            div.card { (empty(texts.get("reports.none"), texts.get("reports.none_advice"))) }
        }
        @for part in series { (render_part(office, query, (report, part))) }
        @if hidden_rows > 0 { (notice(Tone::Warn, &html! { (texts.fill("reports.hidden", &[("count", &hidden)])) })) }
    }
}

/// Renders a part: its chart beside its table.
fn render_part(office: &Office, query: &ReportQuery, (report, part): (&DividedReport, &Series)) -> Markup {
    let texts = office.texts;
    let name_of = |index: &usize| column_text(texts, report.header.get(*index).copied().unwrap_or_default());
    let show = |index: usize, cell: &str| show_cell(office, report, index, cell);
    let mut title: Vec<String> = part.shared.iter().map(|(index, value)| show(*index, value)).collect();
    if let Some(charted) = &part.charted {
        title.insert(0, name_of(charted).to_owned());
    }
    let title = title.join(" · ");
    let columns = part.labels.iter().map(|index| Column::new(name_of(index)));
    let columns = columns.chain(part.values.iter().map(|index| Column::number(name_of(index)))).collect();
    let cell = |row: &Vec<String>, index: &usize| show(*index, row.get(*index).map_or("", String::as_str));
    let rows = part.rows.iter().map(|row| {
        part.labels.iter().chain(&part.values).map(|index| html! { span.nowrap { (cell(row, index)) } }).collect()
    });
    let rows = rows.collect();
    let charted = part.fill_days(&report.header, query.charted_days());
    let table = Table { caption: &title, hides_caption: true, is_linked: false, columns, rows };
    let is_unmatched = part.shared.iter().any(|(index, _)| report.header.get(*index) == Some(&MATCHING));
    html! {
        section.card {
            header {
                h2 { (title) }
                @if is_unmatched { a href={ (BASE) (UNMATCHED) } { (texts.get("unmatched.title")) } }
            }
            div.report {
                div { (render_chart(part, &charted, &title, &cell)) }
                (table.render())
            }
        }
    }
}

/// Renders the chart of a part with its rows. Without a column to show there is none.
fn render_chart(
    part: &Series,
    rows: &[Vec<String>],
    title: &str,
    cell: &impl Fn(&Vec<String>, &usize) -> String,
) -> Markup {
    let Some(charted) = part.charted else { return html! {} };
    let point = |row: &Vec<String>| {
        let label = part.labels.iter().map(|index| cell(row, index)).filter(|label| !label.is_empty());
        Point {
            label: label.collect::<Vec<_>>().join(" "),
            text: cell(row, &charted),
            value: row.get(charted).and_then(|cell| parse_hundredths(cell)).unwrap_or(0),
        }
    };
    if part.is_over_time {
        return over_time(&rows.iter().map(point).collect::<Vec<_>>(), title);
    }
    by_name(&rows.iter().take(MAX_BARS).map(point).collect::<Vec<_>>(), title)
}

/// Returns the text of a column.
fn column_text<'a>(texts: &'a Texts, name: &'a str) -> &'a str {
    texts.find(&format!("report_column.{name}")).unwrap_or(name)
}

/// Returns the text of a value that a report knows by its code.
fn value_text<'a>(texts: &'a Texts, value: &'a str) -> &'a str {
    texts.find(&format!("report_value.{value}")).unwrap_or(value)
}

/// Returns a cell as people read it. Numbers have the marks of the language, and entities their names.
fn show_cell(office: &Office, report: &DividedReport, index: usize, cell: &str) -> String {
    let texts = office.texts;
    match report.header.get(index).copied().unwrap_or_default() {
        "paymentType" => type_text(texts, cell),
        "transactionType" => texts.find(&format!("line.{cell}")).unwrap_or(cell).to_owned(),
        "status" | "recordType" | "cashflow" | MATCHING => value_text(texts, cell).to_owned(),
        "entityId" => {
            let id = tillgate_domain::id::EntityId::parse(cell);
            let entity = id.and_then(|id| office.app().gateway.directory.find_entity(&id));
            entity.map_or_else(|| cell.to_owned(), |entity| entity.name.clone())
        }
        _ if index >= report.labels => texts.amount(cell),
        _ => cell.to_owned(),
    }
}
