//! The page of a version: its text, its rules in words, its results, and the forms that use it.

use axum::extract::{Path, Query};
use axum::response::Response;
use maud::{Markup, html};
use serde::Deserialize;
use tillgate_domain::access::entity::Entity;
use tillgate_domain::access::role::Permission;
use tillgate_domain::risk::rules::{RiskState, RuleVersionSummary};
use tillgate_gateway::risk::version_results::VersionResults;
use tillgate_risk::{Outcome, Rule, RuleEffect, RuleSet};
use tillgate_shared::format::text::truncate_text;

use super::numbered_text::{NumberedText, markup_size};
use super::version_list::state_badges;
use super::{Area, examine, may_change, page_title, path_of, time, version_acts, version_results, zone_of};
use crate::BASE;
use crate::components::badge::Tone;
use crate::components::facts::facts;
use crate::components::field::{Choice, Field};
use crate::components::notice::notice;
use crate::components::table::{Column, Shown, Table, empty};
use crate::layout::page::Section;
use crate::layout::texts::Texts;
use crate::office::Office;
use crate::payment::collect_ids;

/// Maximum size of the rules in words, in bytes of markup.
const RULES_BYTES: usize = 16_000;
/// Longest condition and note on the page, in characters.
const LENGTHS: (usize, usize) = (300, 160);
/// Number of versions that can be chosen for a comparison.
const COMPARED: usize = 20;

/// The part of the text that an address names.
#[derive(Deserialize)]
pub(super) struct TextPlace {
    /// Number of the first line.
    #[serde(default)]
    line: String,
}

/// A version with everything on its page.
pub(super) struct VersionPage {
    pub(super) entity: Entity,
    pub(super) summary: RuleVersionSummary,
    pub(super) state: RiskState,
    text: String,
    /// The rules, or the error for which this release cannot read them.
    rules: Result<RuleSet, String>,
    results: VersionResults,
}

/// Handles `GET /risk/{entity}/versions/{version}`.
pub(super) async fn show_version(
    office: Office,
    Path((id, version)): Path<(String, String)>,
    Query(place): Query<TextPlace>,
) -> Response {
    let entity = match office.find_entity(Permission::ViewRules, &id) {
        Ok(entity) => entity,
        Err(unknown) => return *unknown,
    };
    show_page(&office, &entity, &version, place.line.parse().unwrap_or(1), None).await
}

/// Shows the page of a version. `fault` is the message about a refused act.
pub(super) async fn show_page(
    office: &Office,
    entity: &Entity,
    version: &str,
    line: usize,
    fault: Option<&str>,
) -> Response {
    let page = match load_page(office, entity, version).await {
        Ok(Some(page)) => page,
        Ok(None) => return office.show_unknown(),
        Err(response) => return *response,
    };
    let texts = office.texts;
    let title = texts.fill("rules.version_title", &[("version", version)]);
    let main = html! {
        (page_title(office, entity, Area::Versions, &title, &render_actions(office, &page)))
        @if let Err(error) = &page.rules {
            (notice(Tone::Bad, &html! { (texts.fill("rules.unreadable", &[("error", error)])) }))
        }
        div.split {
            div.stack {
                @if let Ok(rules) = &page.rules { (render_rules(texts, rules)) }
                (render_text(office, &page, line))
            }
            div.stack {
                (render_facts(office, &page))
                (version_results::render(office, entity, &page.results))
                (render_comparison(office, &page))
            }
        }
    };
    match fault {
        Some(fault) => office.show_fault(Section::Rules, &title, fault, &main),
        None => office.show_page(Section::Rules, &title, main),
    }
}

/// Loads a version. Returns `None` if the entity has no such version.
async fn load_page(office: &Office, entity: &Entity, version: &str) -> Result<Option<VersionPage>, Box<Response>> {
    let (owner, name) = (entity.clone(), version.to_owned());
    let load = move |acts: &tillgate_gateway::administration::Administration| {
        let (state, _) = acts.load_rule_versions(&owner)?;
        let Some(summary) = state.versions.iter().find(|known| known.version == name).cloned() else {
            return Ok(None);
        };
        let text = acts.load_rules_text(&owner.id, &name)?;
        Ok(Some((state, summary, text)))
    };
    let Some((state, summary, text)) = examine(office, entity, load).await? else { return Ok(None) };
    let below = collect_ids(&office.app().gateway.directory.entities_at_and_below(&entity.id));
    let (name, parsed) = (version.to_owned(), text.clone());
    let read = move |app: &tillgate_gateway::App, cancelled: &tillgate_store::Cancellation<'_>| {
        let rules = RuleSet::parse_stored(&parsed)
            .map_err(|errors| errors.first().map(ToString::to_string).unwrap_or_default());
        Ok((rules, app.gateway.count_version_results(&below, &name, cancelled)?))
    };
    match office.read(read).await {
        Ok((rules, results)) => Ok(Some(VersionPage { entity: entity.clone(), summary, state, text, rules, results })),
        Err(failure) => Err(Box::new(office.show_failure(&failure))),
    }
}

fn render_actions(office: &Office, page: &VersionPage) -> Markup {
    let (texts, path) = (office.texts, path_of(&page.entity));
    let version = &page.summary.version;
    html! {
        @if may_change(office, &page.entity) {
            a.button href={ (BASE) (path) "/edit?from=" (version) } { (texts.get("rules.edit_from")) }
            a.button href={ (BASE) (path) "/dry-run?version=" (version) } { (texts.get("dry_run.title")) }
            (version_acts::use_forms(office, page))
        }
    }
}

fn render_facts(office: &Office, page: &VersionPage) -> Markup {
    let texts = office.texts;
    let zone = zone_of(&page.entity);
    let rules = page.rules.as_ref().ok();
    html! {
        section.card aria-labelledby="about" {
            header { h2 id="about" { (texts.get("rules.about")) } }
            div.body {
                (facts(&[
                    (texts.get("rules.state"), Some(state_badges(texts, &page.state, &page.summary.version))),
                    (texts.get("rules.added"), Some(time(texts, &zone, page.summary.created))),
                    (texts.get("rules.author"), Some(html! { span.wrap { (page.summary.author) } })),
                    (texts.get("rules.zone"), rules.map(|rules| html! { (rules.zone_name()) })),
                    (texts.get("rules.thresholds"), rules.map(|rules| render_thresholds(texts, rules))),
                    (texts.get("rules.offers"), rules.map(|rules| html! { (rules.offers().offers().len()) })),
                    (texts.get("rules.counters"), rules.map(|rules| html! { (rules.counted_counters().len()) })),
                ]))
            }
        }
    }
}

/// Renders the thresholds in words.
fn render_thresholds(texts: &Texts, rules: &RuleSet) -> Markup {
    let thresholds = rules.thresholds();
    let rows = [
        ("rule_threshold.challenge", thresholds.challenge),
        ("rule_threshold.review", thresholds.review),
        ("rule_threshold.deny", thresholds.deny),
    ];
    html! {
        @if rows.iter().all(|(_, score)| score.is_none()) { (texts.get("rules.no_thresholds")) }
        ul { @for (key, score) in rows { @if let Some(score) = score {
            li { (texts.fill(key, &[("score", &score.to_string())])) }
        } } }
    }
}

/// Renders the rules in words, as many as the page has room for.
fn render_rules(texts: &Texts, rules: &RuleSet) -> Markup {
    let (mut size, mut rows) = (0, Vec::new());
    for rule in rules.rules() {
        let condition = rules.print_condition(rule);
        let condition = truncate_text(&condition, LENGTHS.0);
        let note = truncate_text(rule.note.as_deref().unwrap_or_default(), LENGTHS.1);
        size += 150 + markup_size(&rule.name) + markup_size(condition) + markup_size(note);
        if size > RULES_BYTES {
            break;
        }
        rows.push(vec![
            html! { span.wrap { (rule.name) } span.under { (describe_effect(texts, rule)) } },
            html! { code { (condition) } @if !note.is_empty() { p.soft.small { (note) } } },
            html! { (describe_effect(texts, rule)) },
        ]);
    }
    let hidden = rules.rules().len() - rows.len();
    html! {
        div.card {
            header { h2 id="rules" { (texts.get("rules.rules")) } span.count { (rules.rules().len()) } }
            @if rules.rules().is_empty() {
                (empty(texts.get("rules.no_rules"), texts.get("rules.no_rules_advice")))
            } @else {
                (Table {
                    caption: texts.get("rules.rules"),
                    hides_caption: true,
                    is_linked: false,
                    columns: vec![
                        Column::new(texts.get("rules.rule")),
                        Column::new(texts.get("rules.condition")),
                        Column::new(texts.get("rules.effect")).from(Shown::Medium),
                    ],
                    rows,
                }.render())
                @if hidden > 0 {
                    div.body { p.soft { (texts.fill("rules.more_rules", &[("count", &hidden.to_string())])) } }
                }
            }
        }
    }
}

/// Describes the effect of a rule in words.
fn describe_effect(texts: &Texts, rule: &Rule) -> String {
    let effect = match rule.effect {
        RuleEffect::Score(score) => texts.fill("rule_effect.score", &[("score", &format!("{score:+}"))]),
        RuleEffect::Outcome(Outcome::Accept) => texts.get("rule_effect.accept").to_owned(),
        RuleEffect::Outcome(Outcome::Challenge) => texts.get("rule_effect.challenge").to_owned(),
        RuleEffect::Outcome(Outcome::Review) => texts.get("rule_effect.review").to_owned(),
        RuleEffect::Outcome(Outcome::Deny) => texts.get("rule_effect.deny").to_owned(),
    };
    match rule.code {
        Some(code) => format!("{effect} ({})", code.code()),
        None => effect,
    }
}

/// Renders a page of the text.
fn render_text(office: &Office, page: &VersionPage, line: usize) -> Markup {
    let texts = office.texts;
    let text = NumberedText::read(&page.text, line);
    let address = format!("{BASE}{}/versions/{}", path_of(&page.entity), page.summary.version);
    let last = (text.first + text.lines.len()).saturating_sub(1);
    let range = [text.first, last, text.count].map(|number| number.to_string());
    html! {
        section.card aria-labelledby="text" {
            header { h2 id="text" { (texts.get("rules.file")) } }
            div.body { (text.render()) }
            @if text.next.is_some() || text.first > 1 {
                div.pages {
                    span { (texts.fill("rules.lines", &[("from", &range[0]), ("to", &range[1]), ("count", &range[2])])) }
                    div {
                        @if text.first > 1 { a.button href={ (address) "#text" } { (texts.get("rules.first_lines")) } }
                        @if let Some(next) = text.next {
                            a.button rel="next" href={ (address) "?line=" (next) "#text" } { (texts.get("rules.next_lines")) }
                        }
                    }
                }
            }
        }
    }
}

/// Renders the form that leads to the differences from another version.
fn render_comparison(office: &Office, page: &VersionPage) -> Markup {
    let texts = office.texts;
    let others: Vec<&RuleVersionSummary> =
        page.state.versions.iter().rev().filter(|known| known.version != page.summary.version).collect();
    let active = page.state.active.as_deref();
    let names: Vec<String> = others
        .iter()
        .map(|known| match active == Some(&known.version) {
            true => format!("{} ({})", known.version, texts.get("rules.active")),
            false => known.version.clone(),
        })
        .collect();
    let choices: Vec<Choice<'_>> =
        others.iter().zip(&names).take(COMPARED).map(|(known, name)| (&*known.version, &**name)).collect();
    let field = Field {
        name: "old",
        label: texts.get("rules.compare_with"),
        value: active.unwrap_or_default(),
        ..Field::default()
    };
    html! {
        @if !choices.is_empty() {
            section.card aria-labelledby="compare" {
                header { h2 id="compare" { (texts.get("rules.differences")) } }
                form method="get" action={ (BASE) (path_of(&page.entity)) "/differences" } {
                    (field.select(&choices))
                    input type="hidden" name="new" value=(page.summary.version);
                    button type="submit" { (texts.get("rules.compare")) }
                }
            }
        }
    }
}
