//! Acts of analysts: claim, release, note, and the decisions. After a decision the next payment of the queue opens.

use axum::extract::Path;
use axum::response::Response;
use tillgate_domain::access::role::{Permission, Reach};
use tillgate_domain::id::PaymentId;
use tillgate_domain::payment::Payment;
use tillgate_domain::review::decision::DecisionType;
use tillgate_domain::review::queue::{QueueChange, ReviewActionKind, parse_cancel_reason, parse_note};
use tillgate_gateway::Failure;
use tillgate_gateway::administration::{ActError, Administration};
use tillgate_gateway::payment::listing::ListedState;
use tillgate_gateway::review::operator::SentDecision;

use super::analyst_of;
use super::case::ReviewCase;
use super::decision_form::{CANCEL_NOTE, NOTE, REASON, SentForm};
use super::detail::show_case;
use crate::access::Fields;
use crate::office::Office;
use crate::payment::collect_ids;
use crate::risk::list_choice::add_chosen;

/// Handles `POST /reviews/{id}/claim`: reserves a payment for the analyst, or renews the claim.
pub(super) async fn claim(office: Office, Path(id): Path<String>, fields: Fields) -> Response {
    change_review(&office, &id, (QueueChange::Claim, None), &fields).await
}

/// Handles `POST /reviews/{id}/release`: ends the claim.
pub(super) async fn release(office: Office, Path(id): Path<String>, fields: Fields) -> Response {
    change_review(&office, &id, (QueueChange::Release, None), &fields).await
}

/// Handles `POST /reviews/{id}/note`: adds a note, also after the decision.
pub(super) async fn add_note(office: Office, Path(id): Path<String>, fields: Fields) -> Response {
    let refused = match read_note(&fields, NOTE) {
        Ok(Some(note)) => return change_review(&office, &id, (QueueChange::Note, Some(note)), &fields).await,
        Ok(None) => office.texts.get("decision.no_note").to_owned(),
        Err(message) => message,
    };
    show_fault(&office, &id, &fields, &refused).await
}

/// Handles `POST /reviews/{id}/approve`: executes or captures a payment.
pub(super) async fn approve(office: Office, Path(id): Path<String>, fields: Fields) -> Response {
    decide(&office, &id, DecisionType::Approve, &fields).await
}

/// Handles `POST /reviews/{id}/cancel`: declines or reverses a payment.
pub(super) async fn cancel(office: Office, Path(id): Path<String>, fields: Fields) -> Response {
    decide(&office, &id, DecisionType::Cancel, &fields).await
}

/// Handles `POST /reviews/{id}/pend`: keeps a payment held, and reports it to the merchant.
pub(super) async fn pend(office: Office, Path(id): Path<String>, fields: Fields) -> Response {
    decide(&office, &id, DecisionType::Pending, &fields).await
}

/// Reads a note. Browsers send the line breaks of a text area as CR and LF.
///
/// # Errors
/// The message about the note.
fn read_note(fields: &Fields, name: &str) -> Result<Option<String>, String> {
    parse_note(&fields.get(name).replace("\r\n", "\n")).map_err(|message| format!("a note {message}"))
}

/// Changes a claim or adds a note, and shows the payment again.
async fn change_review(
    office: &Office,
    id: &str,
    (change, note): (QueueChange, Option<String>),
    fields: &Fields,
) -> Response {
    let case = match ReviewCase::load_to_decide(office, id).await {
        Ok(case) => case,
        Err(response) => return *response,
    };
    let (payment, analyst) = (case.payment().id.clone(), case.analyst);
    let act = move |administration: &Administration| {
        if change == QueueChange::Note && is_latest_note(administration, &payment, (&analyst, note.as_deref()))? {
            return Ok(());
        }
        administration.change_review(&payment, change, (analyst, note)).map(drop)
    };
    let done = match change {
        QueueChange::Claim => "review_claimed",
        QueueChange::Release => "review_released",
        QueueChange::Note => "review_noted",
    };
    match office.administer(Permission::DecideReviews, Reach::Entity(case.owner.id.clone()), act).await {
        Ok(()) => office.lead_to(&format!("/reviews/{id}"), done),
        Err(error) => show_refused_act(office, id, fields, &error).await,
    }
}

/// Returns true if the latest act is this note of this analyst, so that a form that is sent twice adds one note.
fn is_latest_note(
    administration: &Administration,
    payment: &PaymentId,
    (analyst, note): (&str, Option<&str>),
) -> Result<bool, ActError> {
    let ((_, _, actions), _) = administration.load_review(payment)?;
    let latest = actions.last().filter(|action| action.kind == ReviewActionKind::Note && action.analyst == analyst);
    Ok(latest.is_some_and(|action| action.note.as_deref() == note))
}

/// Decides about a payment, and opens the next one of the queue.
async fn decide(office: &Office, id: &str, decision: DecisionType, fields: &Fields) -> Response {
    if let Err(response) = ReviewCase::load_to_decide(office, id).await {
        return *response;
    }
    let input = match read_decision(office, id, decision, fields) {
        Ok(input) => input,
        Err(message) => return show_fault(office, id, fields, &message).await,
    };
    let (worker, sent) = (office.clone(), fields.clone());
    // A browser that leaves ends the request, but must not end a payment between two steps, nor keep its values from a
    // list.
    let deciding = tokio::spawn(async move {
        let payment = worker.app().gateway.decide_for_user(&input).await?;
        let done = describe_decision(decision, &payment);
        let done = match decision {
            DecisionType::Cancel => add_chosen(&worker, &payment, &sent, done).await,
            DecisionType::Approve | DecisionType::Pending => done.to_owned(),
        };
        Ok((payment, done))
    });
    match deciding.await.unwrap_or(Err(ActError::Failed(Failure::Interrupted))) {
        Ok((payment, done)) => lead_to_next(office, &payment, &done).await,
        Err(error) => show_refused_act(office, id, fields, &error).await,
    }
}

/// Reads the form of a decision.
///
/// # Errors
/// The message about a field.
fn read_decision(office: &Office, id: &str, decision: DecisionType, fields: &Fields) -> Result<SentDecision, String> {
    let is_cancel = decision == DecisionType::Cancel;
    let reason = is_cancel.then(|| parse_cancel_reason(fields.get(REASON).trim())).transpose();
    let reason = reason.map_err(|message| format!("a reason {message}"))?;
    let note = read_note(fields, if is_cancel { CANCEL_NOTE } else { NOTE })?;
    let analyst = analyst_of(&office.signed_in.user);
    Ok(SentDecision { payment: id.to_owned(), decision, analyst, reason, note, actor: office.actor() })
}

/// Returns the key of the notice about a decision.
fn describe_decision(decision: DecisionType, payment: &Payment) -> &'static str {
    match (decision, ListedState::of(payment.payment_type, payment.result)) {
        (DecisionType::Pending, _) => "review_pended",
        (DecisionType::Cancel, _) => "review_cancelled",
        (DecisionType::Approve, ListedState::Declined) => "review_approved_declined",
        (DecisionType::Approve, ListedState::Pending | ListedState::Held) => "review_approved_pending",
        (DecisionType::Approve, ListedState::Approved) => "review_approved",
    }
}

/// Leads to the next payment about which the analyst may decide, or to the queue if there is none.
async fn lead_to_next(office: &Office, payment: &Payment, done: &str) -> Response {
    let entities = collect_ids(&office.entities_with(Permission::DecideReviews));
    let (analyst, current) = (analyst_of(&office.signed_in.user), payment.id.clone());
    let next = office.read(move |app, _| app.gateway.find_next_review(&entities, &analyst, &current)).await;
    match next {
        Ok(Some(next)) => office.lead_to(&format!("/reviews/{next}?previous={}", payment.id), done),
        Ok(None) => office.lead_to("/reviews", done),
        Err(error) => {
            // The decision stands, so its notice matters more than the next payment.
            tracing::warn!(%error, "finding the next review failed");
            office.lead_to("/reviews", done)
        }
    }
}

/// Shows the payment again with a fault of its form.
async fn show_fault(office: &Office, id: &str, fields: &Fields, message: &str) -> Response {
    // The payment is loaded again: somebody else may have decided meanwhile.
    match ReviewCase::load_to_decide(office, id).await {
        Ok(case) => show_case(office, &case, &SentForm { fields, message }).await,
        Err(response) => *response,
    }
}

/// Shows the reason why an act changed nothing.
async fn show_refused_act(office: &Office, id: &str, fields: &Fields, error: &ActError) -> Response {
    let show = async |message: &str| {
        let message = office.texts.fill("decision.unchanged", &[("reason", message)]);
        show_fault(office, id, fields, &message).await
    };
    office.show_refusal(error, show).await
}
