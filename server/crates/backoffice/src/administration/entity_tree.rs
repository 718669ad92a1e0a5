//! The entities of a user as a tree, each with its id.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use axum::response::Response;
use maud::{Markup, html};
use tillgate_domain::access::entity::Entity;
use tillgate_domain::access::level::Level;
use tillgate_domain::access::role::Permission;
use tillgate_domain::id::EntityId;

use crate::BASE;
use crate::components::badge::{Tone, badge};
use crate::components::copy::copyable;
use crate::layout::page::Section;
use crate::layout::texts::Texts;
use crate::office::Office;

/// Entities by the one above them.
type Children<'a> = BTreeMap<Option<&'a EntityId>, Vec<&'a Entity>>;

/// Handles `GET /administration`.
pub(super) async fn show_tree(office: Office) -> Response {
    let texts = office.texts;
    let entities = office.entities_with(Permission::ManageTokens);
    let title = texts.get("administration.title");
    let main = html! {
        div.title {
            h1 { (title) }
            div.actions {
                @if office.signed_in.permissions.allows_somewhere(Permission::ViewAudit) {
                    a.button href={ (BASE) "/administration/audit" } { (texts.get("audit.title")) }
                }
                @if office.signed_in.permissions.allows_everywhere(Permission::ViewSystem) {
                    a.button href={ (BASE) "/administration/system" } { (texts.get("system.title")) }
                }
                a.button href={ (BASE) "/users" } { (texts.get("users.title")) }
            }
            p { (texts.get("administration.advice")) }
        }
        section.card aria-labelledby="entities" {
            header { h2 id="entities" { (texts.get("administration.entities")) } }
            (render_level(texts, &sort_by_parent(&entities), None))
        }
    };
    office.show_page(Section::Administration, title, main)
}

/// Sorts entities by the one above them. An entity above which the user has no permission is at the top, so that nobody
/// learns of others.
fn sort_by_parent(entities: &[Arc<Entity>]) -> Children<'_> {
    let known: BTreeSet<&EntityId> = entities.iter().map(|entity| &entity.id).collect();
    let mut children = Children::new();
    for entity in entities {
        let above = entity.parent.as_ref().filter(|parent| known.contains(parent));
        children.entry(above).or_default().push(entity);
    }
    for level in children.values_mut() {
        level.sort_by(|one, other| (&one.name, &one.id).cmp(&(&other.name, &other.id)));
    }
    children
}

/// Renders the entities below one, with everything below them. The tree has four levels at most.
fn render_level(texts: &Texts, children: &Children<'_>, above: Option<&EntityId>) -> Markup {
    html! {
        @if let Some(level) = children.get(&above) {
            ul.tree {
                @for entity in level {
                    li {
                        a href={ (BASE) "/administration/entities/" (entity.id) } { (entity.name) } " "
                        span.soft { (level_text(texts, entity.level)) } " "
                        (mode_badge(texts, entity)) " "
                        (copyable(texts, entity.id.as_str()))
                        (render_level(texts, children, Some(&entity.id)))
                    }
                }
            }
        }
    }
}

/// Returns the text of a level.
pub(super) fn level_text(texts: &Texts, level: Level) -> &str {
    match level {
        Level::Psp => texts.get("administration.psp"),
        Level::Division => texts.get("administration.division"),
        Level::Merchant => texts.get("administration.merchant"),
        Level::Channel => texts.get("administration.channel"),
    }
}

/// Renders whether an entity takes real money.
pub(super) fn mode_badge(texts: &Texts, entity: &Entity) -> Markup {
    if entity.live {
        badge(Tone::Good, texts.get("administration.live"))
    } else {
        badge(Tone::Calm, texts.get("administration.sandbox"))
    }
}
