//! Output of `tillgate dispute`, as JSON and as text.

use jiff::Timestamp;
use serde::Serialize;
use tillgate_domain::dispute::evidence::Evidence;
use tillgate_domain::dispute::{CREDIT_ALREADY_ISSUED, Dispute};

use crate::cli::table::to_printable;

/// A dispute.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::cli) struct DisputeOutput {
    dispute_id: String,
    entity_id: String,
    payment_id: String,
    payment_brand: String,
    merchant_transaction_id: Option<String>,
    amount: String,
    currency: &'static str,
    reason: &'static str,
    scheme_reason_code: Option<String>,
    stage: &'static str,
    awaits_merchant: bool,
    opened_at: Timestamp,
    deadline: Option<Timestamp>,
    ended_at: Option<Timestamp>,
    chargeback_id: Option<String>,
    reversal_id: Option<String>,
    /// The part of the chargeback that was refunded as well.
    double_payout_amount: Option<String>,
    proposed_defence: Option<&'static str>,
    steps: Vec<StepOutput>,
    /// The evidence files, if a single dispute is shown.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(in crate::cli) evidence: Vec<EvidenceOutput>,
}

#[derive(Serialize)]
struct StepOutput {
    at: Timestamp,
    action: &'static str,
    stage: &'static str,
    actor: Option<String>,
    note: Option<String>,
}

/// An evidence file.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::cli) struct EvidenceOutput {
    pub(in crate::cli) id: String,
    pub(in crate::cli) name: String,
    media_type: &'static str,
    size: u64,
    uploaded_at: Timestamp,
    actor: String,
}

/// A page of disputes.
#[derive(Serialize)]
pub(in crate::cli) struct DisputeListOutput {
    pub(in crate::cli) disputes: Vec<DisputeOutput>,
    /// The value of `--after` for the next page.
    pub(in crate::cli) next: Option<String>,
}

/// Describes a dispute without its evidence.
pub(in crate::cli) fn describe_dispute(dispute: &Dispute) -> DisputeOutput {
    let steps = dispute.steps.iter().map(|step| StepOutput {
        at: step.at,
        action: step.action.as_str(),
        stage: step.stage.as_str(),
        actor: step.actor.clone(),
        note: step.note.clone(),
    });
    let double_payout = dispute.double_payout_amount();
    DisputeOutput {
        dispute_id: dispute.id.to_string(),
        entity_id: dispute.entity.to_string(),
        payment_id: dispute.payment.to_string(),
        payment_brand: dispute.brand.clone(),
        merchant_transaction_id: dispute.merchant_transaction_id.clone(),
        amount: dispute.amount.to_string(),
        currency: dispute.amount.currency().code(),
        reason: dispute.reason.code(),
        scheme_reason_code: dispute.scheme_reason.clone(),
        stage: dispute.position.stage.as_str(),
        awaits_merchant: dispute.position.awaits_merchant,
        opened_at: dispute.opened,
        deadline: dispute.deadline,
        ended_at: dispute.ended,
        chargeback_id: dispute.chargeback.as_ref().map(ToString::to_string),
        reversal_id: dispute.reversal.as_ref().map(ToString::to_string),
        double_payout_amount: double_payout.map(|amount| amount.to_string()),
        proposed_defence: double_payout.map(|_| CREDIT_ALREADY_ISSUED),
        steps: steps.collect(),
        evidence: Vec::new(),
    }
}

/// Describes an evidence file.
pub(in crate::cli) fn describe_evidence(evidence: &Evidence) -> EvidenceOutput {
    EvidenceOutput {
        id: evidence.id.to_string(),
        name: evidence.name.clone(),
        media_type: evidence.media_type.as_str(),
        size: evidence.bytes,
        uploaded_at: evidence.at,
        actor: evidence.actor.clone(),
    }
}

/// Formats a dispute as a line.
fn format_line(dispute: &DisputeOutput) -> String {
    let DisputeOutput { dispute_id, amount, currency, payment_brand, stage, reason, .. } = dispute;
    let deadline = dispute.deadline.map(|deadline| format!("respond until {deadline:.0}")).unwrap_or_default();
    to_printable(
        format!("{dispute_id}  {amount:>10} {currency}  {payment_brand}  {reason}  {stage}  {deadline}").trim_end(),
    )
}

/// Formats a page of disputes, and the option for the next page.
pub(in crate::cli) fn format_list(list: &DisputeListOutput) -> String {
    if list.disputes.is_empty() {
        return "no disputes".to_owned();
    }
    let more = list.next.iter().map(|next| format!("more with --after {next}"));
    list.disputes.iter().map(format_line).chain(more).collect::<Vec<_>>().join("\n")
}

/// Formats a dispute with its steps and its evidence.
pub(in crate::cli) fn format_dispute(dispute: &DisputeOutput) -> String {
    let mut lines = vec![format_line(dispute)];
    let ids = [
        ("entity", Some(&dispute.entity_id)),
        ("payment", Some(&dispute.payment_id)),
        ("chargeback", dispute.chargeback_id.as_ref()),
        ("reversal", dispute.reversal_id.as_ref()),
    ];
    lines.extend(ids.iter().filter_map(|(name, id)| Some(format!("{name:<12}{}", id.as_ref()?))));
    if let Some(amount) = &dispute.double_payout_amount {
        lines.push(format!("double payout: {amount} {} was refunded as well", dispute.currency));
        lines.push("proposed defence: a credit has been issued already".to_owned());
    }
    for step in &dispute.steps {
        let actor = step.actor.as_deref().unwrap_or("the gateway");
        let note = step.note.as_deref().unwrap_or_default();
        lines.push(to_printable(
            format!("  {:.0}  {}  {}  {actor}  {note}", step.at, step.action, step.stage).trim_end(),
        ));
    }
    for file in &dispute.evidence {
        let EvidenceOutput { id, name, media_type, size, .. } = file;
        lines.push(to_printable(&format!("  {id}  {media_type}  {size} bytes  {name}")));
    }
    lines.join("\n")
}
