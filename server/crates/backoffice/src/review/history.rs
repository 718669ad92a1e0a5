//! The acts of analysts about one payment.

use maud::{Markup, html};
use tillgate_domain::review::queue::{ReviewAction, ReviewActionKind};

use super::case::ReviewCase;
use crate::components::badge::Tone;
use crate::components::timeline::{Step, timeline};
use crate::layout::texts::Texts;

/// Largest number of acts on the page, of up to a thousand with long notes.
const SHOWN: usize = 20;

/// Renders the latest acts, oldest first.
pub(super) fn render(texts: &Texts, case: &ReviewCase) -> Markup {
    let hidden = case.actions.len().saturating_sub(SHOWN);
    let steps: Vec<Step> = case.actions.iter().skip(hidden).map(|action| build_step(texts, case, action)).collect();
    let shown = SHOWN.to_string();
    html! {
        section.card aria-labelledby="history" {
            header { h2 id="history" { (texts.get("review_page.history")) } }
            @if hidden > 0 { div.body { p.soft { (texts.fill("review_page.history_cut", &[("count", &shown)])) } } }
            @if steps.is_empty() {
                div.body { p.soft { (texts.get("review_page.history_none")) } }
            } @else {
                (timeline(&steps))
            }
        }
    }
}

fn build_step(texts: &Texts, case: &ReviewCase, action: &ReviewAction) -> Step {
    let tone = match action.kind {
        ReviewActionKind::Claim | ReviewActionKind::Release | ReviewActionKind::Note => Tone::Calm,
        ReviewActionKind::Pend => Tone::Held,
        ReviewActionKind::Approve => Tone::Good,
        ReviewActionKind::Cancel | ReviewActionKind::Expire => Tone::Bad,
    };
    let reason = action.reason.map(|reason| texts.fill("decision.by_reason", &[("reason", &reason.to_string())]));
    Step {
        tone,
        title: html! { (texts.get(&format!("review.{}", action.kind.as_str()))) },
        time: case.format_time(texts, action.at),
        date_time: action.at.to_string(),
        text: Some(html! { (action.analyst) @if let Some(reason) = reason { " · " (reason) } }),
        detail: action.note.as_ref().map(|note| html! { div.lines { (note) } }),
    }
}
