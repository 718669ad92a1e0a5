//! JSON representation of disputes and their evidence files.

use serde_json::Value;
use tillgate_domain::dispute::evidence::Evidence;
use tillgate_domain::dispute::{CREDIT_ALREADY_ISSUED, Dispute, DisputeStep};
use tillgate_shared::result::codes;

use crate::json_object::JsonObject;
use crate::response::{result_fields, wire_time};

/// Returns the fields of a dispute. The result is that of a successful request.
pub(crate) fn dispute_fields(dispute: &Dispute) -> JsonObject<'_> {
    let turn = match (dispute.position.stage.has_ended(), dispute.position.awaits_merchant) {
        (true, _) => "NONE",
        (false, true) => "MERCHANT",
        (false, false) => "INSTITUTE",
    };
    let mut fields = JsonObject::default()
        .with("id", dispute.id.as_str())
        .with("result", result_fields(codes::REQUEST_SUCCEEDED))
        .with("entityId", dispute.entity.as_str())
        .with("paymentId", dispute.payment.as_str())
        .with("paymentBrand", dispute.brand.as_str())
        .with("amount", dispute.amount.to_string())
        .with("currency", dispute.amount.currency().code())
        .with("reason", result_fields(dispute.reason))
        .with("stage", dispute.position.stage.as_str())
        .with("turn", turn)
        .with("openedAt", wire_time(dispute.opened));
    let texts = [
        ("merchantTransactionId", dispute.merchant_transaction_id.as_deref()),
        ("schemeReasonCode", dispute.scheme_reason.as_deref()),
        ("chargebackId", dispute.chargeback.as_ref().map(|id| id.as_str())),
        ("reversalId", dispute.reversal.as_ref().map(|id| id.as_str())),
    ];
    for (name, value) in texts {
        if let Some(value) = value {
            fields.set(name, value);
        }
    }
    for (name, time) in [("deadline", dispute.deadline), ("endedAt", dispute.ended)] {
        if let Some(time) = time {
            fields.set(name, wire_time(time));
        }
    }
    if let Some(amount) = dispute.double_payout_amount() {
        fields.set("doublePayoutAmount", amount.to_string());
        fields.set("proposedDefence", CREDIT_ALREADY_ISSUED);
    }
    fields.set("evidenceFiles", Value::from(dispute.evidence_files));
    fields.set("steps", dispute.steps.iter().map(step_fields).collect::<Vec<_>>());
    fields
}

fn step_fields(step: &DisputeStep) -> JsonObject<'_> {
    let mut fields = JsonObject::default()
        .with("at", wire_time(step.at))
        .with("action", step.action.as_str())
        .with("stage", step.stage.as_str());
    if let Some(actor) = &step.actor {
        fields.set("actor", actor.as_str());
    }
    if let Some(note) = &step.note {
        fields.set("note", note.as_str());
    }
    fields
}

/// Returns the fields of an evidence file, without its content.
pub(crate) fn evidence_fields(evidence: &Evidence) -> JsonObject<'_> {
    JsonObject::default()
        .with("id", evidence.id.as_str())
        .with("disputeId", evidence.dispute.as_str())
        .with("name", evidence.name.as_str())
        .with("mediaType", evidence.media_type.as_str())
        .with("size", Value::from(evidence.bytes))
        .with("uploadedAt", wire_time(evidence.at))
        .with("stage", evidence.stage.as_str())
        .with("actor", evidence.actor.as_str())
}
