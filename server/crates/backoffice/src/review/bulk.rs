//! Decisions about several payments: the page that confirms them, five seconds to undo them, and their outcomes.
//!
//! Nothing is promised during the five seconds: the page itself sends the decisions when they have passed. A page that
//! is closed before decides nothing, and says so.

use std::sync::Arc;

use axum::extract::RawQuery;
use axum::response::Response;
use maud::{Markup, html};
use tillgate_domain::access::role::Permission;
use tillgate_domain::payment::Payment;
use tillgate_domain::review::decision::DecisionType;
use tillgate_domain::review::queue::{MAX_NOTE, MAX_REASON_DIGITS, parse_cancel_reason, parse_note};
use tillgate_gateway::Failure;
use tillgate_gateway::administration::ActError;
use tillgate_gateway::payment::listing::ListedState;
use tillgate_gateway::review::analyst_queue::QueueItem;
use tillgate_gateway::review::operator::SentDecision;

use super::list::render_urgency;
use super::{analyst_of, scope_of};
use crate::BASE;
use crate::access::Fields;
use crate::components::badge::{Tone, badge};
use crate::components::field::Field;
use crate::components::notice::notice;
use crate::components::table::{Column, Shown, Table, empty};
use crate::layout::page::Section;
use crate::layout::texts::Texts;
use crate::office::Office;
use crate::payment::labels::{account_end, amount_text, describe_state, state_tone};

/// Path of the page that confirms decisions.
pub(super) const PATH: &str = "/reviews/decisions";
/// Name of the field of a payment. It is sent several times.
pub(super) const PAYMENT: &str = "payment";
/// Largest number of payments that are decided together: those of a page of the queue.
const MAX_PAYMENTS: usize = 25;
/// Seconds in which decisions can be undone.
const UNDO_SECONDS: u8 = 5;

const REASON: &str = "reason";
const NOTE: &str = "note";
const DECISION: &str = "decision";

/// Decisions that were chosen, before they are sent.
struct ChosenDecisions {
    items: Vec<QueueItem>,
    decision: DecisionType,
    reason: Option<u32>,
    note: Option<String>,
}

/// Handles `GET /reviews/decisions`: lists the chosen payments, and asks for the decision.
pub(super) async fn show_choice(office: Office, RawQuery(query): RawQuery) -> Response {
    let query = query.unwrap_or_default();
    let pairs = form_urlencoded::parse(query.as_bytes());
    let ids: Vec<String> = pairs.filter(|(name, _)| name == PAYMENT).map(|(_, id)| id.into_owned()).collect();
    match load_items(&office, &ids).await {
        Ok(items) => show_form(&office, &items, &Fields::default(), None),
        Err(refused) => *refused,
    }
}

/// Handles `POST /reviews/decisions`: shows the decisions for five seconds, and decides nothing yet.
pub(super) async fn hold_decisions(office: Office, fields: Fields) -> Response {
    match read_choice(&office, &fields).await {
        Ok(chosen) => show_held(&office, &chosen, &fields),
        Err(refused) => *refused,
    }
}

/// Handles `POST /reviews/decisions/outcome`: decides about each payment, one after the other.
pub(super) async fn carry_out(office: Office, fields: Fields) -> Response {
    let chosen = match read_choice(&office, &fields).await {
        Ok(chosen) => chosen,
        Err(refused) => return *refused,
    };
    let app = Arc::clone(office.app());
    let inputs: Vec<SentDecision> = chosen
        .items
        .iter()
        .map(|item| SentDecision {
            payment: item.payment.id.to_string(),
            decision: chosen.decision,
            analyst: analyst_of(&office.signed_in.user),
            reason: chosen.reason,
            note: chosen.note.clone(),
            actor: office.actor(),
        })
        .collect();
    // A browser that leaves ends the request, but must not end a payment between two steps.
    let deciding = tokio::spawn(async move {
        let mut outcomes = Vec::new();
        for input in &inputs {
            outcomes.push(app.gateway.decide_for_user(input).await);
        }
        outcomes
    });
    match deciding.await {
        Ok(outcomes) => show_outcomes(&office, &chosen, &outcomes),
        Err(_) => office.show_failure(&Failure::Interrupted),
    }
}

/// Loads the chosen payments. One that the user does not see makes the whole choice unknown.
async fn load_items(office: &Office, ids: &[String]) -> Result<Vec<QueueItem>, Box<Response>> {
    let mut wanted = Vec::new();
    for id in ids {
        let id = tillgate_domain::id::PaymentId::parse(id).ok_or_else(|| Box::new(office.show_unknown()))?;
        if !wanted.contains(&id) {
            wanted.push(id);
        }
    }
    if wanted.len() > MAX_PAYMENTS {
        return Err(Box::new(office.show_unknown()));
    }
    let scope = scope_of(office);
    let read = office.read(move |app, _| {
        let items = wanted.iter().map(|id| Ok(app.gateway.load_queue_item(&scope, id)?.map(|(item, _)| item)));
        items.collect::<Result<Option<Vec<_>>, Failure>>()
    });
    let items = read.await.map_err(|failure| Box::new(office.show_failure(&failure)))?;
    let items = items.ok_or_else(|| Box::new(office.show_unknown()))?;
    if items.iter().all(|item| office.allows_on(Permission::DecideReviews, &item.review.entity)) {
        return Ok(items);
    }
    Err(Box::new(office.show_missing_permission(Permission::DecideReviews).await))
}

/// Reads the form of the decisions.
///
/// # Errors
/// The page of the form with its fault, or the page about payments that the user does not see.
async fn read_choice(office: &Office, fields: &Fields) -> Result<ChosenDecisions, Box<Response>> {
    let ids: Vec<String> = fields.all(PAYMENT).map(str::to_owned).collect();
    let items = load_items(office, &ids).await?;
    let fault = |message: &str| Err(Box::new(show_form(office, &items, fields, Some(message))));
    if items.is_empty() {
        return fault(office.texts.get("bulk.none"));
    }
    let decision = match fields.get(DECISION) {
        "approve" => DecisionType::Approve,
        "cancel" => DecisionType::Cancel,
        _ => return fault(office.texts.get("bulk.no_decision")),
    };
    let reason = (decision == DecisionType::Cancel).then(|| parse_cancel_reason(fields.get(REASON).trim())).transpose();
    let reason = match reason {
        Ok(reason) => reason,
        Err(message) => return fault(&format!("a reason {message}")),
    };
    let note = match parse_note(&fields.get(NOTE).replace("\r\n", "\n")) {
        Ok(note) => note,
        Err(message) => return fault(&format!("a note {message}")),
    };
    Ok(ChosenDecisions { items, decision, reason, note })
}

/// Shows the form of the decisions.
fn show_form(office: &Office, items: &[QueueItem], sent: &Fields, fault: Option<&str>) -> Response {
    let texts = office.texts;
    let count = texts.number(u64::try_from(items.len()).unwrap_or(u64::MAX));
    let title = texts.get("bulk.title");
    let reason = Field {
        name: REASON,
        label: texts.get("decision.reason"),
        value: sent.get(REASON),
        hint: Some(texts.get("decision.reason_hint")),
        input_mode: Some("numeric"),
        max_length: u16::try_from(MAX_REASON_DIGITS).ok(),
        ..Field::default()
    };
    let note = Field {
        name: NOTE,
        label: texts.get("decision.note"),
        value: sent.get(NOTE),
        max_length: u16::try_from(MAX_NOTE).ok(),
        ..Field::default()
    };
    let main = html! {
        (render_title(texts, title))
        @if items.is_empty() {
            div.card { (empty(texts.get("bulk.none"), texts.get("bulk.none_advice"))) }
        } @else {
            div.card { (render_items(texts, items, &[])) }
            form.change method="post" action={ (BASE) (PATH) } {
                (render_ids(items))
                (note.text_area(2))
                (reason.input("text"))
                div.acts {
                    button.primary type="submit" name=(DECISION) value="approve" {
                        (texts.fill("bulk.approve", &[("count", &count)]))
                    }
                    button.danger type="submit" name=(DECISION) value="cancel" {
                        (texts.fill("bulk.cancel", &[("count", &count)]))
                    }
                }
            }
        }
    };
    match fault {
        Some(fault) => office.show_fault(Section::Reviews, title, fault, &main),
        None => office.show_page(Section::Reviews, title, main),
    }
}

/// Shows the decisions for five seconds. The script sends the form then; without it, the user does.
fn show_held(office: &Office, chosen: &ChosenDecisions, fields: &Fields) -> Response {
    let texts = office.texts;
    let count = texts.number(u64::try_from(chosen.items.len()).unwrap_or(u64::MAX));
    let (title, decision) = match chosen.decision {
        DecisionType::Approve => ("bulk.approve", "approve"),
        DecisionType::Cancel | DecisionType::Pending => ("bulk.cancel", "cancel"),
    };
    let title = texts.fill(title, &[("count", &count)]);
    let main = html! {
        (render_title(texts, &title))
        (notice(Tone::Warn, &html! { (texts.get("bulk.held")) }))
        form.change method="post" action={ (BASE) (PATH) "/outcome" } data-after=(UNDO_SECONDS) {
            (render_ids(&chosen.items))
            input type="hidden" name=(DECISION) value=(decision);
            input type="hidden" name=(REASON) value=(fields.get(REASON));
            input type="hidden" name=(NOTE) value=(fields.get(NOTE));
            div.acts {
                a.button href={ (BASE) "/reviews" } { (texts.get("bulk.undo")) }
                button.primary type="submit" { (texts.get("bulk.now")) }
            }
        }
        div.card { (render_items(texts, &chosen.items, &[])) }
    };
    office.show_page(Section::Reviews, &title, main)
}

/// Shows the outcome of each decision.
fn show_outcomes(office: &Office, chosen: &ChosenDecisions, outcomes: &[Result<Arc<Payment>, ActError>]) -> Response {
    let texts = office.texts;
    let title = texts.get("bulk.outcome_title");
    let cells: Vec<Markup> = outcomes.iter().map(|outcome| render_outcome(texts, chosen.decision, outcome)).collect();
    let main = html! {
        (render_title(texts, title))
        div.card { (render_items(texts, &chosen.items, &cells)) }
    };
    office.show_page(Section::Reviews, title, main)
}

/// Renders the outcome of a decision: the state of the payment, or the reason why nothing was changed.
fn render_outcome(texts: &Texts, decision: DecisionType, outcome: &Result<Arc<Payment>, ActError>) -> Markup {
    match outcome {
        Ok(_) if decision == DecisionType::Cancel => badge(Tone::Calm, texts.get("reviews.state_cancelled")),
        Ok(payment) => {
            let state = ListedState::of(payment.payment_type, payment.result);
            let (_, text) = describe_state(texts, state, None);
            badge(state_tone(state), text)
        }
        Err(ActError::Refused { message, .. }) => {
            html! { (badge(Tone::Bad, texts.get("bulk.unchanged"))) " " (message) }
        }
        Err(error) => {
            tracing::error!(%error, "deciding about a held payment failed");
            html! { (badge(Tone::Bad, texts.get("bulk.failed"))) }
        }
    }
}

fn render_title(texts: &Texts, title: &str) -> Markup {
    html! {
        div.title {
            p.crumb { a href={ (BASE) "/reviews" } { (texts.get("reviews.title")) } }
            h1 { (title) }
        }
    }
}

fn render_ids(items: &[QueueItem]) -> Markup {
    html! { @for item in items { input type="hidden" name=(PAYMENT) value=(item.payment.id); } }
}

/// Renders the payments. `outcomes` are shown in a further column.
fn render_items(texts: &Texts, items: &[QueueItem], outcomes: &[Markup]) -> Markup {
    let mut columns = vec![Column::number(texts.get("payments.amount")), Column::new(texts.get("reviews.left"))];
    if !outcomes.is_empty() {
        columns.push(Column::new(texts.get("bulk.outcome")));
    }
    columns.extend([
        Column::new(texts.get("payments.method")).from(Shown::Medium),
        Column::new(texts.get("payments.reference")).from(Shown::Medium),
    ]);
    let rows = items.iter().enumerate().map(|(index, item)| {
        let payment = &item.payment;
        let mut cells = vec![
            html! { a.nowrap href={ (BASE) "/reviews/" (payment.id) } { (amount_text(texts, payment)) } },
            render_urgency(texts, item),
        ];
        cells.extend(outcomes.get(index).cloned());
        cells.extend([
            html! { span.nowrap { (payment.brand) @if let Some(end) = account_end(payment) { " •• " (end) } } },
            html! { span.cut { (payment.merchant_transaction_id().unwrap_or_default()) } },
        ]);
        cells
    });
    let rows = rows.collect();
    Table { caption: texts.get("bulk.payments"), hides_caption: true, is_linked: false, columns, rows }.render()
}
