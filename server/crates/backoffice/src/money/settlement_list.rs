//! The list of batches, newest first, with their sums and fees.

use std::sync::Arc;

use axum::extract::RawQuery;
use axum::response::Response;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use maud::{Markup, html};
use tillgate_domain::access::entity::Entity;
use tillgate_domain::access::role::Permission;
use tillgate_domain::id::EntityId;
use tillgate_gateway::settlement::batch_list::BatchPage;
use tillgate_shared::money::{Amount, Currency};
use tillgate_store::settlement::StoredBatch;
use tillgate_store::settlement::batch_list::BatchKey;

use super::areas::render_areas;
use crate::BASE;
use crate::components::badge::{Tone, badge};
use crate::components::list_address::{BEFORE, ListAddress};
use crate::components::table::{Column, Shown, Table, empty};
use crate::layout::page::Section;
use crate::layout::texts::Texts;
use crate::office::Office;

/// Path of the list.
pub(super) const PATH: &str = "/money/settlements";
/// Number of batches on a page.
const PAGE_SIZE: usize = 50;

/// Handles `GET /money/settlements`.
pub(super) async fn show_batches(office: Office, RawQuery(query): RawQuery) -> Response {
    let address = ListAddress::read(PATH, &[], query.as_deref().unwrap_or_default());
    let before = match address.find(BEFORE).map(BatchKey::parse) {
        Some(None) => return office.show_unknown(),
        place => place.flatten(),
    };
    let entities = office.entities_with(Permission::ViewMoney);
    let seen = entities.clone();
    let read =
        office.read(move |app, cancelled| app.gateway.list_batches(&seen, before.as_ref(), PAGE_SIZE, cancelled));
    let page = match read.await {
        Ok(page) => page,
        Err(failure) => return office.show_failure(&failure),
    };
    let texts = office.texts;
    let title = texts.get("settlements.title");
    let main = html! {
        div.title { h1 { (title) } }
        div.card {
            div.filter { (render_areas(texts, PATH)) }
            @if page.batches.is_empty() {
                (empty(texts.get("settlements.none"), texts.get("settlements.none_advice")))
            } @else {
                (render_table(texts, &entities, &page))
            }
            (render_pages(texts, &address, &page))
        }
    };
    office.show_page(Section::Money, title, main)
}

/// Formats a day.
pub(super) fn day_text(texts: &Texts, day: Date) -> String {
    day.to_zoned(TimeZone::UTC).map_or_else(|_| day.to_string(), |moment| texts.date(&moment))
}

/// Formats a sum in hundredths.
pub(super) fn sum_text(texts: &Texts, hundredths: i64, currency: &str) -> String {
    let amount = Currency::parse(currency)
        .and_then(|currency| Amount::from_hundredths(hundredths.saturating_abs(), currency))
        .map(|amount| texts.amount(&amount.to_string()));
    let sign = if hundredths < 0 { "\u{2212}" } else { "" };
    format!("{sign}{} {currency}", amount.unwrap_or_default())
}

/// Renders the state of a batch.
pub(super) fn batch_badge(texts: &Texts, batch: &StoredBatch) -> Markup {
    match (batch.complete, batch.totals.failed) {
        (false, _) => badge(Tone::Warn, texts.get("settlements.in_progress")),
        (true, 0) => badge(Tone::Good, texts.get("settlements.complete")),
        (true, _) => badge(Tone::Bad, texts.get("settlements.has_failed")),
    }
}

fn render_table(texts: &Texts, entities: &[Arc<Entity>], page: &BatchPage) -> Markup {
    let has_channels = entities.len() > 1;
    let mut columns = vec![
        Column::new(texts.get("settlements.day")),
        Column::number(texts.get("settlements.paid_out")),
        Column::new(texts.get("payments.state")).from(Shown::Medium),
        Column::number(texts.get("settlements.charged")).from(Shown::Medium),
        Column::number(texts.get("settlements.returned")).from(Shown::Wide),
        Column::number(texts.get("settlements.charged_back")).from(Shown::Wide),
        Column::number(texts.get("settlements.fees")).from(Shown::Medium),
    ];
    if has_channels {
        columns.push(Column::new(texts.get("payments.channel")).from(Shown::Wide));
    }
    let rows = page.batches.iter().map(|(entity, batch)| {
        let mut cells = render_cells(texts, entity, batch);
        if has_channels {
            let name = entities.iter().find(|known| known.id == *entity).map_or("", |known| &known.name);
            cells.push(html! { span.cut { (name) } });
        }
        cells
    });
    let rows = rows.collect();
    Table { caption: texts.get("settlements.title"), hides_caption: true, is_linked: true, columns, rows }.render()
}

/// Renders the cells of a batch that each list has.
fn render_cells(texts: &Texts, entity: &EntityId, batch: &StoredBatch) -> Vec<Markup> {
    let totals = &batch.totals;
    let sum = |hundredths| html! { span.nowrap { (sum_text(texts, hundredths, &batch.currency)) } };
    let address = format!("{BASE}{PATH}/{entity}/{}/{}", batch.day, batch.currency);
    vec![
        html! { a.nowrap href=(address) { (day_text(texts, batch.day)) } },
        sum(totals.net()),
        batch_badge(texts, batch),
        sum(totals.charged),
        sum(totals.refunded.saturating_add(totals.credited)),
        sum(totals.charged_back.saturating_sub(totals.chargebacks_reversed)),
        sum(totals.fees),
    ]
}

/// Renders the end of the page: the number of batches, and the way to older ones.
fn render_pages(texts: &Texts, address: &ListAddress, page: &BatchPage) -> Markup {
    let count = u64::try_from(page.batches.len()).unwrap_or(u64::MAX);
    let next = page.next.as_ref().map(|next| address.with(&[(BEFORE, &next.to_string())]).format());
    let first = address.find(BEFORE).map(|_| address.with(&[]).format());
    super::render_list_end(texts, first.as_deref(), count, next.as_deref())
}
