//! The page of one held payment: what the analyst needs to know, and beside it the decision.

use axum::extract::{Path, RawQuery};
use axum::response::Response;
use maud::{Markup, html};
use tillgate_domain::access::role::Permission;
use tillgate_domain::id::PaymentId;

use super::case::{ReviewCase, ReviewEvidence};
use super::decision_form::{self, SentForm};
use super::list::render_urgency;
use super::{addresses, card_checks, describe_review_state, history, order_facts, rule_table, similar_table};
use crate::BASE;
use crate::components::badge::badge;
use crate::components::copy::copyable;
use crate::components::facts::summary;
use crate::layout::page::Section;
use crate::layout::texts::Texts;
use crate::office::Office;
use crate::payment::labels::{account_end, amount_text};

/// Handles `GET /reviews/{id}`.
pub(super) async fn show_review(office: Office, Path(id): Path<String>, RawQuery(query): RawQuery) -> Response {
    let case = match ReviewCase::load(&office, &id).await {
        Ok(case) => case,
        Err(response) => return *response,
    };
    let query = query.unwrap_or_default();
    let previous = form_urlencoded::parse(query.as_bytes()).find(|(name, _)| name == "previous");
    let previous = previous.and_then(|(_, id)| PaymentId::parse(&id));
    show_after(&office, &case, previous.as_ref(), None).await
}

/// Shows the page of a payment with a form that was refused.
pub(super) async fn show_case(office: &Office, case: &ReviewCase, sent: &SentForm<'_>) -> Response {
    show_after(office, case, None, Some(sent)).await
}

/// Shows the page of a payment. `previous` is the payment about which the analyst has just decided.
async fn show_after(
    office: &Office,
    case: &ReviewCase,
    previous: Option<&PaymentId>,
    sent: Option<&SentForm<'_>>,
) -> Response {
    let evidence = match case.load_evidence(office).await {
        Ok(evidence) => evidence,
        Err(failure) => return office.show_failure(&failure),
    };
    let texts = office.texts;
    let main = html! {
        (render_title(office, case))
        @if let Some(previous) = previous {
            p { (texts.get("review_page.next")) " "
                a href={ (BASE) "/reviews/" (previous) } { (texts.get("review_page.previous")) } }
        }
        (render(office, case, &evidence, sent))
    };
    let title = page_title(texts, case);
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
                @if case.can_decide {
                    a.button href="#decision" { (texts.get("review_page.to_decision")) }
                }
            }
            p { (copyable(texts, payment.id.as_str())) }
        }
    }
}

/// Renders the content below the title.
fn render(office: &Office, case: &ReviewCase, evidence: &ReviewEvidence, sent: Option<&SentForm<'_>>) -> Markup {
    let (texts, payment) = (office.texts, case.payment());
    html! {
        (render_summary(texts, case))
        (card_checks::render(texts, payment))
        div.split {
            div.stack {
                (order_facts::render(texts, payment))
                (rule_table::render(office, case, &evidence.rules))
                (addresses::render(texts, payment))
                (similar_table::render(texts, case, &evidence.similar))
            }
            div.stack {
                (decision_form::render(office, case, sent))
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
