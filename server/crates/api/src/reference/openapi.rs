//! The OpenAPI 3.1 document (<https://spec.openapis.org/oas/v3.1.0>), generated from the table of routes and the
//! catalogue of parameters.

use serde_json::{Map, Value, json};
use tillgate_domain::dispute::evidence::{ANY_FILE, EvidenceType};
use tillgate_shared::parameter::{Parameter, all_parameters};

use super::response_content::ResponseContent;
use super::route::{AcceptedParameters, Caller, HttpMethod, Route, RouteSection};
use super::{responses, schema, table};

/// Names of the older pair of credentials. They are security schemes, and so no parameters of operations.
const OLDER_CREDENTIALS: [&str; 2] = ["authentication.userId", "authentication.password"];

/// Builds the document. Routes with the same path become operations of one path.
pub(super) fn build_document() -> Value {
    let mut paths = Map::new();
    for route in table::ROUTES.iter() {
        let path = paths.entry(route.path.replace("{*", "{")).or_insert_with(|| json!({}));
        path[route.method.as_str().to_ascii_lowercase()] = describe_operation(route);
    }
    let tags: Vec<Value> = RouteSection::ALL.iter().map(|section| json!({ "name": section.title() })).collect();
    let count = all_parameters().count();
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
                "bearer": { "type": "http", "scheme": "bearer", "description": "The access token." },
                "userId": older_credential(OLDER_CREDENTIALS[0], "The user id of the access token"),
                "password": older_credential(OLDER_CREDENTIALS[1], "The password of the access token"),
            },
            "schemas": component_schemas(),
            "parameters": { "idempotencyKey": {
                "name": "Idempotency-Key",
                "in": "header",
                "description": "Makes it safe to send the request again: the same key gives the same answer for 24 hours.",
                "schema": { "type": "string", "pattern": "^[!-~]{1,255}$" },
            } },
        },
    })
}

/// Describes a part of the older pair of credentials. A POST may have the pair in its body instead.
fn older_credential(name: &str, meaning: &str) -> Value {
    json!({
        "type": "apiKey",
        "in": "query",
        "name": name,
        "description": format!("{meaning}, for older clients that send no Authorization header. A POST may have it in its body."),
    })
}

/// Returns the schemas by name: one for the value of each parameter, one for each group of parameters, and those of the
/// responses. References lead to whole schemas only: generators of clients know no others.
fn component_schemas() -> Map<String, Value> {
    let mut schemas = Map::new();
    for row in all_parameters().filter(is_no_credential) {
        schemas.insert(schema::value_component_name(row), schema::parameter_schema(row));
    }
    for group in schema::parameter_groups() {
        let rows = schema::parameters_of_group(group).filter(is_no_credential);
        let mut object = schema::object_schema(rows, parameter_reference);
        object["title"] = group.title().into();
        schemas.insert(schema::component_name(group), object);
    }
    schemas.extend(tillgate_wire::component_schemas());
    // This document has no type.
    schemas.insert("OpenApi".to_owned(), json!({ "type": "object", "required": ["openapi", "info", "paths"] }));
    schemas
}

/// Describes a route: parameters, body (of a POST) and possible responses. Only merchants' routes have `security`.
fn describe_operation(route: &Route) -> Value {
    let mut operation = json!({
        "operationId": route.operation,
        "tags": [route.section.title()],
        "summary": route.summary,
        "security": match route.caller {
            Caller::Merchant => json!([{ "bearer": [] }, { "userId": [], "password": [] }]),
            _ => json!([]),
        },
    });
    if let Some(scope) = route.scope {
        operation["x-scope"] = scope.as_str().into();
    }
    if !route.note.is_empty() {
        operation["description"] = route.note.into();
    }
    let parameters = describe_parameters(route);
    if !parameters.is_empty() {
        operation["parameters"] = Value::Array(parameters);
    }
    if route.method == HttpMethod::Post {
        let mut content = match (route.has_file, route.body) {
            (true, _) => file_content(),
            (false, ResponseContent::ThreeDsMessage) => {
                json!({ "application/json": { "schema": { "type": "object" } } })
            }
            (false, _) => json!({ "application/x-www-form-urlencoded": { "schema": body_schema(route) } }),
        };
        if route.text_body.is_some() {
            content["application/toml"] = json!({ "schema": { "type": "string" } });
        }
        operation["requestBody"] = json!({ "required": true, "content": content });
    }
    let mut by_status = Map::new();
    for (status, condition) in responses::possible_statuses(route) {
        by_status.insert(status.to_string(), describe_response(route, status, condition));
    }
    operation["responses"] = Value::Object(by_status);
    operation
}

/// Describes a body that is a file of one of the types of evidence, or of a type that its content tells.
fn file_content() -> Value {
    let types = EvidenceType::ALL.map(EvidenceType::as_str).into_iter().chain([ANY_FILE]);
    Value::Object(types.map(|media_type| (media_type.to_owned(), json!({ "schema": file_schema() }))).collect())
}

/// Returns the schema of a file's bytes.
fn file_schema() -> Value {
    json!({ "type": "string", "format": "binary" })
}

/// Describes the response with a status: `condition` says when it comes. Its schema is the content of a 200, also for a
/// declined payment; other errors are a `Refusal`, and those of HTML pages are text.
fn describe_response(route: &Route, status: u16, condition: &str) -> Value {
    let name = match (status, route.body) {
        (200, body) => responses::schema_name(body),
        // A declined payment has the same response body as an approved one.
        (400, ResponseContent::Payment | ResponseContent::PaymentOrList | ResponseContent::CheckoutStatus) => {
            Some("DeclinedAnswer")
        }
        (503, ResponseContent::Health) => Some("Health"),
        // An HTML page shows its error as HTML, and a review decision's error is a text.
        (_, ResponseContent::Html | ResponseContent::Empty) => None,
        _ => Some("Refusal"),
    };
    let media_types = match name {
        Some(_) if status != 200 => &["application/json"],
        _ => responses::media_types(route.body),
    };
    let describe_content = |media_type: &&str| {
        let schema = match name {
            Some(name) if media_type.starts_with("application/") => schema_reference(name),
            None if media_type.starts_with("application/") || media_type.starts_with("image/") => file_schema(),
            _ => json!({ "type": "string" }),
        };
        ((*media_type).to_owned(), json!({ "schema": schema }))
    };
    let content: Map<String, Value> = media_types.iter().map(describe_content).collect();
    json!({ "description": condition, "content": content })
}

/// Returns a reference to a schema of the document.
fn schema_reference(name: &str) -> Value {
    json!({ "$ref": format!("#/components/schemas/{name}") })
}

/// Describes the parameters in the path, in the query and in headers. Those of the catalogue are in the query unless
/// the method is POST, and the body is no file.
fn describe_parameters(route: &Route) -> Vec<Value> {
    let mut parameters: Vec<Value> = route
        .path_parameters()
        .map(|name| json!({ "name": name, "in": "path", "required": true, "schema": { "type": "string", "minLength": 1 } }))
        .collect();
    let in_query = if route.has_parameters_in_body() { &[] } else { route.route_parameters };
    parameters.extend(in_query.iter().map(|parameter| {
        json!({
            "name": parameter.name,
            "in": "query",
            "required": parameter.required,
            "description": parameter.note,
            "schema": { "type": "string", "pattern": parameter.pattern },
        })
    }));
    if route.method != HttpMethod::Post || route.has_file {
        parameters.extend(route.accepted_parameters().filter(is_no_credential).map(|row| {
            json!({
                "name": row.name,
                "in": "query",
                "required": is_required(route, row),
                "description": row.note,
                "schema": parameter_reference(row),
            })
        }));
    }
    if route.is_idempotent() {
        parameters.push(json!({ "$ref": "#/components/parameters/idempotencyKey" }));
    }
    parameters
}

/// Returns true if every request has to send the parameter: `entityId`, and those that the route names.
fn is_required(route: &Route, row: &Parameter) -> bool {
    row.name == "entityId" || route.required.contains(&row.name)
}

/// Returns true if the parameter does not belong to the older pair of credentials.
fn is_no_credential(row: &&Parameter) -> bool {
    !OLDER_CREDENTIALS.contains(&row.name)
}

/// Returns a reference to the schema of a parameter's value.
fn parameter_reference(row: &Parameter) -> Value {
    schema_reference(&schema::value_component_name(row))
}

/// Returns the schema of a body: references to whole groups if the route accepts all of their parameters, otherwise
/// single parameters. For browsers' routes, always single ones.
fn body_schema(route: &Route) -> Value {
    let mut whole = Vec::new();
    let mut single = Vec::new();
    for group in schema::parameter_groups() {
        let all = schema::parameters_of_group(group).all(|row| route.accepts_parameter(row));
        if all && !matches!(route.accepted, AcceptedParameters::Browser) {
            whole.push(schema_reference(&schema::component_name(group)));
        } else {
            single.extend(schema::parameters_of_group(group).filter(|row| route.accepts_parameter(row)));
        }
    }
    let mut object = schema::object_schema(single.into_iter().filter(is_no_credential), parameter_reference);
    let mut required: Vec<&str> =
        route.accepted_parameters().filter(|row| is_required(route, row)).map(|row| row.name).collect();
    if route.has_parameters_in_body() {
        for parameter in route.route_parameters {
            object["properties"][parameter.name] =
                json!({ "type": "string", "pattern": parameter.pattern, "description": parameter.note });
            required.extend(parameter.required.then_some(parameter.name));
        }
    }
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
    fn every_reference_leads_to_a_component() {
        let document = build_document();
        let mut open = vec![&document];
        let mut seen = 0;
        while let Some(value) = open.pop() {
            if let Some(target) = value.get("$ref").and_then(Value::as_str) {
                let pointer = target.strip_prefix('#').unwrap();
                assert!(document.pointer(pointer).is_some(), "{target}");
                assert_eq!(pointer.split('/').count(), 4, "{target}");
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

    #[test]
    fn no_schema_of_a_response_has_the_name_of_a_parameter_or_a_group() {
        let of_responses = tillgate_wire::component_schemas();
        let of_parameters = all_parameters().map(schema::value_component_name);
        let of_groups = schema::parameter_groups().into_iter().map(schema::component_name);
        for name in of_parameters.chain(of_groups) {
            assert!(!of_responses.contains_key(&name), "{name} twice");
        }
    }

    #[test]
    fn operations_and_their_rows_are_right_in_themselves() {
        let mut names = std::collections::BTreeSet::new();
        for route in table::ROUTES.iter() {
            assert!(names.insert(route.operation), "{} twice", route.operation);
            assert_eq!(route.unknown_names(), Vec::<&str>::new(), "{}", route.operation);
            assert!(!route.summary.ends_with('.') && !route.summary.is_empty(), "{}", route.operation);
        }
    }
}
