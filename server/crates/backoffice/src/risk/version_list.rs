//! The versions of an entity's rules: those in use, those that were stored, and the latest changes.

use axum::extract::{Path, RawQuery};
use axum::response::Response;
use maud::{Markup, html};
use tillgate_domain::access::entity::Entity;
use tillgate_domain::access::role::Permission;
use tillgate_domain::risk::rules::{RiskState, RuleVersionSummary};
use tillgate_store::risk::decision_log::DecisionLogRow;

use super::{Area, examine, may_change, page_title, path_of, time, version_acts, zone_of};
use crate::BASE;
use crate::components::badge::{Tone, badge};
use crate::components::facts::facts;
use crate::components::list_address::{BEFORE, ListAddress};
use crate::components::table::{Column, Shown, Table, empty};
use crate::layout::page::Section;
use crate::layout::texts::Texts;
use crate::office::Office;

/// Number of versions on a page.
const PAGE_SIZE: usize = 50;

/// Handles `GET /risk/{entity}`.
pub(super) async fn show_versions(office: Office, Path(id): Path<String>, RawQuery(query): RawQuery) -> Response {
    let entity = match office.find_entity(Permission::ViewRules, &id) {
        Ok(entity) => entity,
        Err(unknown) => return *unknown,
    };
    let address = ListAddress::read("/risk", &[], query.as_deref().unwrap_or_default());
    show_entity(&office, &entity, address.get(BEFORE)).await
}

/// Shows the versions of an entity. `before` is the version after which the page begins.
pub(super) async fn show_entity(office: &Office, entity: &Entity, before: &str) -> Response {
    show_page(office, entity, before, None).await
}

/// Shows the versions of an entity, with the message about a refused act.
pub(super) async fn show_fault(office: &Office, entity: &Entity, fault: &str) -> Response {
    show_page(office, entity, "", Some(fault)).await
}

async fn show_page(office: &Office, entity: &Entity, before: &str, fault: Option<&str>) -> Response {
    let owner = entity.clone();
    let (state, changes) = match examine(office, entity, move |acts| acts.load_rule_versions(&owner)).await {
        Ok(loaded) => loaded,
        Err(response) => return *response,
    };
    let texts = office.texts;
    let title = texts.fill("rules.title_of", &[("name", &entity.name)]);
    let actions = html! {
        @if may_change(office, entity) {
            a.button href={ (BASE) "/approvals" } { (texts.get("approvals.title")) }
            a.button.primary href={ (BASE) (path_of(entity)) "/edit" } { (texts.get("rules.new")) }
        }
    };
    let main = html! {
        (page_title(office, entity, Area::Versions, &title, &actions))
        div.split {
            div.stack {
                (render_versions(office, entity, &state, before))
                (render_changes(texts, entity, &changes))
            }
            (render_in_use(office, entity, &state))
        }
    };
    match fault {
        Some(fault) => office.show_fault(Section::Rules, &title, fault, &main),
        None => office.show_page(Section::Rules, &title, main),
    }
}

/// Renders the versions, newest first.
fn render_versions(office: &Office, entity: &Entity, state: &RiskState, before: &str) -> Markup {
    let texts = office.texts;
    let zone = zone_of(entity);
    let newest: Vec<&RuleVersionSummary> = state.versions.iter().rev().collect();
    let start = newest.iter().position(|known| known.version == before).map_or(0, |place| place + 1);
    let shown: Vec<&&RuleVersionSummary> = newest.iter().skip(start).take(PAGE_SIZE).collect();
    let more = shown.last().filter(|_| start + shown.len() < newest.len());
    let row = |known: &&&RuleVersionSummary| {
        vec![
            html! { a href={ (BASE) (path_of(entity)) "/versions/" (known.version) } { code { (known.version) } } },
            state_badges(texts, state, &known.version),
            time(texts, &zone, known.created),
            html! { span.cut { (known.author) } },
        ]
    };
    html! {
        div.card {
            header { h2 id="versions" { (texts.get("rules.versions")) } }
            @if newest.is_empty() {
                (empty(texts.get("rules.no_versions"), texts.get("rules.no_versions_advice")))
            } @else {
                (Table {
                    caption: texts.get("rules.versions"),
                    hides_caption: true,
                    is_linked: true,
                    columns: vec![
                        Column::new(texts.get("rules.version")),
                        Column::new(texts.get("rules.state")),
                        Column::new(texts.get("rules.added")).from(Shown::Medium),
                        Column::new(texts.get("rules.author")).from(Shown::Wide),
                    ],
                    rows: shown.iter().map(row).collect(),
                }.render())
                div.pages {
                    span { (texts.fill("rules.count", &[("count", &newest.len().to_string())])) }
                    div {
                        @if start > 0 { a.button href={ (BASE) (path_of(entity)) } { (texts.get("schedules.first")) } }
                        @if let Some(last) = more {
                            a.button rel="next" href={ (BASE) (path_of(entity)) "?" (BEFORE) "=" (last.version) } {
                                (texts.get("schedules.more"))
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Renders the uses of a version.
pub(super) fn state_badges(texts: &Texts, state: &RiskState, version: &str) -> Markup {
    let (is_active, is_shadow) = (state.active.as_deref() == Some(version), state.shadow.as_deref() == Some(version));
    html! {
        @if is_active { (badge(Tone::Good, texts.get("rules.active"))) " " }
        @if is_shadow { (badge(Tone::Held, texts.get("rules.shadow"))) }
        @if !is_active && !is_shadow { (badge(Tone::Calm, texts.get("rules.draft"))) }
    }
}

/// Returns the origin of the rules that an entity uses without a version of its own. An entity above is named only to
/// those who may see its rules.
pub(super) fn describe_inherited(office: &Office, entity: &Entity) -> String {
    let texts = office.texts;
    let directory = &office.app().gateway.directory;
    // The owner may be the entity itself for a moment, until the directory is filled again.
    let above = directory.find_ancestors(entity);
    let has_own = |above: &Entity| {
        let rules = directory.risk.find_rules(&above.id);
        rules.and_then(|rules| rules.active_owner.clone()).is_some_and(|owner| owner == above.id)
    };
    match above.iter().find(|above| has_own(above)) {
        None => texts.get("rules.none_above").to_owned(),
        Some(owner) if office.allows_on(Permission::ViewRules, &owner.id) => {
            texts.fill("rules.inherited_from", &[("name", &owner.name)])
        }
        Some(_) => texts.get("rules.inherited").to_owned(),
    }
}

/// Renders the versions in use, and how to stop them.
fn render_in_use(office: &Office, entity: &Entity, state: &RiskState) -> Markup {
    let texts = office.texts;
    let link = |version: &String| {
        html! { a href={ (BASE) (path_of(entity)) "/versions/" (version) } { code { (version) } } }
    };
    let active = state.active.as_ref().map_or_else(|| html! { (describe_inherited(office, entity)) }, link);
    let shadow = state.shadow.as_ref().map_or_else(|| html! { (texts.get("rules.no_shadow")) }, link);
    let is_checked = entity.settings.channel.risk;
    let is_payer = entity.level.allows_payments();
    html! {
        section.card aria-labelledby="in-use" {
            header { h2 id="in-use" { (texts.get("rules.in_use")) } }
            div.body.stack {
                (facts(&[
                    (texts.get("rules.active"), Some(active)),
                    (texts.get("rules.shadow"), Some(shadow)),
                    (texts.get("setting.risk"), is_payer.then(|| {
                        html! { (texts.get(if is_checked { "rules.check_on" } else { "rules.check_off" })) }
                    })),
                ]))
                @if may_change(office, entity) { (version_acts::stop_forms(office, entity, state)) }
            }
        }
    }
}

/// Renders the latest changes.
fn render_changes(texts: &Texts, entity: &Entity, changes: &[DecisionLogRow]) -> Markup {
    let zone = zone_of(entity);
    let row = |change: &DecisionLogRow| {
        let action = format!("rules_change.{}", change.action);
        vec![
            time(texts, &zone, change.at),
            html! { (texts.get(&action)) " " code { (change.subject) } },
            html! { span.wrap { (change.reason) } },
            html! { span.cut { (change.author) } },
        ]
    };
    html! {
        @if !changes.is_empty() {
            div.card {
                header { h2 id="changes" { (texts.get("rules.changes")) } }
                (Table {
                    caption: texts.get("rules.changes"),
                    hides_caption: true,
                    is_linked: false,
                    columns: vec![
                        Column::new(texts.get("rules.time")),
                        Column::new(texts.get("rules.change")),
                        Column::new(texts.get("rules.reason")).from(Shown::Wide),
                        Column::new(texts.get("rules.author")).from(Shown::Medium),
                    ],
                    rows: changes.iter().map(row).collect(),
                }.render())
            }
        }
    }
}
