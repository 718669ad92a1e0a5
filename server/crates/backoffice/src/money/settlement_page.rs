//! One batch: its totals and its lines.

use axum::extract::{Path, RawQuery};
use axum::response::Response;
use maud::{Markup, html};
use tillgate_domain::access::role::Permission;
use tillgate_domain::id::{EntityId, RecordId};
use tillgate_domain::settlement::reconciliation::{Cashflow, ReconciliationRecord, RecordType, SettlementStatus};
use tillgate_gateway::settlement::batch_list::BatchLines;
use tillgate_store::settlement::batch_list::{BatchKey, LinePlace};

use super::settlement_list::{PATH, batch_badge, day_text, sum_text};
use super::{money_text, render_list_end};
use crate::BASE;
use crate::components::badge::{Tone, badge};
use crate::components::facts::summary;
use crate::components::list_address::{BEFORE, ListAddress};
use crate::components::table::{Column, Shown, Table, empty};
use crate::layout::page::Section;
use crate::layout::texts::Texts;
use crate::office::Office;

/// Number of lines on a page.
const PAGE_SIZE: usize = 50;

/// Handles `GET /money/settlements/{entity}/{day}/{currency}`.
pub(super) async fn show_batch(
    office: Office,
    Path((entity, day, currency)): Path<(String, String, String)>,
    RawQuery(query): RawQuery,
) -> Response {
    let Some(key) = BatchKey::from_parts(&day, &entity, &currency) else { return office.show_unknown() };
    let sent = ListAddress::read(PATH, &[], query.as_deref().unwrap_or_default());
    let after = match sent.find(BEFORE).map(parse_place) {
        Some(None) => return office.show_unknown(),
        place => place.flatten(),
    };
    let (entities, wanted, place) = (office.entities_with(Permission::ViewMoney), key.clone(), after.clone());
    let read = office.read(move |app, cancelled| {
        app.gateway.load_batch_lines(&entities, &wanted, place.as_ref(), PAGE_SIZE, cancelled)
    });
    match read.await {
        Ok(Some(found)) => show_lines(&office, &key, after.is_some(), &found),
        Ok(None) => office.show_unknown(),
        Err(failure) => office.show_failure(&failure),
    }
}

/// Parses the place of a line in an address.
fn parse_place(text: &str) -> Option<LinePlace> {
    let (day, id) = text.split_once('_')?;
    Some((day.parse().ok()?, RecordId::parse(id)?))
}

fn show_lines(office: &Office, key: &BatchKey, is_continued: bool, found: &BatchLines) -> Response {
    let (texts, batch) = (office.texts, &found.batch);
    let day = day_text(texts, batch.day);
    let title = texts.fill("settlement_page.title", &[("day", &day), ("currency", &batch.currency)]);
    let address = format!("{BASE}{PATH}/{}/{}/{}", key.entity, key.day, key.currency);
    let next = found.next.as_ref().map(|(day, id)| format!("{address}?{BEFORE}={day}_{id}"));
    let count = u64::try_from(found.lines.len()).unwrap_or(u64::MAX);
    let main = html! {
        div.title {
            p.crumb { a href={ (BASE) (PATH) } { (texts.get("settlements.title")) } }
            h1 { (title) }
            (batch_badge(texts, batch))
        }
        (render_totals(office, &key.entity, found))
        div.card {
            @if found.lines.is_empty() {
                (empty(texts.get("settlement_page.none"), texts.get("settlement_page.none_advice")))
            } @else {
                (render_lines(office, &key.entity, &found.lines))
            }
            (render_list_end(texts, is_continued.then_some(&*address), count, next.as_deref()))
        }
    };
    office.show_page(Section::Money, &title, main)
}

/// Renders the sums of a batch beside each other.
fn render_totals(office: &Office, entity: &EntityId, found: &BatchLines) -> Markup {
    let (texts, totals) = (office.texts, &found.batch.totals);
    let sum = |hundredths: i64| Some(html! { (sum_text(texts, hundredths, &found.batch.currency)) });
    let some = |hundredths: i64| sum(hundredths).filter(|_| hundredths != 0);
    // A channel that was moved has a new owner, who may have renamed it.
    let owner = office.find_entity(Permission::ViewMoney, entity.as_str()).ok();
    summary(&[
        (texts.get("settlements.paid_out"), sum(totals.net())),
        (texts.get("settlements.charged"), sum(totals.charged)),
        (texts.get("settlements.returned"), sum(totals.refunded.saturating_add(totals.credited))),
        (texts.get("settlements.charged_back"), some(totals.charged_back)),
        (texts.get("settlement_page.reversed"), some(totals.chargebacks_reversed)),
        (texts.get("settlements.fees"), sum(totals.fees)),
        (texts.get("settlement_page.reserved"), some(totals.reserved)),
        (texts.get("settlement_page.released"), some(totals.released)),
        (texts.get("settlement_page.lines"), Some(html! { (texts.number(totals.lines)) })),
        (texts.get("settlement_page.failed"), (totals.failed > 0).then(|| html! { (texts.number(totals.failed)) })),
        (texts.get("payments.channel"), owner.map(|owner| html! { (owner.name) })),
    ])
}

fn render_lines(office: &Office, entity: &EntityId, lines: &[ReconciliationRecord]) -> Markup {
    let texts = office.texts;
    let may_open = office.allows_on(Permission::ViewPayments, entity);
    let columns = vec![
        Column::number(texts.get("payments.amount")),
        Column::new(texts.get("payments.type")),
        Column::number(texts.get("settlements.fees")),
        Column::new(texts.get("payments.state")).from(Shown::Medium),
        Column::new(texts.get("payments.method")).from(Shown::Wide),
        Column::new(texts.get("payments.reference")).from(Shown::Wide),
    ];
    let rows = lines.iter().map(|line| render_line(texts, line, may_open)).collect();
    Table { caption: texts.get("settlement_page.lines"), hides_caption: true, is_linked: true, columns, rows }.render()
}

/// Renders the cells of a line.
fn render_line(texts: &Texts, line: &ReconciliationRecord, may_open: bool) -> Vec<Markup> {
    let part = &line.settlement;
    let sign = if part.cashflow == Cashflow::Negative { "\u{2212}" } else { "" };
    let amount = format!("{sign}{}", money_text(texts, part.amount));
    let (tone, state) = match part.status {
        SettlementStatus::Success => (Tone::Good, texts.get("settlement_page.settled")),
        SettlementStatus::Failed => (Tone::Bad, texts.get("settlement_page.refused")),
    };
    vec![
        html! {
            @if let Some(payment) = line.payment.as_ref().filter(|_| may_open) {
                a.nowrap href={ (BASE) "/payments/" (payment) } { (amount) }
            } @else {
                span.nowrap { (amount) }
            }
        },
        html! { (line_type_text(texts, line)) },
        html! { @if let Some(fee) = part.fee { span.nowrap { (money_text(texts, fee)) } } },
        badge(tone, state),
        html! {
            span.nowrap {
                (line.brand.as_deref().unwrap_or_default())
                @if let Some(end) = &line.account.last4 { " •• " (end) }
            }
        },
        html! { span.cut { (line.merchant_transaction_id.as_deref().unwrap_or_default()) } },
    ]
}

/// Returns the text of the kind of a line.
pub(super) fn line_type_text(texts: &Texts, line: &ReconciliationRecord) -> String {
    let key = match line.record_type {
        RecordType::Chargeback => "type.CB".to_owned(),
        RecordType::ChargebackReversal => "type.CR".to_owned(),
        RecordType::Settled | RecordType::Fee => format!("line.{}", line.transaction_type.as_str()),
    };
    texts.find(&key).unwrap_or(line.transaction_type.as_str()).to_owned()
}
