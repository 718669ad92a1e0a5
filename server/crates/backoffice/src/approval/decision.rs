//! The page of a request for a second person, and the decision about it.

use std::sync::Arc;

use axum::extract::Path;
use axum::response::Response;
use maud::{Markup, html};
use tillgate_domain::access::approval::act::{ApprovalAct, ApprovalKind};
use tillgate_domain::access::approval::{ApprovalRequest, ApprovalState};
use tillgate_domain::access::role::Reach;
use tillgate_domain::payment::Payment;
use tillgate_domain::risk::list::check_reason;
use tillgate_gateway::Failure;
use tillgate_gateway::administration::{ActError, Administration};

use super::act_facts::{act_facts, describe_act, section_of};
use super::{UserNames, load_request, name_of, state_badge, time, use_form};
use crate::BASE;
use crate::access::{Fields, Problem};
use crate::components::facts::facts;
use crate::components::field::Field;
use crate::layout::texts::Texts;
use crate::office::Office;
use crate::risk::apply_now;

/// Field with the reason of a refusal.
const REASON: &str = "reason";

/// Handles `POST /approvals/{id}/approve`: runs a refund or a change of risk rules, once. An act on a secret waits for
/// the user who asked.
pub(super) async fn approve(office: Office, Path(id): Path<String>, _fields: Fields) -> Response {
    // A browser that goes away must not leave a refund that is approved and never runs.
    let problem = Problem::Unavailable.render(office.texts, Some(&office.signed_in.user));
    tokio::spawn(async move { approve_once(&office, &id).await }).await.unwrap_or(problem)
}

async fn approve_once(office: &Office, id: &str) -> Response {
    let (request, names) = match load_request(office, id).await {
        Ok(found) => found,
        Err(refused) => return *refused,
    };
    let (app, user, id) = (Arc::clone(office.app()), office.signed_in.user.id.clone(), request.id.clone());
    let claim = move |acts: &Administration| acts.approve_request(&app.gateway, &id, &user);
    let claimed = match administer(office, &request, claim).await {
        Ok(claimed) => claimed,
        Err(error) => return show_refused(office, &request, &names, &error).await,
    };
    match &claimed.act {
        ApprovalAct::Refund(_) => run_refund(office, &claimed).await,
        ApprovalAct::Rules(_) => {
            apply_now(office).await;
            office.lead_to(&format!("/approvals/{}", claimed.id), "approval_rules")
        }
        ApprovalAct::Key(_) => office.lead_to(&format!("/approvals/{}", claimed.id), "approval_key"),
    }
}

/// Runs a refund that was approved, and records its outcome.
async fn run_refund(office: &Office, claimed: &ApprovalRequest) -> Response {
    let outcome = office.app().gateway.run_approved_refund(&office.actor(), claimed).await;
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
    let (app, user, target) = (Arc::clone(office.app()), office.signed_in.user.id.clone(), request.id.clone());
    let act = move |acts: &Administration| acts.decline_request(&app.gateway, &target, (&user, &reason));
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

/// Runs an act on a request with the permission of its kind.
async fn administer(
    office: &Office,
    request: &ApprovalRequest,
    act: impl FnOnce(&Administration) -> Result<ApprovalRequest, ActError> + Send + 'static,
) -> Result<ApprovalRequest, ActError> {
    let reach = Reach::Entity(request.entity.clone());
    office.administer(request.act.kind().permission(), reach, act).await
}

/// Runs a decision that makes no refund, and leads to the request.
async fn decide(
    office: &Office,
    (request, names): (&ApprovalRequest, &UserNames),
    done: &str,
    act: impl FnOnce(&Administration) -> Result<ApprovalRequest, ActError> + Send + 'static,
) -> Response {
    match administer(office, request, act).await {
        Ok(_) => office.lead_to(&format!("/approvals/{}", request.id), done),
        Err(error) => show_refused(office, request, names, &error).await,
    }
}

/// Shows why a decision is refused, with the request as it is by now.
pub(super) async fn show_refused(
    office: &Office,
    request: &ApprovalRequest,
    names: &UserNames,
    error: &ActError,
) -> Response {
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
    let title = describe_act(texts, &request.act);
    let section = section_of(request.act.kind());
    let main = html! {
        div.title {
            p.crumb { a href={ (BASE) "/approvals" } { (texts.get("approvals.title")) } }
            h1.wrap { (title) }
            (state_badge(texts, request))
        }
        section.card.narrow aria-label=(title) {
            div.body { (render_facts(office, request, names)) }
            (render_forms(office, request, names, typed))
        }
    };
    match fault {
        Some(fault) => office.show_fault(section, &title, fault, &main),
        None => office.show_page(section, &title, main),
    }
}

/// Renders exactly what would be done, and what has happened.
fn render_facts(office: &Office, request: &ApprovalRequest, names: &UserNames) -> Markup {
    let texts = office.texts;
    let entity = office.app().gateway.directory.find_entity(&request.entity);
    let (state, is_key) = (request.state_at(jiff::Timestamp::now()), request.act.runs_for_asker());
    let is_waiting = state == ApprovalState::Open || (is_key && state == ApprovalState::Approved);
    let is_refund = request.act.kind() == ApprovalKind::Refund;
    let is_declined = request.stored_state == ApprovalState::Declined;
    let mut rows = act_facts(office, request);
    rows.extend([
        (texts.get("approvals.entity"), entity.map(|entity| html! { span.wrap { (entity.name) } })),
        (texts.get("approvals.asker"), Some(html! { span.wrap { (name_of(names, &request.asker)) } })),
        (texts.get("approvals.asked"), Some(time(office, request, request.created))),
        (texts.get("approvals.expires"), is_waiting.then(|| time(office, request, request.expires()))),
        (
            texts.get("approvals.decider"),
            request.decider.as_ref().map(|user| html! { span.wrap { (name_of(names, user)) } }),
        ),
        (texts.get("approvals.decided"), request.decided.map(|decided| time(office, request, decided))),
        (
            texts.get(if is_declined { "approvals.reason" } else { "approvals.outcome" }),
            match (request.outcome.as_str(), request.stored_state) {
                ("", ApprovalState::Approved) if is_refund => Some(html! { (texts.get("approvals.unknown_outcome")) }),
                ("", _) => None,
                (outcome, _) => Some(html! { span.wrap { (outcome) } }),
            },
        ),
    ]);
    facts(&rows)
}

/// Renders the forms of the decisions that the user may make, or the form of the act after the approval.
fn render_forms(office: &Office, request: &ApprovalRequest, names: &UserNames, typed: &str) -> Markup {
    let texts = office.texts;
    let path = format!("{BASE}/approvals/{}", request.id);
    let is_own = office.signed_in.user.id == request.asker;
    match request.state_at(jiff::Timestamp::now()) {
        ApprovalState::Open if is_own => html! {
            form method="post" action={ (path) "/withdraw" } {
                p.soft { (texts.get("approvals.own_text")) }
                button type="submit" { (texts.get("approvals.withdraw")) }
            }
        },
        ApprovalState::Open => render_decision(texts, request, &path, typed),
        ApprovalState::Approved if request.act.runs_for_asker() && is_own => use_form::render(office, request),
        ApprovalState::Approved if request.act.runs_for_asker() => html! {
            div.body { p.soft { (texts.fill("approvals.waits_for", &[("name", name_of(names, &request.asker))])) } }
        },
        _ => html! {},
    }
}

/// Renders the forms that approve or decline.
fn render_decision(texts: &Texts, request: &ApprovalRequest, path: &str, typed: &str) -> Markup {
    let field = Field {
        name: REASON,
        label: texts.get("approvals.reason"),
        value: typed,
        max_length: Some(500),
        is_required: true,
        ..Field::default()
    };
    let (text, button) = match request.act {
        ApprovalAct::Refund(_) => ("approvals.approve_text", "approvals.approve"),
        ApprovalAct::Rules(_) => ("approvals.approve_rules_text", "approvals.approve_rules"),
        ApprovalAct::Key(_) => ("approvals.approve_key_text", "approvals.approve_key"),
    };
    html! {
        form method="post" action={ (path) "/approve" } {
            p { (texts.get(text)) }
            button.primary type="submit" { (texts.get(button)) }
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
