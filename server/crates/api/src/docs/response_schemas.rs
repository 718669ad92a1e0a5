//! Schemas of the responses, for the OpenAPI document.

use serde_json::{Value, json};

/// Returns every schema of responses and of their parts, with its name.
pub(super) fn all_schemas() -> Vec<(&'static str, Value)> {
    [payment_schemas(), checkout_schemas(), report_schemas(), risk_check_schemas(), review_schemas(), service_schemas()]
        .concat()
}

/// Returns the schema of any text.
pub(super) fn text_schema() -> Value {
    json!({ "type": "string" })
}

/// Returns a reference to the schema of a result.
pub(super) fn result_reference() -> Value {
    json!({ "$ref": "#/components/schemas/Result" })
}

/// Returns the schema of a redirect: the page that the shopper visits.
fn redirect_schema() -> Value {
    let pair = json!({ "type": "object", "properties": { "name": text_schema(), "value": text_schema() } });
    let parameters = json!({ "type": "array", "items": pair });
    json!({
        "type": "object",
        "required": ["url"],
        "properties": {
            "url": { "type": ["string", "null"] },
            "method": text_schema(),
            "parameters": parameters,
            "preconditions": { "type": "array", "items": {
                "type": "object",
                "required": ["origin", "waitUntil", "url", "method"],
                "properties": {
                    "origin": text_schema(),
                    "waitUntil": text_schema(),
                    "url": text_schema(),
                    "method": text_schema(),
                    "parameters": parameters,
                    "description": text_schema(),
                },
            } },
        },
    })
}

/// Returns the schemas of a payment's fields, by name.
fn payment_properties() -> Value {
    json!({
        "id": { "type": "string", "pattern": "^[0-9A-Za-z.-]{32,48}$" },
        "result": result_reference(),
        "paymentType": text_schema(),
        "paymentBrand": text_schema(),
        "amount": { "type": "string", "pattern": r"^[0-9]{1,10}\.[0-9]{2}$" },
        "currency": { "type": "string", "pattern": "^[A-Z]{3}$" },
        "descriptor": { "type": "string", "maxLength": 127 },
        "registrationId": text_schema(),
        "redirect": redirect_schema(),
        "risk": { "type": "object", "properties": {
            "score": { "type": "string", "pattern": "^-?[0-9]{1,5}$" }, "resultCode": text_schema(),
        } },
    })
}

/// Returns the schemas of payments and lists of them.
fn payment_schemas() -> Vec<(&'static str, Value)> {
    let mut entry = payment_properties();
    entry["referencedId"] = text_schema();
    vec![
        ("PaymentAnswer", response_schema(&["result"], payment_properties())),
        (
            "PaymentsAnswer",
            response_schema(
                &["result", "payments"],
                json!({
                    "result": result_reference(),
                    "payments": { "type": "array", "items": { "type": "object", "properties": entry } },
                    "cursor": { "type": "string", "pattern": "^[0-9a-f]{32}$" },
                    "pages": { "type": "integer", "minimum": 0 },
                }),
            ),
        ),
        (
            "QueryAnswer",
            json!({ "anyOf": [
                { "$ref": "#/components/schemas/PaymentsAnswer" },
                { "$ref": "#/components/schemas/PaymentAnswer" },
            ] }),
        ),
    ]
}

/// Returns the schemas of responses about checkouts and registrations.
fn checkout_schemas() -> Vec<(&'static str, Value)> {
    vec![
        (
            "CheckoutAnswer",
            response_schema(
                &["result", "id"],
                json!({
                    "result": result_reference(),
                    "id": { "type": "string", "pattern": "^[0-9A-Za-z.-]{32,48}$" },
                    "integrity": { "type": "string", "pattern": "^sha384-" },
                }),
            ),
        ),
        (
            "SubmittedAnswer",
            response_schema(
                &["result", "id", "flow"],
                json!({
                    "result": result_reference(),
                    "id": text_schema(),
                    "resourcePath": text_schema(),
                    "flow": { "type": "string", "enum": ["now", "redirect", "popup", "inline", "saved"] },
                    "threeDSecure": { "type": "object", "properties": { "version": text_schema() } },
                    "redirect": redirect_schema(),
                    "ignored": { "type": "array", "items": { "type": "string" } },
                }),
            ),
        ),
        (
            "CheckoutStateAnswer",
            response_schema(
                &["id", "checkoutState"],
                json!({
                    "id": text_schema(),
                    "checkoutState": {
                        "type": "string", "enum": ["OPEN", "PENDING", "PAID", "REGISTERED", "EXPIRED"],
                    },
                }),
            ),
        ),
        (
            "RegistrationAnswer",
            response_schema(&["result"], json!({ "result": result_reference(), "id": text_schema() })),
        ),
    ]
}

/// Returns the schemas of stand-alone risk checks.
fn risk_check_schemas() -> Vec<(&'static str, Value)> {
    vec![("RiskCheckAnswer", response_schema(&["result"], payment_properties()))]
}

/// Returns the schemas of reports.
fn report_schemas() -> Vec<(&'static str, Value)> {
    vec![("TransactionLine", json!({ "type": "object", "properties": payment_properties() }))]
}

/// Returns the schemas of responses about held payments.
fn review_schemas() -> Vec<(&'static str, Value)> {
    let action = json!({ "type": "object", "required": ["action", "analyst", "at"], "properties": {
        "action": { "type": "string", "enum": ["claim", "release", "note", "pend", "approve", "cancel", "expire"] },
        "analyst": text_schema(), "at": text_schema(), "reason": text_schema(), "note": text_schema(),
        "processDate": text_schema(),
    } });
    let claim = json!({ "type": "object", "required": ["analyst", "since", "until"], "properties": {
        "analyst": text_schema(), "since": text_schema(), "until": text_schema(),
    } });
    let review = json!({ "type": "object", "required": ["state", "since", "deadline"], "properties": {
        "state": { "type": "string", "enum": ["open", "approved", "cancelled", "expired"] },
        "since": text_schema(), "deadline": { "type": ["string", "null"] }, "claim": claim, "decision": action,
    } });
    let names = json!({ "type": "array", "items": text_schema() });
    let mut entry = payment_properties();
    entry["referencedId"] = text_schema();
    let payment = json!({ "type": "object", "required": ["id", "result"], "properties": entry });
    let changed = json!({ "result": result_reference(), "review": review, "payment": payment });
    let mut full = changed.clone();
    full["riskDecision"] = json!({ "type": ["object", "null"], "properties": {
        "outcome": text_schema(), "score": text_schema(), "version": { "type": ["string", "null"] },
        "fired": names, "inputs": names,
    } });
    full["actions"] = json!({ "type": "array", "items": action });
    let listed = json!({ "type": "object", "required": ["id", "review"], "properties": {
        "id": text_schema(), "entityId": text_schema(), "paymentType": text_schema(), "paymentBrand": text_schema(),
        "amount": text_schema(), "currency": text_schema(), "merchantTransactionId": text_schema(),
        "score": text_schema(), "fired": names, "review": review,
    } });
    let page = json!({
        "result": result_reference(),
        "reviews": { "type": "array", "items": listed },
        "cursor": { "type": "string", "pattern": "^[0-9a-f]{32}$" },
    });
    vec![
        ("ReviewsAnswer", response_schema(&["result", "reviews"], page)),
        ("ReviewAnswer", response_schema(&["result", "review", "riskDecision", "payment", "actions"], full)),
        ("ChangedReviewAnswer", response_schema(&["result", "review", "payment"], changed)),
    ]
}

/// Returns the schemas of responses about the service itself.
#[expect(clippy::too_many_lines, reason = "a table")]
fn service_schemas() -> Vec<(&'static str, Value)> {
    vec![
        (
            "ScriptsAnswer",
            response_schema(
                &["result", "build", "scripts", "documents", "manifest"],
                json!({
                    "result": result_reference(), "build": text_schema(), "fieldsUrl": { "type": ["string", "null"] },
                    "scripts": { "type": "array", "items": {
                        "type": "object", "required": ["path", "reason", "sha256", "integrity", "bytes"],
                    } },
                    "documents": { "type": "array", "items": { "type": "object", "required": ["path", "headers"] } },
                    "manifest": text_schema(), "signature": { "type": ["string", "null"] },
                }),
            ),
        ),
        ("NotedAnswer", response_schema(&["result"], json!({ "result": result_reference() }))),
        (
            "PolicyReportsAnswer",
            response_schema(
                &["result", "policyReports", "dropped"],
                json!({
                    "result": result_reference(),
                    "dropped": { "type": "integer", "minimum": 0 },
                    "policyReports": { "type": "array", "maxItems": 201, "items": {
                        "type": "object",
                        "required": ["directive", "blocked", "document", "source", "disposition", "count", "first", "last"],
                        "properties": {
                            "directive": text_schema(), "blocked": { "type": "string" }, "document": { "type": "string" },
                            "source": { "type": "string" }, "disposition": { "type": "string", "enum": ["enforce", "report"] },
                            "count": { "type": "integer", "minimum": 1 }, "first": text_schema(), "last": text_schema(),
                        },
                    } },
                }),
            ),
        ),
        (
            "Health",
            response_schema(
                &["status"],
                json!({
                    "status": text_schema(),
                    "reason": text_schema(),
                    "description": text_schema(),
                    "warnings": { "type": "array", "items": {
                        "type": "object",
                        "required": ["option", "description"],
                        "properties": { "option": text_schema(), "description": text_schema() },
                    } },
                }),
            ),
        ),
        (
            "ResultCodes",
            json!({
                "type": "object",
                "required": ["resultCodes"],
                "properties": { "resultCodes": { "type": "array", "items": {
                    "type": "object",
                    "required": ["code", "group", "description"],
                    "properties": { "code": text_schema(), "group": text_schema(), "description": text_schema() },
                } } },
            }),
        ),
        ("OpenApi", json!({ "type": "object", "required": ["openapi", "info", "paths"] })),
    ]
}

/// Returns the schema of a response with these properties and the envelope that all responses have. `required` is
/// without the envelope, which is always required.
pub(super) fn response_schema(required: &[&str], properties: Value) -> Value {
    let mut all = json!({
        "buildNumber": { "type": "string", "maxLength": 255 },
        "timestamp": { "type": "string", "pattern": r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\+0000$" },
        "ndc": { "type": "string", "pattern": "^[A-Za-z0-9._-]{1,69}$" },
    });
    if let (Some(all), Value::Object(more)) = (all.as_object_mut(), properties) {
        all.extend(more);
    }
    let required: Vec<&str> = ["buildNumber", "timestamp", "ndc"].iter().chain(required).copied().collect();
    json!({ "type": "object", "required": required, "properties": all })
}
