//! What a route can answer: statuses, each with when it comes, and what an answer holds.

use serde_json::{Value, json};

use super::route::{Body, Browsers, Caller, Method, Route};

/// The statuses of a route, ascending, each with when it comes. A failure of ours (500) may come anywhere and is said
/// once for all.
pub(super) fn statuses(route: &Route) -> Vec<(u16, &'static str)> {
    let takes_body = route.method == Method::Post;
    let merchant = route.caller == Caller::Merchant;
    let has_id = route.path_parameters().next().is_some();
    let mut statuses = vec![(200, done(route))];
    if merchant || takes_body {
        statuses.push((
            400,
            match route.body {
                Body::Payment | Body::PaymentOrList | Body::CheckoutStatus => {
                    "A parameter is wrong and parameterErrors names it, or the payment was declined"
                }
                _ => "A parameter is wrong or missing, and parameterErrors names it (the first hundred, if there are more); or the state does not allow it",
            },
        ));
    }
    if merchant {
        statuses.push((401, "The Authorization header is missing or malformed"));
        statuses.push((
            403,
            "The access token is wrong, does not speak for this entityId, or lacks the scope (800.900.301); or a browser made the request; or the entity is live and the request came over plain HTTP",
        ));
    }
    if route.browsers == Browsers::OwnPages {
        statuses.push((403, "A page of another origin made the request"));
    }
    if has_id || matches!(route.body, Body::Payments) || (route.caller == Caller::Shopper) {
        statuses.push((404, "There is no such resource, or it is another entity's"));
    }
    if takes_body {
        statuses.push((408, "The body did not arrive within 15 seconds"));
    }
    if route.idempotent() {
        statuses.push((409, "A request with the same Idempotency-Key is still under way"));
    }
    if takes_body && matches!(route.body, Body::Html) {
        statuses.push((409, "The payment has ended already, in another way"));
    }
    if takes_body {
        statuses.push((413, "The body is larger than 1 MiB, or than the route says"));
    }
    if route.counted {
        statuses.push((429, "Too many attempts, or too many wrong credentials; Retry-After says when to try again"));
    } else if merchant {
        statuses.push((429, "Too many wrong credentials from one address; Retry-After says when to try again"));
    }
    if matches!(route.body, Body::Payments | Body::PaymentOrList) {
        statuses.push((429, "Too many queries of this merchant that read many payments; try again after Retry-After"));
    }
    if merchant || takes_body || matches!(route.body, Body::Health) || route.caller == Caller::Shopper {
        statuses.push((503, "The service is busy or its store does not answer; try again after Retry-After"));
    }
    statuses
}

fn done(route: &Route) -> &'static str {
    match route.body {
        Body::Payment => "The payment; approved, or pending with a redirect",
        Body::Payments => "The payments that were found",
        Body::PaymentOrList => "The payment, or the payments that belong together",
        Body::Checkout => "The checkout's id",
        Body::CheckoutStatus => "The payment, or that there is none yet",
        Body::CheckoutState => "Where the checkout stands",
        Body::Submitted => "An attempt is stored; where the shopper goes next",
        Body::Registration => "The registration",
        Body::ResultCodes => "Every code with its group and its description",
        Body::Health => "All is well",
        Body::Clock => "What the clock shows now",
        Body::Scripts => "The inventory",
        Body::PolicyReports => "The violations",
        Body::Noted => "The report was taken",
        Body::OpenApi => "The OpenAPI document",
        Body::Html => "The page",
        Body::Script => "The script",
        Body::File => "The file",
    }
}

/// The media type of a route's answer.
pub(super) fn media_type(body: Body) -> &'static str {
    match body {
        Body::Html => "text/html",
        Body::Script => "text/javascript",
        Body::File => "*/*",
        _ => "application/json",
    }
}

/// The schema of an answer; `None` for what is no JSON.
pub(super) fn schema(body: Body) -> Option<&'static str> {
    Some(match body {
        Body::Payment => "PaymentAnswer",
        Body::Payments => "PaymentsAnswer",
        Body::PaymentOrList => "QueryAnswer",
        Body::Checkout => "CheckoutAnswer",
        Body::CheckoutStatus => "PaymentAnswer",
        Body::CheckoutState => "CheckoutStateAnswer",
        Body::Submitted => "SubmittedAnswer",
        Body::Registration => "RegistrationAnswer",
        Body::ResultCodes => "ResultCodes",
        Body::Health => "Health",
        Body::Clock => "ClockAnswer",
        Body::Scripts => "ScriptsAnswer",
        Body::PolicyReports => "PolicyReportsAnswer",
        Body::Noted => "NotedAnswer",
        Body::OpenApi => "OpenApi",
        Body::Html | Body::Script | Body::File => return None,
    })
}

/// Fields of an answer, for the reference page: name and what it holds.
pub(super) const FIELDS: &[(&str, &str)] = &[
    ("id", "The resource's id: a checkout's is 32 to 48 characters, a payment's or registration's 32."),
    ("result.code", "What came of it: 2 to 11 digits and dots. Branch on its group."),
    ("result.description", "The code in words, up to 255 characters."),
    (
        "result.parameterErrors[n]",
        "name, value and message of every parameter that is wrong. The value is null where it is missing or secret.",
    ),
    ("result.avsResponse", "Address check: A address, Z postal code, F both match, N neither, U not applicable."),
    (
        "result.cvvResponse",
        "Code check: M match, N no match, P not processed, S should be on the card, U not supported.",
    ),
    ("resultDetails", "What the acquirer says, AcquirerResponse among it."),
    ("paymentType, paymentBrand", "What was asked for."),
    ("amount, currency, descriptor", "What was moved or reserved; a decline has none."),
    (
        "referencedId",
        "The payment that a capture, reversal or refund refers to; in the entries of a list and in webhooks.",
    ),
    ("registrationId", "The registration that was used or made."),
    (
        "card.bin, card.last4Digits, card.holder, card.expiryMonth, card.expiryYear",
        "The card, as far as it may be shown.",
    ),
    ("bankAccount.*, virtualAccount.*", "The account, as far as it may be shown; IBANs are masked."),
    ("redirect.url, redirect.method, redirect.parameters[n]", "Where the shopper goes while the payment is pending."),
    (
        "redirect.preconditions[n]",
        "A page that the browser loads in a hidden frame before it goes there: url, method, parameters, description.",
    ),
    (
        "threeDSecure.*",
        "What the authentication of the cardholder came to: eci, verificationId, dsTransactionId or xid, version, \
         enrollmentStatus, authenticationStatus, transactionStatusReason.",
    ),
    (
        "flow",
        "To the browser: now, redirect, popup or inline; whether and in which window the shopper visits a page. saved: \
         nobody has been charged yet.",
    ),
    ("checkoutState", "Where a checkout stands: OPEN, PENDING, PAID, REGISTERED or EXPIRED."),
    ("everything else you sent", "Comes back under its own name, nested at the dots; secrets never do."),
    (
        "buildNumber, timestamp, ndc",
        "For support: the build, when, and this request's identifier: a checkout's id, or entityId_ and 32 hexadecimal digits.",
    ),
];

/// Every schema of an answer.
pub(super) fn schemas() -> Vec<(&'static str, Value)> {
    let text = || json!({ "type": "string" });
    let result = json!({
        "type": "object",
        "required": ["code", "description"],
        "properties": {
            "code": { "type": "string", "pattern": "^[0-9.]{2,11}$" },
            "description": { "type": "string", "maxLength": 255 },
            "avsResponse": { "type": "string", "enum": ["A", "Z", "N", "U", "F"] },
            "cvvResponse": { "type": "string", "enum": ["M", "N", "P", "S", "U"] },
            "parameterErrors": { "type": "array", "items": {
                "type": "object",
                "required": ["name", "value", "message"],
                "properties": { "name": text(), "value": { "type": ["string", "null"] }, "message": text() },
            } },
        },
    });
    let outcome = || json!({ "$ref": "#/components/schemas/Result" });
    let pair = json!({ "type": "object", "properties": { "name": text(), "value": text() } });
    let parameters = json!({ "type": "array", "items": pair });
    let redirect = json!({
        "type": "object",
        "required": ["url"],
        "properties": {
            "url": { "type": ["string", "null"] },
            "method": text(),
            "parameters": parameters,
            "preconditions": { "type": "array", "items": {
                "type": "object",
                "required": ["origin", "waitUntil", "url", "method"],
                "properties": {
                    "origin": text(),
                    "waitUntil": text(),
                    "url": text(),
                    "method": text(),
                    "parameters": parameters,
                    "description": text(),
                },
            } },
        },
    });
    let payment = json!({
        "id": { "type": "string", "pattern": "^[0-9A-Za-z.-]{32,48}$" },
        "result": outcome(),
        "paymentType": text(),
        "paymentBrand": text(),
        "amount": { "type": "string", "pattern": r"^[0-9]{1,10}\.[0-9]{2}$" },
        "currency": { "type": "string", "pattern": "^[A-Z]{3}$" },
        "descriptor": { "type": "string", "maxLength": 127 },
        "registrationId": text(),
        "redirect": redirect,
    });
    let mut entry = payment.clone();
    entry["referencedId"] = text();
    vec![
        ("Result", result),
        ("Refusal", answer(&["result"], json!({ "result": outcome() }))),
        ("PaymentAnswer", answer(&["result"], payment.clone())),
        (
            "PaymentsAnswer",
            answer(
                &["result", "payments"],
                json!({
                    "result": outcome(),
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
        (
            "CheckoutAnswer",
            answer(
                &["result", "id"],
                json!({
                    "result": outcome(),
                    "id": { "type": "string", "pattern": "^[0-9A-Za-z.-]{32,48}$" },
                    "integrity": { "type": "string", "pattern": "^sha384-" },
                }),
            ),
        ),
        (
            "SubmittedAnswer",
            answer(
                &["result", "id", "flow"],
                json!({
                    "result": outcome(),
                    "id": text(),
                    "resourcePath": text(),
                    "flow": { "type": "string", "enum": ["now", "redirect", "popup", "inline", "saved"] },
                    "threeDSecure": { "type": "object", "properties": { "version": text() } },
                    "redirect": redirect,
                }),
            ),
        ),
        (
            "CheckoutStateAnswer",
            answer(
                &["id", "checkoutState"],
                json!({
                    "id": text(),
                    "checkoutState": {
                        "type": "string", "enum": ["OPEN", "PENDING", "PAID", "REGISTERED", "EXPIRED"],
                    },
                }),
            ),
        ),
        ("RegistrationAnswer", answer(&["result"], json!({ "result": outcome(), "id": text() }))),
        (
            "ClockAnswer",
            answer(
                &["result", "now", "ahead"],
                json!({ "result": outcome(), "now": text(), "ahead": { "type": "string" } }),
            ),
        ),
        (
            "ScriptsAnswer",
            answer(
                &["result", "build", "scripts", "documents", "manifest"],
                json!({
                    "result": outcome(), "build": text(), "fieldsUrl": { "type": ["string", "null"] },
                    "scripts": { "type": "array", "items": {
                        "type": "object", "required": ["path", "reason", "sha256", "integrity", "bytes"],
                    } },
                    "documents": { "type": "array", "items": { "type": "object", "required": ["path", "headers"] } },
                    "manifest": text(), "signature": { "type": ["string", "null"] },
                }),
            ),
        ),
        ("NotedAnswer", answer(&["result"], json!({ "result": outcome() }))),
        (
            "PolicyReportsAnswer",
            answer(
                &["result", "policyReports", "dropped"],
                json!({
                    "result": outcome(),
                    "dropped": { "type": "integer", "minimum": 0 },
                    "policyReports": { "type": "array", "maxItems": 201, "items": {
                        "type": "object",
                        "required": ["directive", "blocked", "document", "source", "disposition", "count", "first", "last"],
                        "properties": {
                            "directive": text(), "blocked": { "type": "string" }, "document": { "type": "string" },
                            "source": { "type": "string" }, "disposition": { "type": "string", "enum": ["enforce", "report"] },
                            "count": { "type": "integer", "minimum": 1 }, "first": text(), "last": text(),
                        },
                    } },
                }),
            ),
        ),
        ("Health", answer(&["status"], json!({ "status": text(), "reason": text(), "description": text() }))),
        (
            "ResultCodes",
            json!({
                "type": "object",
                "required": ["resultCodes"],
                "properties": { "resultCodes": { "type": "array", "items": {
                    "type": "object",
                    "required": ["code", "group", "description"],
                    "properties": { "code": text(), "group": text(), "description": text() },
                } } },
            }),
        ),
        ("OpenApi", json!({ "type": "object", "required": ["openapi", "info", "paths"] })),
    ]
}

/// An answer with the envelope that all have.
fn answer(required: &[&str], properties: Value) -> Value {
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
