//! The result page: paid, not paid, or pending.

use maud::{Markup, html};
use tillgate_shared::brand::Brand;

use super::{art, checkout, layout};
use crate::ShopConfig;
use crate::gateway::StatusResponse;
use crate::order::ShopOrder;
use crate::outcome::OrderOutcome;
use crate::view::View;

/// Beginning of the result codes of risk checks.
const RISK_CODES: &str = "100.400.";

/// Renders the page at `/result/{order}`. A declined order offers another try, a pending one a reload. If a risk check
/// stopped or holds a suspicious order, the page says why, and shows the operator's commands about it.
pub fn render_result(
    view: View,
    shop: &ShopConfig,
    order: &ShopOrder,
    status: &StatusResponse,
    outcome: OrderOutcome,
) -> Markup {
    let texts = view.language().texts();
    let checked = order.suspicious && status.result.code.starts_with(RISK_CODES);
    let (kind, title, text) = match outcome {
        OrderOutcome::Declined if checked => ("declined", texts.stopped_title, texts.stopped_text),
        OrderOutcome::Pending if checked => ("pending", texts.held_title, texts.held_text),
        OrderOutcome::Paid => ("paid", texts.paid_title, texts.paid_text),
        OrderOutcome::Declined => ("declined", texts.declined_title, texts.declined_text),
        OrderOutcome::Pending => ("pending", texts.pending_title, texts.pending_text),
    };
    let path = format!("/result/{}", order.reference);
    let query = view.to_query();
    let main = html! {
        (art::symbol_definitions())
        div class={ "result result-" (kind) } data-outcome=(kind) {
            div.verdict {
                (outcome_badge(outcome))
                h1 { (title) }
                p.lead { (text) }
                @if outcome == OrderOutcome::Paid { (render_payment_method(view, status)) }
                div.actions {
                    @match outcome {
                        OrderOutcome::Declined => {
                            form method="post" action={ "/checkout/" (order.reference) "/again" (query) } {
                                button.primary type="submit" { (texts.again) }
                            }
                        }
                        OrderOutcome::Pending => a.primary href={ (path) (query) } { (texts.refresh) },
                        OrderOutcome::Paid => {}
                    }
                    a.quiet href={ "/" (query) } { (texts.back_to_shop) }
                }
            }
            section.summary aria-labelledby="summary-title" {
                h2 #summary-title { (texts.your_order) }
                (checkout::render_summary(view, order))
            }
            @if let Some(id) = status.id.as_deref().filter(|_| checked) {
                (render_commands(view, shop, id, outcome))
            }
            p.small {
                (texts.result_code) " " span.code { (status.result.code) }
                @if !status.result.description.is_empty() { ": " (status.result.description) }
                @if let Some(id) = &status.id { " · " span.payment-id { (id) } }
            }
        }
    };
    layout::render_page(view, title, Some(&path), main)
}

/// Renders the operator's commands: one shows which rules stopped or hold a payment, and the others decide a held one.
fn render_commands(view: View, shop: &ShopConfig, payment: &str, outcome: OrderOutcome) -> Markup {
    let texts = view.language().texts();
    let mut commands = vec![(texts.look_at_it, format!("risk explain --entity {} {payment}", shop.entity_id))];
    if outcome == OrderOutcome::Pending {
        commands.extend([
            (texts.list_held, "review list".to_owned()),
            (texts.approve_held, format!("review approve {payment}")),
            (texts.cancel_held, format!("review cancel {payment} --reason 1")),
        ]);
    }
    html! {
        div.operator {
            p { (texts.for_operator) }
            @for (meaning, command) in commands {
                p { (meaning) }
                pre tabindex="0" {
                    code {
                        (shop.command) " " (command)
                        @if let Some(data) = &shop.data { " --data " (data) }
                    }
                }
            }
        }
    }
}

/// Renders the brand, and the card's last digits if the gateway sent them. Without a brand renders nothing.
fn render_payment_method(view: View, status: &StatusResponse) -> Markup {
    let texts = view.language().texts();
    let last_four = status.card.as_ref().and_then(|card| card.last_four.as_deref());
    html! {
        @if let Some(code) = &status.payment_brand {
            p.means {
                (texts.paid_with) " " span.brand { (Brand::find(code).map_or(code.as_str(), |brand| brand.name)) }
                @if let Some(last_four) = last_four { " " (texts.ending_in) " " span.last-four { (last_four) } }
            }
        }
    }
}

/// Draws a tick, a cross or a clock for the outcome.
fn outcome_badge(outcome: OrderOutcome) -> Markup {
    let sign = match outcome {
        OrderOutcome::Paid => "M20 33.5l8.5 8.5L45 24.5",
        OrderOutcome::Declined => "M23 23l18 18M41 23L23 41",
        OrderOutcome::Pending => "M32 20v13l8 5",
    };
    html! {
        svg.badge viewBox="0 0 64 64" width="64" height="64" aria-hidden="true" {
            circle cx="32" cy="32" r="30" {}
            path d=(sign) {}
        }
    }
}
