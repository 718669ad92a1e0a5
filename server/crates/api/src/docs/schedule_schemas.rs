//! Schemas of responses about schedules.

use serde_json::{Value, json};

use super::response_schemas::{response_schema, result_reference, text_schema};

/// Returns the schemas of responses about schedules.
pub(super) fn schedule_schemas() -> Vec<(&'static str, Value)> {
    let texts = json!({ "type": "array", "items": text_schema() });
    let schedule = json!({
        "result": result_reference(), "id": text_schema(), "paymentType": text_schema(), "referencedId": text_schema(),
        "registrationId": text_schema(), "amount": text_schema(), "currency": text_schema(), "job": { "type": "object" },
        "plan": { "type": "object", "required": ["active", "timeZone", "missedRuns", "nextRuns"], "properties": {
            "active": { "type": "boolean" }, "timeZone": text_schema(), "missedRuns": text_schema(),
            "nextRuns": texts, "retryAt": text_schema(), "endsAt": text_schema(), "ended": text_schema(),
        } },
    });
    let step = json!({ "type": "object", "required": ["id", "paymentType", "at", "active"], "properties": {
        "id": text_schema(), "paymentType": text_schema(), "at": text_schema(), "active": { "type": "boolean" },
    } });
    let run = json!({ "type": "object", "required": ["occurrence", "attempt", "at", "outcome", "result"], "properties": {
        "occurrence": text_schema(), "attempt": { "type": "integer", "minimum": 1 }, "at": text_schema(),
        "outcome": text_schema(), "result": result_reference(), "missedSince": text_schema(), "reason": text_schema(),
        "paymentId": text_schema(), "retryAt": text_schema(),
    } });
    let mut found = schedule.clone();
    found["chain"] = json!({ "type": "array", "items": step });
    found["runs"] = json!({ "type": "array", "items": run });
    let listed = json!({ "type": "object", "required": ["id", "plan"], "properties": schedule });
    found["schedules"] = json!({ "type": "array", "items": listed });
    vec![
        ("ScheduleAnswer", response_schema(&["result", "id", "registrationId", "plan"], schedule)),
        ("SchedulesAnswer", response_schema(&["result"], found)),
    ]
}
