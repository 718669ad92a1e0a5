//! The list of lines of institutes' files that have no payment, oldest first.

use axum::extract::RawQuery;
use axum::response::Response;
use maud::{Markup, html};
use tillgate_domain::access::role::Permission;
use tillgate_domain::id::RecordId;
use tillgate_domain::settlement::reconciliation::{Cashflow, MatchingStatus, ReconciliationRecord};
use tillgate_gateway::settlement::file_import::user_act::UnmatchedPage;

use super::areas::render_areas;
use super::settlement_list::day_text;
use super::settlement_page::line_type_text;
use super::{money_text, render_list_end};
use crate::BASE;
use crate::components::list_address::{BEFORE, ListAddress};
use crate::components::table::{Column, Shown, Table, empty};
use crate::layout::page::Section;
use crate::layout::texts::Texts;
use crate::office::Office;
use crate::payment::collect_ids;

/// Path of the list.
pub(in crate::money) const PATH: &str = "/money/unmatched";
/// Number of lines on a page.
const PAGE_SIZE: usize = 50;

/// Handles `GET /money/unmatched`.
pub(super) async fn show_lines(office: Office, RawQuery(query): RawQuery) -> Response {
    let address = ListAddress::read(PATH, &[], query.as_deref().unwrap_or_default());
    let after = match address.find(BEFORE).map(RecordId::parse) {
        Some(None) => return office.show_unknown(),
        place => place.flatten(),
    };
    let entities = collect_ids(&office.entities_with(Permission::ViewMoney));
    let read = office.read(move |app, _| app.gateway.list_unmatched_lines(&entities, after.as_ref(), PAGE_SIZE));
    let page = match read.await {
        Ok(page) => page,
        Err(failure) => return office.show_failure(&failure),
    };
    let texts = office.texts;
    let title = texts.get("unmatched.title");
    let count = u64::try_from(page.lines.len()).unwrap_or(u64::MAX);
    let next = page.next.as_ref().map(|next| address.with(&[(BEFORE, next.as_str())]).format());
    let first = address.find(BEFORE).map(|_| address.with(&[]).format());
    let main = html! {
        div.title { h1 { (title) } }
        div.card {
            div.filter { (render_areas(texts, PATH)) }
            @if page.lines.is_empty() {
                (empty(texts.get("unmatched.none"), texts.get("unmatched.none_advice")))
            } @else {
                (render_table(&office, &page))
            }
            (render_list_end(texts, first.as_deref(), count, next.as_deref()))
        }
    };
    office.show_page(Section::Money, title, main)
}

/// Formats the amount of a line with its direction.
pub(super) fn line_amount_text(texts: &Texts, line: &ReconciliationRecord) -> String {
    let sign = if line.settlement.cashflow == Cashflow::Negative { "\u{2212}" } else { "" };
    format!("{sign}{}", money_text(texts, line.amount))
}

/// Returns the reason why a line has no payment.
pub(super) fn reason_text<'a>(texts: &'a Texts, line: &ReconciliationRecord) -> &'a str {
    match line.matching.as_ref().map(|matching| matching.status) {
        Some(MatchingStatus::Multiple) => texts.get("unmatched.several"),
        Some(MatchingStatus::Matched) => texts.get("unmatched.matched"),
        Some(MatchingStatus::NotMatched) | None => texts.get("unmatched.not_found"),
    }
}

/// Returns the merchant's reference that a line names.
pub(super) fn reference_of(line: &ReconciliationRecord) -> &str {
    let named = line.import.as_ref().and_then(|import| import.merchant_transaction_id.as_deref());
    named.or(line.merchant_transaction_id.as_deref()).unwrap_or_default()
}

/// Returns the time for which a line waits for a decision, in whole days.
fn age_text(office: &Office, line: &ReconciliationRecord) -> String {
    let texts = office.texts;
    let entity = line.import.as_ref().map_or(&line.owner.account, |import| &import.entity);
    let since = line.id.creation_time();
    let hours = since.map_or(0, |since| office.app().gateway.now_of_id(entity).duration_since(since).as_hours());
    match u64::try_from(hours / 24) {
        Ok(0) | Err(_) => texts.get("unmatched.less_than_a_day").to_owned(),
        Ok(days) => texts.fill("unmatched.days", &[("count", &texts.number(days))]),
    }
}

fn render_table(office: &Office, page: &UnmatchedPage) -> Markup {
    let texts = office.texts;
    let columns = vec![
        Column::number(texts.get("payments.amount")),
        Column::new(texts.get("unmatched.reason")),
        Column::new(texts.get("unmatched.age")).from(Shown::Medium),
        Column::new(texts.get("payments.reference")).from(Shown::Medium),
        Column::new(texts.get("payments.type")).from(Shown::Wide),
        Column::new(texts.get("settlement.institute")).from(Shown::Wide),
        Column::new(texts.get("settlements.day")).from(Shown::Medium),
    ];
    let rows = page.lines.iter().map(|line| {
        vec![
            html! { a.nowrap href={ (BASE) (PATH) "/" (line.id) } { (line_amount_text(texts, line)) } },
            html! { (reason_text(texts, line)) },
            html! { span.nowrap { (age_text(office, line)) } },
            html! { span.cut { (reference_of(line)) } },
            html! { (line_type_text(texts, line)) },
            html! { span.cut { (line.institute.name) } },
            html! { span.nowrap { (day_text(texts, line.settlement.date)) } },
        ]
    });
    let rows = rows.collect();
    Table { caption: texts.get("unmatched.title"), hides_caption: true, is_linked: true, columns, rows }.render()
}
