//! Schemas of responses about disputes.

use serde_json::{Value, json};

use super::response_schemas::{response_schema, result_reference, text_schema};

/// Returns the schemas of responses about disputes.
pub(super) fn dispute_schemas() -> Vec<(&'static str, Value)> {
    let step = json!({ "type": "object", "required": ["at", "action", "stage"], "properties": {
        "at": text_schema(), "action": text_schema(), "stage": text_schema(), "actor": text_schema(), "note": text_schema(),
    } });
    let dispute = json!({
        "result": result_reference(), "id": text_schema(), "entityId": text_schema(), "paymentId": text_schema(),
        "merchantTransactionId": text_schema(), "paymentBrand": text_schema(), "amount": text_schema(),
        "currency": text_schema(), "reason": result_reference(), "schemeReasonCode": text_schema(), "stage": text_schema(),
        "turn": text_schema(), "openedAt": text_schema(), "deadline": text_schema(), "endedAt": text_schema(),
        "chargebackId": text_schema(), "reversalId": text_schema(), "doublePayoutAmount": text_schema(),
        "proposedDefence": text_schema(), "evidenceFiles": { "type": "integer", "minimum": 0 },
        "steps": { "type": "array", "items": step },
    });
    let evidence = json!({
        "result": result_reference(), "id": text_schema(), "disputeId": text_schema(), "name": text_schema(),
        "mediaType": text_schema(), "size": { "type": "integer", "minimum": 1 }, "uploadedAt": text_schema(),
        "stage": text_schema(), "actor": text_schema(),
    });
    let mut details = dispute.clone();
    details["evidence"] = json!({ "type": "array", "items": {
        "type": "object", "required": ["id", "name", "mediaType", "size"], "properties": evidence,
    } });
    let listed = json!({ "type": "object", "required": ["id", "stage", "turn"], "properties": dispute });
    let list = json!({
        "result": result_reference(), "disputes": { "type": "array", "items": listed }, "cursor": text_schema(),
    });
    vec![
        ("DisputeAnswer", response_schema(&["result", "id", "stage", "turn", "steps"], dispute)),
        ("DisputeDetailsAnswer", response_schema(&["result", "id", "stage", "turn", "steps", "evidence"], details)),
        ("DisputesAnswer", response_schema(&["result", "disputes"], list)),
        ("EvidenceAnswer", response_schema(&["result", "id", "name", "mediaType", "size"], evidence)),
    ]
}
