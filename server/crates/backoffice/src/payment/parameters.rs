//! The parameters of a payment as they were sent, without those that are secret, and with card numbers masked.

use maud::{Markup, html};
use tillgate_domain::payment::Payment;
use tillgate_shared::format::mask::mask_card_numbers;

use crate::components::facts::drawer;
use crate::components::table::{Column, Table};
use crate::layout::texts::Texts;

/// Parts of names whose values are secret: proofs of authentication, tokens and passwords.
const SECRET: [&str; 6] = ["cryptogram", "cavv", "verificationid", "password", "token", "cvv"];

/// Renders the parameters in a drawer.
pub(super) fn render(texts: &Texts, payment: &Payment) -> Markup {
    let mut rows: Vec<Vec<Markup>> = Vec::new();
    for (name, value) in payment.parameters.iter() {
        let lower = name.to_ascii_lowercase();
        let shown = if SECRET.iter().any(|secret| lower.contains(secret)) {
            "•••".into()
        } else {
            mask_card_numbers(value)
        };
        rows.push(vec![html! { code { (name) } }, html! { span.wrap { (shown) } }]);
    }
    if rows.is_empty() {
        return html! {};
    }
    let columns = vec![Column::new(texts.get("payment.name")), Column::new(texts.get("payment.value"))];
    let caption = texts.get("payment.parameters");
    let table = Table { caption, hides_caption: true, is_linked: false, columns, rows }.render();
    drawer(caption, false, &table)
}
