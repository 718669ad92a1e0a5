//! The list of registrations, newest first.

use std::sync::Arc;

use axum::extract::RawQuery;
use axum::response::Response;
use maud::{Markup, html};
use tillgate_domain::access::entity::Entity;
use tillgate_domain::access::role::Permission;
use tillgate_domain::id::RegistrationId;
use tillgate_domain::registration::Registration;

use super::entity_filter::{ENTITY, EntityFilter};
use super::{areas, expiry, holder, masked_account, registration_badge, time};
use crate::BASE;
use crate::components::list_address::{BEFORE, ListAddress};
use crate::components::table::{Column, Shown, Table, empty};
use crate::layout::page::Section;
use crate::layout::texts::Texts;
use crate::office::Office;
use crate::payment::collect_ids;
use crate::payment::filter::find_zone;

/// Number of registrations on a page.
const PAGE_SIZE: usize = 50;
const PATH: &str = "/customers/registrations";

/// Handles `GET /customers/registrations`.
pub(super) async fn show_registrations(office: Office, RawQuery(query): RawQuery) -> Response {
    let address = ListAddress::read(PATH, &[ENTITY], query.as_deref().unwrap_or_default());
    let entities = office.entities_with(Permission::ViewCustomers);
    let filter = EntityFilter::read(&address, &entities);
    let (ids, before) = (collect_ids(&filter.listed), RegistrationId::parse(address.get(BEFORE)));
    let loaded = office
        .read(move |app, _| Ok(app.gateway.store.load_latest_registrations(&ids, before.as_ref(), PAGE_SIZE)?))
        .await;
    let (registrations, place) = match loaded {
        Ok(loaded) => loaded,
        Err(failure) => return office.show_failure(&failure),
    };
    let texts = office.texts;
    let title = texts.get("registrations.title");
    let main = html! {
        div.title { h1 { (title) } (areas(texts, PATH)) }
        div.card {
            div.filter { (filter.render(texts, &address, PATH, &html! {})) }
            @if registrations.is_empty() {
                (empty(texts.get("registrations.none"), texts.get("registrations.none_advice")))
            } @else {
                (render_table(texts, &entities, &registrations))
            }
            (render_pages(texts, &address, registrations.len(), place.as_ref()))
        }
    };
    office.show_page(Section::Customers, title, main)
}

fn render_table(texts: &Texts, entities: &[Arc<Entity>], registrations: &[Registration]) -> Markup {
    let has_channels = entities.len() > 1;
    let mut columns = vec![
        Column::new(texts.get("registrations.account")),
        Column::new(texts.get("registrations.state")),
        Column::new(texts.get("payment.holder")).from(Shown::Medium),
        Column::new(texts.get("payment.expiry")).from(Shown::Wide),
    ];
    if has_channels {
        columns.push(Column::new(texts.get("schedules.owner")).from(Shown::Wide));
    }
    columns.push(Column::new(texts.get("schedule.created")).from(Shown::Medium));
    let rows = registrations.iter().map(|registration| {
        let owner = entities.iter().find(|entity| entity.id == registration.entity);
        let zone = find_zone("", owner.map(std::slice::from_ref).unwrap_or_default());
        let mut cells = vec![
            html! { a href={ (BASE) (PATH) "/" (registration.id) } { (masked_account(texts, registration)) } },
            registration_badge(texts, registration),
            html! { span.cut { @if let Some(holder) = holder(registration) { (holder) } } },
            html! { (expiry(registration).unwrap_or_default()) },
        ];
        if has_channels {
            cells.push(html! { span.cut { (owner.map_or("", |owner| &owner.name)) } });
        }
        cells.push(html! { span.soft { (time(texts, &zone, registration.created)) } });
        cells
    });
    let rows = rows.collect();
    Table { caption: texts.get("registrations.title"), hides_caption: true, is_linked: true, columns, rows }.render()
}

/// Renders the end of the page: the number of registrations, and the way to older ones.
fn render_pages(texts: &Texts, address: &ListAddress, count: usize, place: Option<&RegistrationId>) -> Markup {
    let count = u64::try_from(count).unwrap_or(u64::MAX);
    html! {
        div.pages {
            span { (texts.fill("registrations.count", &[("count", &texts.number(count))])) }
            div {
                @if address.find(BEFORE).is_some() {
                    a.button href=(address.with(&[]).format()) { (texts.get("payments.newest")) }
                }
                @if let Some(place) = place {
                    a.button href=(address.with(&[(BEFORE, place.as_str())]).format()) rel="next" {
                        (texts.get("payments.older"))
                    }
                }
            }
        }
    }
}
