//! Output of `tillgate review`. Times are by the clock of the payment's entity.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::Serialize;
use tillgate_domain::payment::Payment;
use tillgate_domain::review::queue::{QueuedReview, ReviewAction, ReviewClock};
use tillgate_store::review::queue::ReviewRecord;

use crate::cli::table::to_printable;

/// A review in the output.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::cli) struct ReviewOutput {
    payment_id: String,
    entity_id: String,
    state: &'static str,
    since: Timestamp,
    claim: Option<ClaimOutput>,
    decision: Option<ActionOutput>,
    payment_type: &'static str,
    payment_brand: String,
    amount: String,
    currency: &'static str,
    result: &'static str,
    merchant_transaction_id: Option<String>,
    score: Option<i32>,
    fired: Vec<String>,
}

#[derive(Serialize)]
struct ClaimOutput {
    analyst: String,
    since: Timestamp,
    until: Timestamp,
}

#[derive(Serialize)]
struct ActionOutput {
    action: &'static str,
    analyst: String,
    at: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
    /// The process date of a review system's decision.
    #[serde(skip_serializing_if = "Option::is_none", rename = "processDate")]
    process_date: Option<Timestamp>,
}

/// A list of reviews.
#[derive(Serialize)]
pub(in crate::cli) struct ReviewListOutput {
    pub(in crate::cli) reviews: Vec<ReviewOutput>,
    /// The payment after which the next list begins. `None` if there are no more.
    pub(in crate::cli) next: Option<String>,
}

/// A review with everything about it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::cli) struct ReviewRecordOutput {
    #[serde(flatten)]
    review: ReviewOutput,
    card: Option<String>,
    holder: Option<String>,
    parameters: BTreeMap<String, String>,
    version: Option<String>,
    inputs: Vec<String>,
    actions: Vec<ActionOutput>,
}

fn describe_action(action: &ReviewAction) -> ActionOutput {
    let process_date = action.sent_process_date();
    let ReviewAction { kind, analyst, at, reason, note, .. } = action.clone();
    ActionOutput { action: kind.as_str(), analyst, at, reason, note, process_date }
}

/// Describes a review with its payment.
pub(in crate::cli) fn describe_review(review: &QueuedReview, payment: &Payment, clock: ReviewClock) -> ReviewOutput {
    let decision = payment.risk.as_ref().and_then(|risk| risk.decision.as_ref());
    ReviewOutput {
        payment_id: payment.id.to_string(),
        entity_id: review.entity.to_string(),
        state: review.state().as_str(),
        since: clock.to_entity_time(review.since),
        claim: review.active_claim(clock.now).map(|claim| ClaimOutput {
            analyst: claim.analyst.clone(),
            since: clock.to_entity_time(claim.since),
            until: clock.to_entity_time(claim.end()),
        }),
        decision: review.decision.as_ref().map(describe_action),
        payment_type: payment.payment_type.code(),
        payment_brand: payment.brand.clone(),
        amount: payment.amount.to_string(),
        currency: payment.amount.currency().code(),
        result: payment.result.code(),
        merchant_transaction_id: payment.merchant_transaction_id().map(str::to_owned),
        score: decision.map(|decision| decision.score),
        fired: decision.map(|decision| decision.fired.clone()).unwrap_or_default(),
    }
}

/// Describes a review with its payment and its actions.
pub(in crate::cli) fn describe_record(
    (review, payment, actions): ReviewRecord,
    clock: ReviewClock,
) -> ReviewRecordOutput {
    let decision = payment.risk.as_ref().and_then(|risk| risk.decision.as_ref());
    let card = payment.account.as_card();
    ReviewRecordOutput {
        review: describe_review(&review, &payment, clock),
        card: card.map(|card| format!("{}…{}", card.bin, card.last4)),
        holder: card.and_then(|card| card.holder.clone()),
        parameters: payment.parameters.iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect(),
        version: decision.and_then(|decision| decision.version.clone()),
        inputs: decision.map(|decision| decision.inputs.clone()).unwrap_or_default(),
        actions: actions.iter().map(describe_action).collect(),
    }
}

/// Formats a review as a line.
pub(in crate::cli) fn format_review(review: &ReviewOutput) -> String {
    let ReviewOutput { payment_id, since, amount, currency, payment_brand, score, .. } = review;
    let about = match (&review.decision, &review.claim) {
        (Some(decision), _) => format!("{} by {}", review.state, decision.analyst),
        (None, Some(claim)) => format!("claimed by {} until {:.0}", claim.analyst, claim.until),
        (None, None) if review.state == "open" => "unclaimed".to_owned(),
        (None, None) => review.state.to_owned(),
    };
    let score = score.unwrap_or_default();
    let rules = review.fired.join(", ");
    let line =
        format!("{payment_id}  {since:.0}  {amount:>10} {currency}  {payment_brand}  score {score}  {about}  {rules}");
    to_printable(line.trim_end())
}

/// Formats a list of reviews, and how to see more of it.
pub(in crate::cli) fn format_list(list: &ReviewListOutput) -> String {
    if list.reviews.is_empty() {
        return "no payments".to_owned();
    }
    let more = list.next.iter().map(|next| format!("\nmore with --after {next}"));
    list.reviews.iter().map(format_review).chain(more).collect::<Vec<_>>().join("\n")
}

/// Formats a review with its payment and its actions.
pub(in crate::cli) fn format_record(record: &ReviewRecordOutput) -> String {
    let mut lines = vec![format_review(&record.review)];
    let mut push = |name: &str, value: &str| lines.push(to_printable(&format!("{name:<12}{value}")));
    push("entity", &record.review.entity_id);
    push("type", record.review.payment_type);
    push("result", record.review.result);
    for (name, value) in [("card", &record.card), ("holder", &record.holder), ("rules", &record.version)] {
        push(name, value.as_deref().unwrap_or("-"));
    }
    push("inputs", &record.inputs.join(", "));
    for (name, value) in &record.parameters {
        lines.push(to_printable(&format!("  {name} = {value}")));
    }
    lines.push("actions".to_owned());
    lines.extend(record.actions.iter().map(format_action));
    lines.join("\n")
}

fn format_action(action: &ActionOutput) -> String {
    let reason = action.reason.map(|reason| format!("reason {reason}")).unwrap_or_default();
    let head = format!("  {:.0}  {}  {}  {reason}", action.at, action.analyst, action.action);
    // A note may have several lines.
    let note = action.note.iter().flat_map(|note| note.lines()).map(|line| format!("    {line}"));
    let lines: Vec<String> = std::iter::once(head).chain(note).map(|line| to_printable(line.trim_end())).collect();
    lines.join("\n")
}
