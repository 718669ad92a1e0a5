//! Differences of two versions of an entity's rules, by lines.

use axum::extract::{Path, Query};
use axum::response::Response;
use maud::{Markup, html};
use serde::Deserialize;
use tillgate_domain::access::role::Permission;
use tillgate_gateway::administration::Administration;
use tillgate_shared::format::text::truncate_text;

use super::line_diff::{LineChange, compare_lines};
use super::numbered_text::markup_size;
use super::{Area, examine, page_title, path_of};
use crate::BASE;
use crate::components::badge::Tone;
use crate::components::notice::notice;
use crate::components::table::empty;
use crate::layout::page::Section;
use crate::layout::texts::Texts;
use crate::office::Office;

/// Number of equal lines that are shown around a difference.
const CONTEXT: usize = 3;
/// Maximum size of the lines on the page, in bytes of markup.
const PAGE_BYTES: usize = 40_000;
/// Longest line on the page, in characters.
const LINE_LENGTH: usize = 1_000;

/// The versions that an address names.
#[derive(Deserialize)]
pub(super) struct ComparedVersions {
    #[serde(default)]
    old: String,
    #[serde(default)]
    new: String,
}

/// Handles `GET /risk/{entity}/differences`.
pub(super) async fn show_differences(
    office: Office,
    Path(id): Path<String>,
    Query(versions): Query<ComparedVersions>,
) -> Response {
    let entity = match office.find_entity(Permission::ViewRules, &id) {
        Ok(entity) => entity,
        Err(unknown) => return *unknown,
    };
    let ComparedVersions { old, new } = versions;
    let (owner, names) = (entity.id.clone(), [old.clone(), new.clone()]);
    let load = move |acts: &Administration| {
        let [one, other] = names.map(|name| acts.load_rules_text(&owner, &name).ok());
        // The comparison takes milliseconds, and runs with the read on its thread.
        Ok(one.zip(other).map(|(one, other)| Comparison::new(&one, &other)))
    };
    let comparison = match examine(&office, &entity, load).await {
        Ok(Some(comparison)) => comparison,
        Ok(None) => return office.show_unknown(),
        Err(response) => return *response,
    };
    let texts = office.texts;
    let title = texts.get("rules.differences");
    let path = path_of(&entity);
    let link = |version: &str| html! { a href={ (BASE) (path) "/versions/" (version) } { code { (version) } } };
    let main = html! {
        (page_title(&office, &entity, Area::Versions, title, &html! {
            a.button href={ (BASE) (path) "/differences?old=" (new) "&new=" (old) } { (texts.get("rules.swap")) }
        }))
        section.card aria-labelledby="lines" {
            header {
                h2 id="lines" { (link(&old)) " → " (link(&new)) }
                span.soft { (texts.fill("rules.changed_lines", &[
                    ("added", &comparison.added.to_string()),
                    ("removed", &comparison.removed.to_string()),
                ])) }
            }
            @if comparison.rows.is_empty() {
                (empty(texts.get("rules.no_differences"), texts.get("rules.no_differences_advice")))
            } @else {
                div.body { (comparison.render(texts)) }
            }
        }
        @if comparison.is_cut { (notice(Tone::Calm, &html! { (texts.get("rules.differences_cut")) })) }
    };
    office.show_page(Section::Rules, title, main)
}

/// Line on the page.
enum DiffRow {
    Same(usize, String),
    Removed(usize, String),
    Added(usize, String),
    /// Equal lines that are left out.
    Gap,
}

/// The lines that differ, with those around them.
struct Comparison {
    rows: Vec<DiffRow>,
    added: usize,
    removed: usize,
    /// True if the page has no room for all of them.
    is_cut: bool,
}

impl Comparison {
    fn new(old: &str, new: &str) -> Self {
        let changes = compare_lines(old, new);
        let is_change = |change: &LineChange<'_>| !matches!(change, LineChange::Same(..));
        let changed: Vec<usize> = (0..changes.len()).filter(|index| is_change(&changes[*index])).collect();
        let (mut rows, mut size, mut is_cut, mut shown) = (Vec::new(), 0, false, 0);
        for index in changed.iter().copied() {
            let begin = index.saturating_sub(CONTEXT).max(shown);
            let end = (index + CONTEXT + 1).min(changes.len());
            if begin >= end {
                continue;
            }
            if begin > shown {
                rows.push(DiffRow::Gap);
            }
            let row = |change: &LineChange<'_>| match change {
                LineChange::Same(_, number, line) => DiffRow::Same(*number, cut(line)),
                LineChange::Removed(number, line) => DiffRow::Removed(*number, cut(line)),
                LineChange::Added(number, line) => DiffRow::Added(*number, cut(line)),
            };
            let added: Vec<DiffRow> = changes[begin..end].iter().map(row).collect();
            size += added.iter().map(DiffRow::size).sum::<usize>();
            if size > PAGE_BYTES {
                is_cut = true;
                break;
            }
            rows.extend(added);
            shown = end;
        }
        let count = |is_added| {
            changed.iter().filter(|index| matches!(changes[**index], LineChange::Added(..)) == is_added).count()
        };
        Self { rows, added: count(true), removed: count(false), is_cut }
    }

    fn render(&self, texts: &Texts) -> Markup {
        let line = |class: &str, mark: &str, number: usize, line: &str| {
            html! { tr class=(class) { td.number { (number) } td { (mark) } td { code { (line) } } } }
        };
        html! {
            div.scroll tabindex="0" role="region" aria-label=(texts.get("rules.differences")) {
                table.diff {
                    caption.hidden-text { (texts.get("rules.differences")) }
                    thead.hidden-text { tr {
                        th scope="col" { (texts.get("rules.line")) }
                        th scope="col" { (texts.get("rules.change")) }
                        th scope="col" { (texts.get("rules.file")) }
                    } }
                    tbody { @for row in &self.rows { (match row {
                        DiffRow::Same(number, text) => line("same", "", *number, text),
                        DiffRow::Removed(number, text) => line("removed", "−", *number, text),
                        DiffRow::Added(number, text) => line("added", "+", *number, text),
                        DiffRow::Gap => html! { tr.gap { td colspan="3" { "⋯" } } },
                    }) } }
                }
            }
        }
    }
}

impl DiffRow {
    /// Returns the size of its markup, in bytes.
    fn size(&self) -> usize {
        match self {
            Self::Same(_, line) | Self::Removed(_, line) | Self::Added(_, line) => markup_size(line) + 90,
            Self::Gap => 50,
        }
    }
}

fn cut(line: &str) -> String {
    truncate_text(line, LINE_LENGTH).to_owned()
}
