//! The page of a request for a second person, and the decision about it.

use std::sync::Arc;

use axum::extract::Path;
use axum::response::Response;
use maud::{Markup, html};
use tillgate_domain::access::approval::{ApprovalRequest, ApprovalState};
use tillgate_domain::access::role::{Permission, Reach};
use tillgate_domain::payment::Payment;
use tillgate_domain::risk::list::check_reason;
use tillgate_gateway::Failure;
use tillgate_gateway::administration::{ActError, Administration};

use super::{UserNames, describe_refund, load_request, money, name_of, state_badge, time};
use crate::BASE;
use crate::access::{Fields, Problem};
use crate::components::facts::facts;
use crate::components::field::Field;
use crate::layout::page::Section;
use crate::office::Office;

/// Field with the reason of a refusal.
const REASON: &str = "reason";

/// Handles `POST /approvals/{id}/approve`: runs the refund, once.
pub(super) async fn approve(office: Office, Path(id): Path<String>, _fields: Fields) -> Response {
    // A browser that goes away must not leave a request that is approved and never runs.
    let problem = Problem::Unavailable.render(office.texts, Some(&office.signed_in.user));
    tokio::spawn(async move { carry_out(&office, &id).await }).await.unwrap_or(problem)
}

async fn carry_out(office: &Office, id: &str) -> Response {
    let (request, names) = match load_request(office, id).await {
        Ok(found) => found,
        Err(refused) => return *refused,
    };
    let (app, user, id) = (Arc::clone(office.app()), office.signed_in.user.id.clone(), request.id.clone());
    let claim = move |acts: &Administration| acts.approve_request(&app, &id, &user);
    let reach = Reach::Entity(request.entity.clone());
    let claimed = match office.administer(Permission::ChangePayments, reach, claim).await {
        Ok(claimed) => claimed,
        Err(error) => return show_refused(office, &request, &names, &error).await,
    };
    let outcome = office.app().gateway.run_approved_refund(&office.actor(), &claimed).await;
    let text = match &outcome {
        Ok(made) => format!("{} {}", made.result.code(), made.result.description()),
        Err(ActError::Refused { message, .. }) => message.clone(),
        Err(error) => {
            tracing::error!(%error, request = claimed.id.as_str(), "running an approved refund failed");
            String::new()
        }
    };
    let (app, actor, id) = (Arc::clone(office.app()), office.actor(), claimed.id.clone());
    let record = move || app.gateway.record_approved_refund(&actor, &id, &text);
    let recorded = tokio::task::spawn_blocking(record).await;
    if let Err(error) = recorded.unwrap_or(Err(ActError::Failed(Failure::Interrupted))) {
        tracing::warn!(%error, "recording the outcome of an approved refund failed");
    }
    let path = format!("/approvals/{}", claimed.id);
    match outcome {
        Ok(made) => office.lead_to(&path, done_of(&made)),
        Err(ActError::Refused { .. }) => office.lead_to(&path, "approval_refused"),
        Err(_) => office.show_problem(&Problem::Unavailable),
    }
}

/// Returns the key of the notice about a refund that ran.
fn done_of(made: &Payment) -> &'static str {
    if made.is_approved() {
        "approval_approved"
    } else if made.is_approved_or_pending() {
        "approval_pending"
    } else {
        "approval_refused"
    }
}

/// Handles `POST /approvals/{id}/decline`.
pub(super) async fn decline(office: Office, Path(id): Path<String>, fields: Fields) -> Response {
    let (request, names) = match load_request(&office, &id).await {
        Ok(found) => found,
        Err(refused) => return *refused,
    };
    let typed = fields.get(REASON);
    let reason = match check_reason(typed.trim()) {
        Ok(reason) if reason.is_empty() => Err(office.texts.get("approvals.needs_reason").to_owned()),
        Ok(reason) => Ok(reason),
        Err(fault) => Err(format!("{} {fault}", office.texts.get("approvals.reason"))),
    };
    let reason = match reason {
        Ok(reason) => reason,
        Err(fault) => return show_page(&office, &request, &names, Some(&fault), typed),
    };
    let (user, target) = (office.signed_in.user.id.clone(), request.id.clone());
    let act = move |acts: &Administration| acts.decline_request(&target, &user, &reason);
    decide(&office, (&request, &names), "approval_declined", act).await
}

/// Handles `POST /approvals/{id}/withdraw`.
pub(super) async fn withdraw(office: Office, Path(id): Path<String>, _fields: Fields) -> Response {
    let (request, names) = match load_request(&office, &id).await {
        Ok(found) => found,
        Err(refused) => return *refused,
    };
    let (user, target) = (office.signed_in.user.id.clone(), request.id.clone());
    let act = move |acts: &Administration| acts.withdraw_request(&target, &user);
    decide(&office, (&request, &names), "approval_withdrawn", act).await
}

/// Runs a decision that makes no refund, and leads to the request.
async fn decide(
    office: &Office,
    (request, names): (&ApprovalRequest, &UserNames),
    done: &str,
    act: impl FnOnce(&Administration) -> Result<ApprovalRequest, ActError> + Send + 'static,
) -> Response {
    let reach = Reach::Entity(request.entity.clone());
    match office.administer(Permission::ChangePayments, reach, act).await {
        Ok(_) => office.lead_to(&format!("/approvals/{}", request.id), done),
        Err(error) => show_refused(office, request, names, &error).await,
    }
}

/// Shows why a decision is refused, with the request as it is by now.
async fn show_refused(office: &Office, request: &ApprovalRequest, names: &UserNames, error: &ActError) -> Response {
    let show = async |message: &str| match load_request(office, request.id.as_str()).await {
        Ok((request, names)) => show_page(office, &request, &names, Some(message), ""),
        Err(_) => show_page(office, request, names, Some(message), ""),
    };
    office.show_refusal(error, show).await
}

/// Shows a request. `fault` is the message about a refused decision, `typed` the reason that was sent with it.
pub(super) fn show_page(
    office: &Office,
    request: &ApprovalRequest,
    names: &UserNames,
    fault: Option<&str>,
    typed: &str,
) -> Response {
    let texts = office.texts;
    let title = describe_refund(texts, request);
    let main = html! {
        div.title {
            p.crumb { a href={ (BASE) "/approvals" } { (texts.get("approvals.title")) } }
            h1 { (title) }
            (state_badge(texts, request))
        }
        section.card.narrow aria-label=(title) {
            div.body { (render_facts(office, request, names)) }
            (render_forms(office, request, typed))
        }
    };
    match fault {
        Some(fault) => office.show_fault(Section::Payments, &title, fault, &main),
        None => office.show_page(Section::Payments, &title, main),
    }
}

/// Renders exactly what would be done, and what has happened.
fn render_facts(office: &Office, request: &ApprovalRequest, names: &UserNames) -> Markup {
    let (texts, refund) = (office.texts, &request.refund);
    let payment = html! {
        a href={ (BASE) "/payments/" (refund.payment) } { (texts.fill("payment.title", &[("id", &refund.payment.short_id())])) }
    };
    let entity = office.app().gateway.directory.find_entity(&request.entity);
    let is_open = request.state_at(jiff::Timestamp::now()) == ApprovalState::Open;
    facts(&[
        (texts.get("approvals.payment"), Some(payment)),
        (texts.get("approvals.amount"), Some(html! { strong { (money(texts, refund.amount)) } })),
        (texts.get("approvals.sum"), Some(html! { (money(texts, refund.sum)) })),
        (texts.get("approvals.entity"), entity.map(|entity| html! { span.wrap { (entity.name) } })),
        (texts.get("approvals.asker"), Some(html! { span.wrap { (name_of(names, &request.asker)) } })),
        (texts.get("approvals.asked"), Some(time(office, request, request.created))),
        (texts.get("approvals.expires"), is_open.then(|| time(office, request, request.expires()))),
        (
            texts.get("approvals.decider"),
            request.decider.as_ref().map(|user| html! { span.wrap { (name_of(names, user)) } }),
        ),
        (texts.get("approvals.decided"), request.decided.map(|decided| time(office, request, decided))),
        (
            texts.get(if request.stored_state == ApprovalState::Declined {
                "approvals.reason"
            } else {
                "approvals.outcome"
            }),
            match (request.outcome.as_str(), request.stored_state) {
                ("", ApprovalState::Approved) => Some(html! { (texts.get("approvals.unknown_outcome")) }),
                ("", _) => None,
                (outcome, _) => Some(html! { span.wrap { (outcome) } }),
            },
        ),
    ])
}

/// Renders the forms of the decisions that the user may make.
fn render_forms(office: &Office, request: &ApprovalRequest, typed: &str) -> Markup {
    let texts = office.texts;
    let path = format!("{BASE}/approvals/{}", request.id);
    if request.state_at(jiff::Timestamp::now()) != ApprovalState::Open {
        return html! {};
    }
    if office.signed_in.user.id == request.asker {
        return html! {
            form method="post" action={ (path) "/withdraw" } {
                p.soft { (texts.get("approvals.own_text")) }
                button type="submit" { (texts.get("approvals.withdraw")) }
            }
        };
    }
    let field = Field {
        name: REASON,
        label: texts.get("approvals.reason"),
        value: typed,
        max_length: Some(500),
        is_required: true,
        ..Field::default()
    };
    html! {
        form method="post" action={ (path) "/approve" } {
            p { (texts.get("approvals.approve_text")) }
            button.primary type="submit" { (texts.get("approvals.approve")) }
        }
        details open[!typed.is_empty()] {
            summary.danger { (texts.get("approvals.decline")) }
            form method="post" action={ (path) "/decline" } {
                (field.input("text"))
                button.danger type="submit" { (texts.get("approvals.decline")) }
            }
        }
    }
}
