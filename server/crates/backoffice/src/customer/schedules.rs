//! The list of schedules: those that are active by their next run, and those that have ended, newest first.

use std::sync::Arc;

use axum::extract::RawQuery;
use axum::response::Response;
use jiff::Timestamp;
use maud::{Markup, html};
use tillgate_domain::access::entity::Entity;
use tillgate_domain::access::role::Permission;
use tillgate_domain::id::ScheduleId;
use tillgate_domain::schedule::Schedule;
use tillgate_gateway::Failure;
use tillgate_store::schedule::listing::DuePlace;

use super::entity_filter::{ENTITY, EntityFilter};
use super::{areas, free_text, plan, schedule_amount, schedule_badge, time};
use crate::BASE;
use crate::components::filter_bar::{FilterLink, tabs};
use crate::components::list_address::{BEFORE, ListAddress};
use crate::components::table::{Column, Shown, Table, empty};
use crate::layout::page::Section;
use crate::layout::texts::Texts;
use crate::office::Office;
use crate::payment::collect_ids;
use crate::payment::filter::find_zone;

/// Number of schedules on a page.
const PAGE_SIZE: usize = 50;
const PATH: &str = "/customers/schedules";
/// Name and value of the filter for schedules that have ended.
const ENDED: (&str, &str) = ("state", "ended");

/// A page of the list.
struct SchedulePage {
    schedules: Vec<Schedule>,
    /// The place of the next page.
    place: Option<String>,
}

/// Handles `GET /customers/schedules`.
pub(super) async fn show_schedules(office: Office, RawQuery(query): RawQuery) -> Response {
    let address = ListAddress::read(PATH, &[ENDED.0, ENTITY], query.as_deref().unwrap_or_default());
    let entities = office.entities_with(Permission::ViewCustomers);
    let filter = EntityFilter::read(&address, &entities);
    let page = match load_page(&office, &address, &filter.listed).await {
        Ok(page) => page,
        Err(failure) => return office.show_failure(&failure),
    };
    let texts = office.texts;
    let title = texts.get("schedules.title");
    let main = html! {
        div.title { h1 { (title) } (areas(texts, PATH)) }
        div.card {
            (render_filters(texts, &address, &filter))
            @if page.schedules.is_empty() {
                (empty(texts.get("schedules.none"), texts.get("schedules.none_advice")))
            } @else {
                (render_table(texts, &entities, &page.schedules))
            }
            (render_pages(texts, &address, &page))
        }
    };
    office.show_page(Section::Customers, title, main)
}

async fn load_page(office: &Office, address: &ListAddress, listed: &[Arc<Entity>]) -> Result<SchedulePage, Failure> {
    let (ids, place) = (collect_ids(listed), address.get(BEFORE).to_owned());
    let is_ended = address.get(ENDED.0) == ENDED.1;
    let read = move |app: &tillgate_gateway::App, _: &tillgate_store::Cancellation<'_>| {
        let store = &app.gateway.store;
        if is_ended {
            let (schedules, next) = store.load_ended_schedules(&ids, ScheduleId::parse(&place).as_ref(), PAGE_SIZE)?;
            return Ok(SchedulePage { schedules, place: next.map(|id| id.to_string()) });
        }
        let (schedules, next) = store.load_active_schedules(&ids, parse_place(&place).as_ref(), PAGE_SIZE)?;
        Ok(SchedulePage { schedules, place: next.as_ref().map(format_place) })
    };
    office.read(read).await
}

/// Formats a place in the list for the address.
fn format_place((due, id): &DuePlace) -> String {
    format!("{}.{id}", due.as_millisecond())
}

fn parse_place(text: &str) -> Option<DuePlace> {
    let (due, id) = text.split_once('.')?;
    Some((Timestamp::from_millisecond(due.parse().ok()?).ok()?, ScheduleId::parse(id)?))
}

fn render_filters(texts: &Texts, address: &ListAddress, filter: &EntityFilter) -> Markup {
    let (name, ended) = ENDED;
    let is_ended = address.get(name) == ended;
    let link = |key: &str, value: &str| FilterLink {
        text: texts.get(key).to_owned(),
        address: address.with(&[(name, value)]).format(),
        is_current: is_ended == (value == ended),
    };
    let kept = html! { @if is_ended { input type="hidden" name=(name) value=(ended); } };
    html! {
        div.filter {
            (tabs(texts.get("schedules.state"), &[link("schedules.active", ""), link("schedules.ended", ended)]))
            (filter.render(texts, address, PATH, &kept))
        }
    }
}

fn render_table(texts: &Texts, entities: &[Arc<Entity>], schedules: &[Schedule]) -> Markup {
    let has_channels = entities.len() > 1;
    let mut columns = vec![
        Column::number(texts.get("payments.amount")),
        Column::new(texts.get("schedules.next")),
        Column::new(texts.get("schedules.state")),
        Column::new(texts.get("schedules.plan")).from(Shown::Medium),
        Column::new(texts.get("schedules.name")).from(Shown::Wide),
    ];
    if has_channels {
        columns.push(Column::new(texts.get("schedules.owner")).from(Shown::Wide));
    }
    let rows = schedules.iter().map(|schedule| {
        let owner = entities.iter().find(|entity| entity.id == schedule.entity);
        let zone = find_zone(&schedule.zone, owner.map(std::slice::from_ref).unwrap_or_default());
        let next = schedule.next.filter(|_| schedule.is_active());
        let mut cells = vec![
            html! { a href={ (BASE) (PATH) "/" (schedule.id) } { (schedule_amount(texts, schedule)) } },
            html! { @if let Some(next) = next { (time(texts, &zone, next)) } @else { "–" } },
            schedule_badge(texts, schedule),
            plan::render(texts, schedule),
            html! { span.cut { @if let Some(name) = free_text(schedule.job.get("job.name")) { (name) } } },
        ];
        if has_channels {
            cells.push(html! { span.cut { (owner.map_or("", |owner| &owner.name)) } });
        }
        cells
    });
    let rows = rows.collect();
    Table { caption: texts.get("schedules.title"), hides_caption: true, is_linked: true, columns, rows }.render()
}

/// Renders the end of the page: the number of schedules, and the way to more.
fn render_pages(texts: &Texts, address: &ListAddress, page: &SchedulePage) -> Markup {
    let count = u64::try_from(page.schedules.len()).unwrap_or(u64::MAX);
    html! {
        div.pages {
            span { (texts.fill("schedules.count", &[("count", &texts.number(count))])) }
            div {
                @if address.find(BEFORE).is_some() {
                    a.button href=(address.with(&[]).format()) { (texts.get("schedules.first")) }
                }
                @if let Some(place) = &page.place {
                    a.button href=(address.with(&[(BEFORE, place)]).format()) rel="next" { (texts.get("schedules.more")) }
                }
            }
        }
    }
}
