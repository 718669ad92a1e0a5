//! The rules that fired, with their effect and the values that they read.

use maud::{Markup, html};
use tillgate_domain::access::role::Permission;
use tillgate_gateway::risk::explanation::{FiredRule, RuleContent};
use tillgate_risk::{RuleEffect, RuleInput, RuleInputValue};
use tillgate_shared::format::mask::mask_card_numbers;
use tillgate_shared::format::text::truncate_text;

use super::case::ReviewCase;
use crate::components::table::{Column, Table};
use crate::layout::texts::Texts;
use crate::office::Office;

/// Largest number of rules and of inputs of a rule on the page. A file may have a thousand rules.
const SHOWN: (usize, usize) = (12, 12);
/// Longest condition, note and value on the page, in bytes.
const LENGTHS: (usize, usize, usize) = (300, 200, 100);

/// Renders the rules, for those who may see rules.
pub(super) fn render(office: &Office, case: &ReviewCase, rules: &[FiredRule]) -> Markup {
    let texts = office.texts;
    let decision = case.payment().risk.as_ref().and_then(|risk| risk.decision.as_ref());
    let is_shown = office.allows_on(Permission::ViewRules, &case.payment().entity);
    html! {
        div.card {
            header {
                h2 { (texts.get("review_page.rules")) }
                @if let Some(decision) = decision.filter(|_| is_shown) {
                    span.soft { (texts.get("risk.score")) " " (decision.score) }
                }
            }
            @if !is_shown {
                div.body { p.soft { (texts.get("review_page.no_rules")) } }
            } @else if rules.is_empty() {
                div.body { p.soft { (texts.get("review_page.none_fired")) } }
            } @else {
                (render_table(texts, rules))
            }
        }
    }
}

fn render_table(texts: &Texts, rules: &[FiredRule]) -> Markup {
    let hidden = rules.len().saturating_sub(SHOWN.0);
    let columns = vec![
        Column::new(texts.get("review_page.rule")),
        Column::new(texts.get("review_page.effect")),
        Column::new(texts.get("risk.inputs")),
    ];
    let caption = texts.get("review_page.rules");
    let rows = rules.iter().take(SHOWN.0).map(|rule| render_row(texts, rule)).collect();
    html! {
        (Table { caption, hides_caption: true, is_linked: false, columns, rows }.render())
        @if hidden > 0 {
            div.body { p.soft { (texts.fill("review_page.more_items", &[("count", &hidden.to_string())])) } }
        }
    }
}

fn render_row(texts: &Texts, rule: &FiredRule) -> Vec<Markup> {
    let Some(RuleContent { note, effect, condition, inputs }) = &rule.content else {
        return vec![html! { (rule.name) }, html! { "–" }, html! { "–" }];
    };
    let (condition_length, note_length, _) = LENGTHS;
    let effect = match effect {
        RuleEffect::Score(score) => format!("{score:+}"),
        RuleEffect::Outcome(outcome) => texts.get(&format!("risk.{}", outcome.as_str())).to_owned(),
    };
    vec![
        html! {
            div { (rule.name) }
            @if let Some(note) = note { div.soft.small.regular { (cut(note, note_length)) } }
            div.small.regular { code { (cut(condition, condition_length)) } }
        },
        html! { span.nowrap { (effect) } },
        html! { @for input in inputs.iter().take(SHOWN.1) { div.small { (render_input(texts, input)) } } },
    ]
}

fn render_input(texts: &Texts, input: &RuleInput) -> Markup {
    html! {
        code { (input.name) } " "
        @match &input.value {
            RuleInputValue::Known(value) => span.wrap { (mask_card_numbers(&cut(value, LENGTHS.2))) },
            RuleInputValue::Missing => span.soft { (texts.get("review_page.missing")) },
            RuleInputValue::Counter => span.soft { (texts.get("review_page.counter")) },
        }
    }
}

/// Cuts a text that is too long for the page.
fn cut(text: &str, length: usize) -> String {
    let cut = truncate_text(text, length);
    if cut.len() < text.len() { format!("{cut}…") } else { text.to_owned() }
}
