//! The page of one held payment: what the analyst needs to know, and beside it the decision.

use axum::extract::{Path, RawQuery};
use axum::response::Response;
use maud::{Markup, html};
use tillgate_domain::access::role::Permission;
use tillgate_domain::id::PaymentId;
use tillgate_domain::risk::RiskDecision;

use super::case::ReviewCase;
use super::decision_form::{self, SentForm};
use super::list::render_urgency;
use super::{addresses, card_checks, describe_review_state, history, order_facts};
use crate::BASE;
use crate::components::badge::badge;
use crate::components::copy::copyable;
use crate::components::facts::{facts, summary};
use crate::layout::page::Section;
use crate::layout::texts::Texts;
use crate::office::Office;
use crate::payment::detail::{account_end, amount_text};

/// Handles `GET /reviews/{id}`.
pub(super) async fn show_review(office: Office, Path(id): Path<String>, RawQuery(query): RawQuery) -> Response {
    let case = match ReviewCase::load(&office, &id).await {
        Ok(case) => case,
        Err(response) => return *response,
    };
    let query = query.unwrap_or_default();
    let previous = form_urlencoded::parse(query.as_bytes()).find(|(name, _)| name == "previous");
    let previous = previous.and_then(|(_, id)| PaymentId::parse(&id));
    let main = html! {
        (render_title(&office, &case))
        @if let Some(previous) = previous {
            p { (office.texts.get("review_page.next")) " "
                a href={ (BASE) "/reviews/" (previous) } { (office.texts.get("review_page.previous")) } }
        }
        (render(&office, &case, None))
    };
    office.show_page(Section::Reviews, &page_title(office.texts, &case), main)
}

/// Shows the page of a payment. `sent` is a form that was refused.
pub(super) fn show_case(office: &Office, case: &ReviewCase, sent: Option<&SentForm<'_>>) -> Response {
    let main = html! { (render_title(office, case)) (render(office, case, sent)) };
    let title = page_title(office.texts, case);
    match sent {
        Some(sent) => office.show_fault(Section::Reviews, &title, sent.message, &main),
        None => office.show_page(Section::Reviews, &title, main),
    }
}

fn page_title(texts: &Texts, case: &ReviewCase) -> String {
    texts.fill("review_page.title", &[("id", &case.payment().id.short_id())])
}

fn render_title(office: &Office, case: &ReviewCase) -> Markup {
    let (texts, payment) = (office.texts, case.payment());
    let (tone, state) = describe_review_state(texts, case.item.review.state());
    html! {
        div.title {
            p.crumb { a href={ (BASE) "/reviews" } { (texts.get("reviews.title")) } }
            h1 { (amount_text(texts, payment)) }
            (badge(tone, state))
            div.actions {
                @if office.allows_on(Permission::ViewPayments, &payment.entity) {
                    a.button href={ (BASE) "/payments/" (payment.id) } { (texts.get("review_page.payment")) }
                }
                a.button href="#decision" { (texts.get("review_page.to_decision")) }
            }
            p { (copyable(texts, payment.id.as_str())) }
        }
    }
}

/// Renders the content below the title.
fn render(office: &Office, case: &ReviewCase, sent: Option<&SentForm<'_>>) -> Markup {
    let (texts, payment) = (office.texts, case.payment());
    html! {
        (render_summary(texts, case))
        (card_checks::render(texts, payment))
        div.split {
            div.stack {
                (order_facts::render(texts, payment))
                (render_rules(office, case))
                (addresses::render(texts, payment))
            }
            div.stack {
                (decision_form::render(texts, case, sent))
                (history::render(texts, case))
            }
        }
    }
}

/// Renders the most important facts beside each other.
fn render_summary(texts: &Texts, case: &ReviewCase) -> Markup {
    let payment = case.payment();
    let since = payment.review().and_then(|review| review.since).unwrap_or(case.item.review.since);
    let deadline = case.item.deadline.map(|deadline| case.format_time(texts, deadline));
    summary(&[
        (texts.get("reviews.left"), case.item.time_left().map(|_| render_urgency(texts, &case.item))),
        (texts.get("review_page.deadline"), deadline.map(|deadline| html! { (deadline) })),
        (texts.get("reviews.held_since"), Some(html! { (case.format_time(texts, since)) })),
        (
            texts.get("payments.method"),
            Some(html! { (payment.brand) @if let Some(end) = account_end(payment) { " •• " (end) } }),
        ),
        (texts.get("payments.channel"), Some(html! { (case.owner.name) })),
    ])
}

/// Renders the rules that fired with the facts that they read, for those who may see rules.
fn render_rules(office: &Office, case: &ReviewCase) -> Markup {
    let texts = office.texts;
    let decision = case.payment().risk.as_ref().and_then(|risk| risk.decision.as_ref());
    let is_shown = office.allows_on(Permission::ViewRules, &case.payment().entity);
    html! {
        section.card aria-labelledby="rules" {
            header { h2 id="rules" { (texts.get("review_page.rules")) } }
            div.body {
                @if let Some(decision) = decision.filter(|_| is_shown) {
                    (render_decision(texts, decision))
                } @else {
                    p.soft { (texts.get("review_page.no_rules")) }
                }
            }
        }
    }
}

fn render_decision(texts: &Texts, decision: &RiskDecision) -> Markup {
    let list = |names: &[String]| {
        let names = names.iter().map(|name| html! { code { (name) } " " });
        Some(html! { @for name in names { (name) } }).filter(|shown| !shown.0.is_empty())
    };
    facts(&[
        (texts.get("risk.score"), Some(html! { (decision.score) })),
        (texts.get("risk.fired"), list(&decision.fired)),
        (texts.get("risk.inputs"), list(&decision.inputs)),
        (texts.get("risk.version"), decision.version.as_ref().map(|version| html! { code { (version) } })),
    ])
}
