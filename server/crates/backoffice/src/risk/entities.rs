//! The entities whose rules and lists a user may see. A user with one entity sees its versions at once.

use std::sync::Arc;

use axum::extract::RawQuery;
use axum::response::Response;
use maud::{Markup, html};
use tillgate_domain::access::entity::Entity;
use tillgate_domain::access::role::Permission;

use super::version_list;
use crate::BASE;
use crate::components::badge::{Tone, badge};
use crate::components::field::Field;
use crate::components::filter_bar::FilterForm;
use crate::components::list_address::{BEFORE, ListAddress};
use crate::components::table::{Column, Shown, Table, empty};
use crate::layout::page::Section;
use crate::office::Office;

const PATH: &str = "/risk";
/// Name of the filter in the address.
const NAME: &str = "name";
/// Number of entities on a page.
const PAGE_SIZE: usize = 50;

/// Handles `GET /risk`.
pub(super) async fn show_entities(office: Office, RawQuery(query): RawQuery) -> Response {
    let mut entities = office.entities_with(Permission::ViewRules);
    if let [only] = entities.as_slice() {
        return version_list::show_entity(&office, only, "").await;
    }
    let texts = office.texts;
    let address = ListAddress::read(PATH, &[NAME], query.as_deref().unwrap_or_default());
    let wanted = address.get(NAME).to_lowercase();
    let is_wanted = |entity: &Entity| entity.name.to_lowercase().contains(&wanted) || entity.id.as_str() == wanted;
    entities.retain(|entity| is_wanted(entity) && address.find(BEFORE).is_none_or(|place| entity.id.as_str() > place));
    let more = entities.get(PAGE_SIZE - 1).filter(|_| entities.len() > PAGE_SIZE).map(|last| last.id.to_string());
    entities.truncate(PAGE_SIZE);
    let field = Field {
        name: NAME,
        label: texts.get("rules.entity"),
        value: address.get(NAME),
        max_length: Some(100),
        ..Field::default()
    };
    let form = FilterForm {
        title: texts.get("payments.filters"),
        active: address.count(&[NAME]),
        chips: Vec::new(),
        has_error: false,
        action: &format!("{BASE}{PATH}"),
        fields: field.input("search"),
        apply: texts.get("payments.apply"),
        clear: texts.get("payments.clear"),
    };
    let title = texts.get("rules.title");
    let main = html! {
        div.title { h1 { (title) } p { (texts.get("rules.text")) } }
        div.card {
            div.filter { (form.render()) }
            @if entities.is_empty() {
                (empty(texts.get("rules.no_entity"), texts.get("rules.no_entity_advice")))
            } @else {
                (render_table(&office, &entities))
            }
            div.pages {
                span {}
                div {
                    @if address.find(BEFORE).is_some() {
                        a.button href=(address.with(&[]).format()) { (texts.get("schedules.first")) }
                    }
                    @if let Some(place) = more {
                        a.button href=(address.with(&[(BEFORE, &place)]).format()) rel="next" { (texts.get("schedules.more")) }
                    }
                }
            }
        }
    };
    office.show_page(Section::Rules, title, main)
}

fn render_table(office: &Office, entities: &[Arc<Entity>]) -> Markup {
    let texts = office.texts;
    Table {
        caption: texts.get("rules.title"),
        hides_caption: true,
        is_linked: true,
        columns: vec![
            Column::new(texts.get("rules.entity")),
            Column::new(texts.get("rules.state")),
            Column::new(texts.get("rules.entity_id")).from(Shown::Wide),
        ],
        rows: entities.iter().map(|entity| render_row(office, entity)).collect(),
    }
    .render()
}

fn render_row(office: &Office, entity: &Entity) -> Vec<Markup> {
    let texts = office.texts;
    let rules = office.app().gateway.directory.risk.find_rules(&entity.id);
    let owner = rules.as_ref().and_then(|rules| rules.active_owner.clone());
    let state = match owner {
        Some(owner) if owner == entity.id => badge(Tone::Good, texts.get("rules.has_own")),
        Some(_) => badge(Tone::Calm, texts.get("rules.has_inherited")),
        None => badge(Tone::Calm, texts.get("rules.has_none")),
    };
    vec![
        html! { a href={ (BASE) (PATH) "/" (entity.id) } { (entity.name) } span.under { (entity.id) } },
        state,
        html! { code { (entity.id) } },
    ]
}
