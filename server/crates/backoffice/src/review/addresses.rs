//! The billing address against the shipping address.

use maud::{Markup, html};
use tillgate_domain::payment::Payment;
use tillgate_shared::format::mask::mask_card_numbers;

use crate::components::badge::{Tone, badge};
use crate::components::facts::facts;
use crate::components::table::{Column, Table};
use crate::layout::texts::Texts;

/// The compared lines: the ends of the parameters, which are also the keys of their texts.
const LINES: [&str; 6] = ["street1", "street2", "postcode", "city", "state", "country"];

/// Returns a line of both addresses.
fn read_line<'a>(payment: &'a Payment, line: &str) -> [&'a str; 2] {
    ["billing", "shipping"]
        .map(|group| payment.parameters.get(&format!("{group}.{line}")).map(str::trim).unwrap_or_default())
}

/// Renders both addresses line by line, and marks what differs. Renders nothing if none was sent.
pub(super) fn render(texts: &Texts, payment: &Payment) -> Markup {
    let lines: Vec<(&str, [&str; 2])> = LINES
        .iter()
        .map(|line| (*line, read_line(payment, line)))
        .filter(|(_, values)| values.iter().any(|value| !value.is_empty()))
        .collect();
    if lines.is_empty() {
        return html! {};
    }
    let has_shipping = lines.iter().any(|(_, [_, shipping])| !shipping.is_empty());
    html! {
        div.card {
            header { h2 { (texts.get("review_page.address_title")) } }
            @if has_shipping {
                (render_comparison(texts, &lines))
            } @else {
                div.body.stack {
                    (facts(&lines.iter().map(|(line, [billing, _])| (line_text(texts, line), Some(html! { (mask_card_numbers(billing)) }))).collect::<Vec<_>>()))
                    p.soft { (texts.get("review_page.no_shipping")) }
                }
            }
        }
    }
}

fn render_comparison(texts: &Texts, lines: &[(&str, [&str; 2])]) -> Markup {
    let row = |(line, [billing, shipping]): &(&str, [&str; 2])| {
        vec![
            html! { (line_text(texts, line)) },
            html! { span.wrap { (mask_card_numbers(billing)) } },
            html! {
                span.wrap { (mask_card_numbers(shipping)) }
                @if is_different(billing, shipping) { " " (badge(Tone::Warn, texts.get("review_page.differs"))) }
            },
        ]
    };
    let columns = vec![
        Column::new(texts.get("review_page.address_line")),
        Column::new(texts.get("review_page.billing")),
        Column::new(texts.get("review_page.shipping")),
    ];
    let caption = texts.get("review_page.address_title");
    Table { caption, hides_caption: true, is_linked: false, columns, rows: lines.iter().map(row).collect() }.render()
}

/// Returns true if two lines differ in more than their case and their blanks.
fn is_different(one: &str, other: &str) -> bool {
    let plain = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
    plain(one) != plain(other)
}

/// Returns the name of a line.
fn line_text<'a>(texts: &'a Texts, line: &'a str) -> &'a str {
    texts.find(&format!("review_page.{line}")).unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_and_blanks_are_no_difference_between_addresses() {
        assert!(!is_different("Main  Street 1", "main street 1 "));
        assert!(is_different("Main Street 1", "Main Street 2") && is_different("", "Main Street 1"));
    }

    #[test]
    fn every_line_has_a_name() {
        for line in LINES {
            assert_ne!(line_text(Texts::choose("en"), line), line);
        }
    }
}
