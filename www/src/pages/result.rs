//! The result page: paid, not paid, or not yet.

use maud::{Markup, html};

use super::{art, checkout, layout};
use crate::gateway::Status;
use crate::order::Order;
use crate::outcome::Outcome;
use crate::view::View;

/// The page at `/result/{order}`.
pub fn result(view: View, order: &Order, status: &Status, outcome: Outcome) -> Markup {
    let texts = view.language().texts();
    let (kind, title, text) = match outcome {
        Outcome::Paid => ("paid", texts.paid_title, texts.paid_text),
        Outcome::Declined => ("declined", texts.declined_title, texts.declined_text),
        Outcome::Pending => ("pending", texts.pending_title, texts.pending_text),
    };
    let path = format!("/result/{}", order.reference);
    let query = view.query();
    let main = html! {
        (art::definitions())
        div class={ "result result-" (kind) } data-outcome=(kind) {
            div.verdict {
                (badge(outcome))
                h1 { (title) }
                p.lead { (text) }
                @if outcome == Outcome::Paid { (paid_with(view, status)) }
                div.actions {
                    @match outcome {
                        Outcome::Declined => {
                            form method="post" action={ "/checkout/" (order.reference) "/again" (query) } {
                                button.primary type="submit" { (texts.again) }
                            }
                        }
                        Outcome::Pending => a.primary href={ (path) (query) } { (texts.refresh) },
                        Outcome::Paid => {}
                    }
                    a.quiet href={ "/" (query) } { (texts.back_to_shop) }
                }
            }
            section.summary aria-labelledby="summary-title" {
                h2 #summary-title { (texts.your_order) }
                (checkout::summary(view, order))
            }
            p.small {
                (texts.result_code) " " span.code { (status.result.code) }
                @if !status.result.description.is_empty() { ": " (status.result.description) }
                @if let Some(id) = &status.id { " · " span.payment-id { (id) } }
            }
        }
    };
    layout::page(view, title, Some(&path), main)
}

/// Brand and last digits, as far as the gateway tells them.
fn paid_with(view: View, status: &Status) -> Markup {
    let texts = view.language().texts();
    let last_four = status.card.as_ref().and_then(|card| card.last_four.as_deref());
    html! {
        @if let Some(brand) = &status.payment_brand {
            p.means {
                (texts.paid_with) " " span.brand { (brand) }
                @if let Some(last_four) = last_four { " " (texts.ending_in) " " span.last-four { (last_four) } }
            }
        }
    }
}

fn badge(outcome: Outcome) -> Markup {
    let sign = match outcome {
        Outcome::Paid => "M20 33.5l8.5 8.5L45 24.5",
        Outcome::Declined => "M23 23l18 18M41 23L23 41",
        Outcome::Pending => "M32 20v13l8 5",
    };
    html! {
        svg.badge viewBox="0 0 64 64" width="64" height="64" aria-hidden="true" {
            circle cx="32" cy="32" r="30" {}
            path d=(sign) {}
        }
    }
}
