//! The lists of an entity with the numbers of their entries, and the entities above whose lists apply as well.

use std::sync::Arc;

use axum::extract::Path;
use axum::response::Response;
use maud::{Markup, html};
use tillgate_domain::access::entity::Entity;
use tillgate_domain::access::role::Permission;
use tillgate_domain::risk::list::RiskListKind;
use tillgate_gateway::Failure;

use super::{Area, page_title, path_of};
use crate::BASE;
use crate::components::badge::Tone;
use crate::components::notice::notice;
use crate::components::table::{Column, Table};
use crate::layout::page::Section;
use crate::layout::texts::Texts;
use crate::office::Office;

/// Numbers of entries by list and key.
pub(super) type EntryCounts = Vec<(RiskListKind, &'static str, u64)>;

/// Handles `GET /risk/{entity}/lists`.
pub(super) async fn show_lists(office: Office, Path(id): Path<String>) -> Response {
    let entity = match office.find_entity(Permission::ViewRules, &id) {
        Ok(entity) => entity,
        Err(unknown) => return *unknown,
    };
    let counts = match load_counts(&office, &entity).await {
        Ok(counts) => counts,
        Err(failure) => return office.show_failure(&failure),
    };
    let texts = office.texts;
    let title = texts.get("risk_lists.title");
    let row = |list: RiskListKind| {
        let keys: Vec<String> = counts
            .iter()
            .filter(|(known, _, _)| *known == list)
            .map(|(_, key, count)| format!("{}: {}", key_name(texts, key), texts.number(*count)))
            .collect();
        vec![
            html! {
                a href={ (BASE) (path_of(&entity)) "/lists/" (list.as_str()) } { (list_name(texts, list)) }
                span.under { (keys.join(", ")) }
            },
            html! { (texts.get(&format!("risk_list_text.{}", list.as_str()))) },
            html! { (texts.number(count_of(&counts, list))) },
        ]
    };
    let main = html! {
        (page_title(&office, &entity, Area::Lists, title, &html! {}))
        p.soft { (texts.get("risk_lists.text")) }
        div.card {
            (Table {
                caption: title,
                hides_caption: true,
                is_linked: true,
                columns: vec![
                    Column::new(texts.get("risk_lists.list")),
                    Column::new(texts.get("risk_lists.effect")),
                    Column::number(texts.get("risk_lists.entries")),
                ],
                rows: RiskListKind::ALL.into_iter().map(row).collect(),
            }.render())
        }
        (render_above(&office, &entity))
    };
    office.show_page(Section::Rules, title, main)
}

/// Counts the entries of an entity.
pub(super) async fn load_counts(office: &Office, entity: &Entity) -> Result<EntryCounts, Failure> {
    let id = entity.id.clone();
    office.read(move |app, _| Ok(app.gateway.store.count_list_entries(&id)?)).await
}

/// Returns the number of entries of a list.
pub(super) fn count_of(counts: &EntryCounts, list: RiskListKind) -> u64 {
    counts.iter().filter(|(known, _, _)| *known == list).map(|(_, _, count)| count).sum()
}

/// Returns the name of a list.
pub(super) fn list_name(texts: &Texts, list: RiskListKind) -> &str {
    match list {
        RiskListKind::Allow => texts.get("risk_list.allow"),
        RiskListKind::Review => texts.get("risk_list.review"),
        RiskListKind::Deny => texts.get("risk_list.deny"),
    }
}

/// Returns the name of a key.
pub(super) fn key_name(texts: &Texts, key: &str) -> String {
    texts.find(&format!("risk_key.{key}")).unwrap_or(key).to_owned()
}

/// Names the entities above whose lists apply to the entity as well. Those of which the user may see no rules are not
/// named.
fn render_above(office: &Office, entity: &Entity) -> Markup {
    let texts = office.texts;
    let directory = &office.app().gateway.directory;
    let rules = directory.risk.find_rules(&entity.id);
    let owners = rules.map(|rules| rules.list_owners.clone()).unwrap_or_default();
    let above: Vec<_> = owners.iter().filter(|owner| **owner != entity.id).collect();
    let visible: Vec<Arc<Entity>> = above
        .iter()
        .filter(|owner| office.allows_on(Permission::ViewRules, owner))
        .filter_map(|owner| directory.find_entity(owner))
        .collect();
    html! {
        @if !above.is_empty() {
            (notice(Tone::Calm, &html! {
                (texts.get("risk_lists.above"))
                @for owner in &visible { " " a href={ (BASE) (path_of(owner)) "/lists" } { (owner.name) } }
            }))
        }
    }
}
