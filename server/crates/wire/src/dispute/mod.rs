//! Disputes and their evidence files.

mod evidence;
mod message;

use schemars::JsonSchema;
use serde::Serialize;
use tillgate_domain::dispute::evidence::Evidence;
use tillgate_domain::dispute::{CREDIT_ALREADY_ISSUED, Dispute, DisputeStep};
use tillgate_domain::id::DisputeId;

use crate::{AmountText, ResultFields, WireTime};

pub use evidence::{EvidenceFields, StoredEvidenceFields};
pub use message::DisputeMessage;

/// A dispute.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Dispute")]
pub struct DisputeFields<'a> {
    /// Id of the dispute.
    id: &'a str,
    /// Result of the request.
    result: ResultFields<'a>,
    /// Entity that owns the payment.
    entity_id: &'a str,
    /// The disputed payment.
    payment_id: &'a str,
    /// Brand of the payment.
    payment_brand: &'a str,
    /// The disputed amount.
    amount: AmountText,
    /// Currency of the amount.
    currency: &'static str,
    /// Reason of the chargeback.
    reason: ResultFields<'a>,
    /// Stage of the dispute.
    stage: &'static str,
    /// The side that has to act: `MERCHANT`, `INSTITUTE`, or `NONE` after the end.
    turn: &'static str,
    /// Time of the first step.
    opened_at: WireTime,
    /// The merchant's reference of the payment.
    #[serde(skip_serializing_if = "Option::is_none")]
    merchant_transaction_id: Option<&'a str>,
    /// Reason code of the card scheme.
    #[serde(skip_serializing_if = "Option::is_none")]
    scheme_reason_code: Option<&'a str>,
    /// The chargeback.
    #[serde(skip_serializing_if = "Option::is_none")]
    chargeback_id: Option<&'a str>,
    /// Reversal of the chargeback.
    #[serde(skip_serializing_if = "Option::is_none")]
    reversal_id: Option<&'a str>,
    /// Time until which the merchant has to answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    deadline: Option<WireTime>,
    /// Time of the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    ended_at: Option<WireTime>,
    /// Part of the chargeback that was refunded as well.
    #[serde(skip_serializing_if = "Option::is_none")]
    double_payout_amount: Option<AmountText>,
    /// The merchant's defence against a double payout.
    #[serde(skip_serializing_if = "Option::is_none")]
    proposed_defence: Option<&'static str>,
    /// Number of stored evidence files.
    evidence_files: u32,
    /// Steps, oldest first.
    steps: Vec<DisputeStepFields<'a>>,
}

/// A step of a dispute.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "DisputeStep")]
struct DisputeStepFields<'a> {
    /// Time of the step.
    at: WireTime,
    /// The action.
    action: &'static str,
    /// Stage after the action.
    stage: &'static str,
    /// The token or user that acted. Absent for the gateway itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    actor: Option<&'a str>,
    /// A note.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<&'a str>,
}

/// A dispute with its evidence files.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "DisputeDetails")]
pub struct DisputeDetailFields<'a> {
    #[serde(flatten)]
    dispute: DisputeFields<'a>,
    /// Evidence files, without their contents.
    evidence: Vec<EvidenceFields<'a>>,
}

/// A page of disputes.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Disputes")]
pub struct DisputeListFields<'a> {
    /// Result of the request.
    result: ResultFields<'a>,
    /// The disputes.
    disputes: Vec<DisputeFields<'a>>,
    /// Position of the next page. Absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    cursor: Option<&'a str>,
}

impl<'a> From<&'a Dispute> for DisputeFields<'a> {
    fn from(dispute: &'a Dispute) -> Self {
        let double_payout = dispute.double_payout_amount();
        Self {
            id: dispute.id.as_str(),
            result: ResultFields::success(),
            entity_id: dispute.entity.as_str(),
            payment_id: dispute.payment.as_str(),
            payment_brand: &dispute.brand,
            amount: AmountText(dispute.amount),
            currency: dispute.amount.currency().code(),
            reason: dispute.reason.into(),
            stage: dispute.position.stage.as_str(),
            turn: match (dispute.position.stage.has_ended(), dispute.position.awaits_merchant) {
                (true, _) => "NONE",
                (false, true) => "MERCHANT",
                (false, false) => "INSTITUTE",
            },
            opened_at: WireTime(dispute.opened),
            merchant_transaction_id: dispute.merchant_transaction_id.as_deref(),
            scheme_reason_code: dispute.scheme_reason.as_deref(),
            chargeback_id: dispute.chargeback.as_ref().map(|id| id.as_str()),
            reversal_id: dispute.reversal.as_ref().map(|id| id.as_str()),
            deadline: dispute.deadline.map(WireTime),
            ended_at: dispute.ended.map(WireTime),
            double_payout_amount: double_payout.map(AmountText),
            proposed_defence: double_payout.map(|_| CREDIT_ALREADY_ISSUED),
            evidence_files: dispute.evidence_files,
            steps: dispute.steps.iter().map(DisputeStepFields::from).collect(),
        }
    }
}

impl<'a> From<&'a DisputeStep> for DisputeStepFields<'a> {
    fn from(step: &'a DisputeStep) -> Self {
        Self {
            at: WireTime(step.at),
            action: step.action.as_str(),
            stage: step.stage.as_str(),
            actor: step.actor.as_deref(),
            note: step.note.as_deref(),
        }
    }
}

impl<'a> DisputeDetailFields<'a> {
    /// Creates the response about a dispute with these evidence files.
    pub fn new(dispute: &'a Dispute, evidence: &'a [Evidence]) -> Self {
        Self { dispute: dispute.into(), evidence: evidence.iter().map(EvidenceFields::from).collect() }
    }
}

impl<'a> DisputeListFields<'a> {
    /// Creates the response with a page of disputes, and the position of the next page.
    pub fn new(disputes: &'a [Dispute], cursor: Option<&'a DisputeId>) -> Self {
        Self {
            result: ResultFields::success(),
            disputes: disputes.iter().map(DisputeFields::from).collect(),
            cursor: cursor.map(DisputeId::as_str),
        }
    }
}
