//! The other payments with the same card, e-mail address, address or network, counted by their outcomes.

use maud::{Markup, html};
use tillgate_gateway::review::similar_payments::{SharedValue, SimilarPayments};
use tillgate_shared::format::mask::mask_card_numbers;

use super::case::ReviewCase;
use crate::components::table::{Column, Table};
use crate::layout::texts::Texts;
use crate::payment::filter::begin_address;

/// Renders the counts. A payment without any of the values has none.
pub(super) fn render(texts: &Texts, case: &ReviewCase, similar: &[SimilarPayments]) -> Markup {
    if similar.is_empty() {
        return html! {};
    }
    let columns = vec![
        Column::new(texts.get("review_page.same")),
        Column::number(texts.get("state.approved")),
        Column::number(texts.get("state.declined")),
        Column::number(texts.get("state.pending")),
        Column::number(texts.get("state.charged_back")),
    ];
    let caption = texts.get("review_page.similar");
    let rows = similar.iter().map(|group| render_row(texts, case, group)).collect();
    html! {
        div.card {
            header { h2 { (caption) } }
            (Table { caption, hides_caption: true, is_linked: false, columns, rows }.render())
        }
    }
}

fn render_row(texts: &Texts, case: &ReviewCase, group: &SimilarPayments) -> Vec<Markup> {
    let value = match group.shared {
        SharedValue::Card => format!("•• {}", group.value),
        SharedValue::Mail | SharedValue::Address | SharedValue::Network => mask_card_numbers(&group.value).to_string(),
    };
    let number = |number: u64| html! { (texts.number(number)) };
    vec![
        html! {
            (name_of(texts, group.shared)) " "
            @if let Some(address) = list_address(group) {
                a.wrap href=(address) { (value) }
            } @else {
                span.wrap { (value) }
            }
            @if let Some(since) = group.since {
                @let since = case.format_time(texts, since);
                div.soft.small { (texts.fill("review_page.similar_since", &[("time", &since)])) }
            }
        },
        number(group.approved),
        number(group.declined),
        number(group.pending),
        number(group.charged_back),
    ]
}

/// Returns the name of a value.
fn name_of(texts: &Texts, shared: SharedValue) -> &str {
    match shared {
        SharedValue::Card => texts.get("review_page.same_card"),
        SharedValue::Mail => texts.get("payments.mail"),
        SharedValue::Address => texts.get("payment.address"),
        SharedValue::Network => texts.get("review_page.same_network"),
    }
}

/// Returns the address of the list with these payments. `None` if it has no filter for the value.
fn list_address(group: &SimilarPayments) -> Option<String> {
    let name = match group.shared {
        SharedValue::Card => "last4",
        SharedValue::Mail => "mail",
        SharedValue::Address | SharedValue::Network => return None,
    };
    Some(begin_address().with(&[(name, &group.value)]).format())
}
