//! The results of a version for the latest payments: the outcomes that it had, or would have had in shadow mode.

use maud::{Markup, html};
use tillgate_domain::access::entity::Entity;
use tillgate_gateway::risk::version_results::{ShadowTally, VersionResults};

use super::{describe_outcome, time, zone_of};
use crate::BASE;
use crate::components::badge::badge;
use crate::components::table::{Column, Table, empty};
use crate::layout::texts::Texts;
use crate::office::Office;

/// Number of rules of which the page says how often they fired.
const SHOWN: usize = 20;

/// Renders the results.
pub(super) fn render(office: &Office, entity: &Entity, results: &VersionResults) -> Markup {
    let texts = office.texts;
    let zone = zone_of(entity);
    let has_none = results.decided.is_empty() && results.shadow.is_empty();
    html! {
        section.card aria-labelledby="results" {
            header { h2 id="results" { (texts.get("rule_results.title")) } }
            @if has_none {
                (empty(texts.get("rule_results.none"), texts.get("rule_results.none_advice")))
            }
            @if !results.decided.is_empty() {
                (table(texts, "rule_results.decided", results.decided.iter().map(|(outcome, count)| {
                    let (tone, text) = describe_outcome(texts, Some(*outcome));
                    vec![badge(tone, text), html! { (texts.number(*count)) }]
                }).collect()))
            }
            @if !results.shadow.is_empty() { (render_shadow(texts, &results.shadow)) }
            @if !results.fired.is_empty() { (render_fired(texts, results)) }
            div.body {
                p.soft.small {
                    @match results.since {
                        Some(since) => { (texts.get("rule_results.since")) " " (time(texts, &zone, since)) }
                        None => { (texts.get("rule_results.all")) }
                    }
                }
            }
        }
    }
}

fn table(texts: &Texts, caption: &str, rows: Vec<Vec<Markup>>) -> Markup {
    let columns =
        vec![Column::new(texts.get("rule_results.outcome")), Column::number(texts.get("rule_results.payments"))];
    Table { caption: texts.get(caption), hides_caption: false, is_linked: false, columns, rows }.render()
}

/// Renders the outcomes in shadow mode beside those that decided.
fn render_shadow(texts: &Texts, tallies: &[ShadowTally]) -> Markup {
    let row = |tally: &ShadowTally| {
        let (decided, shadow) =
            (describe_outcome(texts, Some(tally.decided)), describe_outcome(texts, Some(tally.shadow)));
        let outcomes = html! {
            @if tally.decided == tally.shadow { (badge(decided.0, decided.1)) }
            @else { (badge(decided.0, decided.1)) " → " (badge(shadow.0, shadow.1)) }
            @for (index, id) in tally.examples.iter().enumerate() {
                @let name = texts.fill("rule_results.example", &[("number", &(index + 1).to_string())]);
                " " a.small href={ (BASE) "/payments/" (id) } { (name) }
            }
        };
        vec![outcomes, html! { (texts.number(tally.count)) }]
    };
    table(texts, "rule_results.shadow", tallies.iter().map(row).collect())
}

/// Renders the rules that fired most often.
fn render_fired(texts: &Texts, results: &VersionResults) -> Markup {
    let mut fired: Vec<(&String, &u64)> = results.fired.iter().collect();
    fired.sort_by(|one, other| (other.1, one.0).cmp(&(one.1, other.0)));
    let rows = fired
        .iter()
        .take(SHOWN)
        .map(|(name, count)| vec![html! { span.wrap { (name) } }, html! { (texts.number(**count)) }]);
    Table {
        caption: texts.get("rule_results.fired"),
        hides_caption: false,
        is_linked: false,
        columns: vec![Column::new(texts.get("rules.rule")), Column::number(texts.get("rule_results.payments"))],
        rows: rows.collect(),
    }
    .render()
}
