//! The OpenAPI 3.1 document: the table of routes and the catalogue of parameters, in the words of that standard
//! (<https://spec.openapis.org/oas/v3.1.0>).

use serde_json::{Map, Value, json};
use tillgate_shared::parameter::{Parameter, catalogue};

use super::route::{Body, Caller, Method, Route, Section, Takes};
use super::{responses, schema, table};

/// The document.
pub(super) fn document() -> Value {
    let mut paths = Map::new();
    for route in table::ROUTES {
        let path = paths.entry(route.path.replace("{*", "{")).or_insert_with(|| json!({}));
        path[route.method.as_str().to_ascii_lowercase()] = operation(route);
    }
    let tags: Vec<Value> = Section::ALL.iter().map(|section| json!({ "name": section.title() })).collect();
    let count = catalogue().count();
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Tillgate",
            "version": env!("CARGO_PKG_VERSION"),
            "description": format!(
                "Payments with a hosted form and server to server. Requests are form-encoded (UTF-8), answers are JSON. \
                 {count} parameters. Answers may get new fields at any time. The same for people: /reference."
            ),
        },
        "x-parameters": count,
        "servers": [{ "url": "/" }],
        "tags": tags,
        "paths": paths,
        "components": {
            "securitySchemes": {
                "bearer": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "The access token. Older clients send authentication.userId, authentication.password and \
                                    authentication.entityId among the parameters instead.",
                },
            },
            "schemas": schemas(),
            "parameters": { "idempotencyKey": {
                "name": "Idempotency-Key",
                "in": "header",
                "description": "Makes it safe to send the request again: the same key gives the same answer for 24 hours.",
                "schema": { "type": "string", "pattern": "^[!-~]{1,255}$" },
            } },
        },
    })
}

fn schemas() -> Map<String, Value> {
    let mut schemas = Map::new();
    for group in schema::groups() {
        let mut object = schema::object(schema::rows(group), schema::parameter);
        object["title"] = group.title().into();
        schemas.insert(schema::component(group), object);
    }
    schemas.extend(responses::schemas().into_iter().map(|(name, schema)| (name.to_owned(), schema)));
    schemas
}

fn operation(route: &Route) -> Value {
    let mut operation = json!({
        "operationId": route.operation,
        "tags": [route.section.title()],
        "summary": route.summary,
        "security": if route.caller == Caller::Merchant { json!([{ "bearer": [] }]) } else { json!([]) },
    });
    if let Some(scope) = route.scope {
        operation["x-scope"] = scope.as_str().into();
    }
    if !route.note.is_empty() {
        operation["description"] = route.note.into();
    }
    let parameters = parameters(route);
    if !parameters.is_empty() {
        operation["parameters"] = Value::Array(parameters);
    }
    if route.method == Method::Post {
        operation["requestBody"] = json!({
            "required": true,
            "content": { "application/x-www-form-urlencoded": { "schema": body(route) } },
        });
    }
    let mut answers = Map::new();
    for (status, when) in responses::statuses(route) {
        answers.insert(status.to_string(), answer(route, status, when));
    }
    operation["responses"] = Value::Object(answers);
    operation
}

fn answer(route: &Route, status: u16, when: &str) -> Value {
    let name = match (status, route.body) {
        (200, body) => responses::schema(body),
        // An outcome that is no is told like one that is yes.
        (400, Body::Payment | Body::PaymentOrList | Body::CheckoutStatus) => Some("PaymentAnswer"),
        (503, Body::Health) => Some("Health"),
        // A page says what is wrong on a page.
        (_, Body::Html) => None,
        _ => Some("Refusal"),
    };
    let media_type = if name.is_some() { "application/json" } else { responses::media_type(route.body) };
    let schema = match name {
        Some(name) => reference(name),
        None => json!({ "type": "string" }),
    };
    json!({ "description": when, "content": { media_type: { "schema": schema } } })
}

fn reference(name: &str) -> Value {
    json!({ "$ref": format!("#/components/schemas/{name}") })
}

/// What stands in the path, in the query and in headers.
fn parameters(route: &Route) -> Vec<Value> {
    let mut parameters: Vec<Value> = route
        .path_parameters()
        .map(|name| json!({ "name": name, "in": "path", "required": true, "schema": { "type": "string", "minLength": 1 } }))
        .collect();
    parameters.extend(route.own.iter().map(|own| {
        json!({
            "name": own.name,
            "in": "query",
            "required": own.required,
            "description": own.note,
            "schema": { "type": "string", "pattern": own.pattern },
        })
    }));
    if route.method != Method::Post {
        parameters.extend(route.parameters().map(|row| {
            json!({
                "name": row.name,
                "in": "query",
                "required": required(route, row),
                "description": row.note,
                "schema": value(row),
            })
        }));
    }
    if route.idempotent() {
        parameters.push(json!({ "$ref": "#/components/parameters/idempotencyKey" }));
    }
    parameters
}

fn required(route: &Route, row: &Parameter) -> bool {
    row.name == "entityId" || route.requires.contains(&row.name)
}

/// A parameter where its group's schema has it.
fn value(row: &Parameter) -> Value {
    let (kind, name) = match schema::name_pattern(row.name) {
        Some(pattern) => ("patternProperties", pattern),
        None => ("properties", row.name.to_owned()),
    };
    // A pointer within an address (RFC 6901, section 6).
    let escaped: String = name
        .replace('~', "~0")
        .replace('/', "~1")
        .bytes()
        .map(|byte| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'.' | b'-' | b'_' | b'~' => char::from(byte).to_string(),
            byte => format!("%{byte:02X}"),
        })
        .collect();
    json!({ "$ref": format!("#/components/schemas/{}/{kind}/{escaped}", schema::component(row.group)) })
}

/// The fields of a body: whole groups where every row of them is taken, single parameters otherwise.
fn body(route: &Route) -> Value {
    let mut whole = Vec::new();
    let mut single = Vec::new();
    for group in schema::groups() {
        let all = schema::rows(group).all(|row| route.takes_parameter(row));
        if all && !matches!(route.takes, Takes::Browser) {
            whole.push(reference(&schema::component(group)));
        } else {
            single.extend(schema::rows(group).filter(|row| route.takes_parameter(row)));
        }
    }
    let mut object = schema::object(single.into_iter(), value);
    let required: Vec<&str> = route.parameters().filter(|row| required(route, row)).map(|row| row.name).collect();
    if !required.is_empty() {
        object["required"] = json!(required);
    }
    if !whole.is_empty() {
        object["allOf"] = Value::Array(whole);
    }
    object
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn every_reference_leads_somewhere() {
        let document = document();
        let mut open = vec![&document];
        let mut seen = 0;
        while let Some(value) = open.pop() {
            if let Some(target) = value.get("$ref").and_then(Value::as_str) {
                let pointer = target.strip_prefix('#').unwrap();
                let bytes = pointer.replace("%5B", "[").replace("%5D", "]");
                let decoded = percent(&bytes);
                assert!(document.pointer(&decoded).is_some(), "{target}");
                seen += 1;
            }
            match value {
                Value::Object(fields) => open.extend(fields.values()),
                Value::Array(items) => open.extend(items),
                _ => {}
            }
        }
        assert!(seen > 100, "{seen}");
    }

    /// Undoes percent encoding.
    fn percent(text: &str) -> String {
        let mut bytes = Vec::new();
        let mut rest = text.as_bytes();
        while let Some((byte, after)) = rest.split_first() {
            if *byte == b'%' {
                bytes.push(u8::from_str_radix(std::str::from_utf8(&after[..2]).unwrap(), 16).unwrap());
                rest = &after[2..];
            } else {
                bytes.push(*byte);
                rest = after;
            }
        }
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn operations_and_their_rows_are_right_in_themselves() {
        let mut names = std::collections::BTreeSet::new();
        for route in table::ROUTES {
            assert!(names.insert(route.operation), "{} twice", route.operation);
            assert_eq!(route.unknown_names(), Vec::<&str>::new(), "{}", route.operation);
            assert!(!route.summary.ends_with('.') && !route.summary.is_empty(), "{}", route.operation);
        }
    }
}
