//! Implementation of `cargo xtask fuzz-api`: `fuzz-api SCHEMATHESIS EXAMPLES [OPTION …]` starts the binary in
//! TILLGATE_BIN, fills it with data, and runs the fuzzer with a copy of `/openapi.json` that contains existing ids. A
//! fuzzer that guesses ids receives nothing but 404.
//!
//! There are two kinds of passes. `wide` sends every parameter of the catalogue, and what the document forbids; few of
//! its requests get past the validation. `deep` sends only the parameters of [`known_parameters`] and required ones,
//! with matching values; many of its requests do. What its narrower document forbids may be allowed, so it is not sent.

use std::process::Command;

use anyhow::{Context as _, bail, ensure};
use serde_json::{Map, Value, json};
use tillgate_tests::{ApiResponse, CARD, MerchantClient, TestGateway};

/// Configuration of the fuzzer. It makes all of its default checks. The one for requests that the document allows also
/// accepts 400: no JSON Schema tells that an IBAN has check digits, that a currency has decimals, that a period ends
/// after it begins, or that a key is used once, and an issuer declines with 400. The form for old browsers does not
/// judge what is posted to a closed checkout.
const CONFIGURATION: &str = r#"
[checks.positive_data_acceptance]
expected-statuses = ["2xx", "3xx", "400", "401", "403", "404", "409", "429", "5xx"]

[[operations]]
include-operation-id = "submitPlainForm"
checks.negative_data_rejection.expected-statuses = ["2xx", "3xx", "400", "401", "403", "404", "409", "429", "5xx"]
"#;

const FORM: &str = "/requestBody/content/application~1x-www-form-urlencoded/schema";

/// Parameters with valid values, and with some that are nearly valid.
const KNOWN: &[(&str, &[&str])] = &[
    ("amount", &["1.00", "92.00", "0.01", "9999999999.99"]),
    ("currency", &["EUR", "EUR", "JPY", "KWD"]),
    ("paymentType", &["PA", "DB", "CD", "CP", "RV", "RF", "PA.CP"]),
    ("paymentBrand", &["VISA", "MASTER", "AMEX", "MAESTRO", "PAYPAL", "DIRECTDEBIT_SEPA", "GIROPAY", "APPLEPAY"]),
    ("testMode", &["INTERNAL", "EXTERNAL"]),
    ("descriptor", &["Kiln & Tide"]),
    ("merchantTransactionId", &["known-order", "unknown-order"]),
    ("transactionCategory", &["EC", "MO", "RC"]),
    ("card.number", &["4200000000000000", "4200000000000001", "5454545454545454", "378282246310005"]),
    ("card.holder", &["Jane Jones", "4200 0000 0000 0000"]),
    ("card.expiryMonth", &["05", "12"]),
    ("card.expiryYear", &["2034", "2001"]),
    ("card.cvv", &["123", "1234"]),
    ("bankAccount.holder", &["Jane Jones"]),
    ("bankAccount.iban", &["DE23100000001234567890"]),
    ("bankAccount.country", &["DE"]),
    ("virtualAccount.accountId", &["jane@example.com"]),
    ("customer.givenName", &["Jane", "simulate"]),
    ("customer.surname", &["Jones", "red", "error"]),
    ("customer.ip", &["192.0.2.1", "2001:db8::1"]),
    ("shopperResultUrl", &["https://shop.example/result"]),
    ("createRegistration", &["true", "false"]),
    ("overrideHolder", &["true"]),
    ("standingInstruction.mode", &["INITIAL", "REPEATED"]),
    ("standingInstruction.source", &["CIT", "MIT"]),
    ("standingInstruction.type", &["UNSCHEDULED", "RECURRING", "INSTALLMENT"]),
    ("standingInstruction.expiry", &["2030-01-01", "2001-01-01"]),
    ("standingInstruction.frequency", &["0030"]),
    ("standingInstruction.numberOfInstallments", &["2", "99"]),
    ("job.durationNumber", &["1", "24", "9999"]),
    ("job.durationUnit", &["MONTH", "YEAR", "DAY"]),
    ("chargebackResultCode", &["000.100.200", "000.100.299"]),
    ("threeDSecure.eci", &["05", "07"]),
    ("customParameters[forceResultCode]", &["000.100.110", "000.200.000", "800.100.151", "900.100.300"]),
    ("includeLinkedTransactions", &["true", "false"]),
    ("paymentTypes", &["PA,DB", "RF"]),
    ("paymentMethods", &["CC", "VA"]),
    ("date.from", &["2020-01-01", "2020-01-01 00:00:00"]),
    ("date.to", &["2099-12-31", "2019-01-01"]),
    ("limit", &["1", "100"]),
];

/// Existing objects of an entity.
#[derive(Default)]
struct ExistingObjects {
    /// Entities that the credentials have access to.
    entities: Vec<String>,
    checkouts: Vec<String>,
    payments: Vec<String>,
    registrations: Vec<String>,
    /// Build id of the hosted form.
    build: String,
}

/// Runs all passes and prints the statuses of each. Fails if the fuzzer has findings, or the gateway has logged a panic
/// or an internal error.
#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [fuzzer, examples, options @ ..] = &arguments[..] else {
        bail!("usage: fuzz-api SCHEMATHESIS EXAMPLES [OPTION …]");
    };
    let gateway = TestGateway::start_with(&["--public-url", "https://pay.example", "--trusted-proxy", "127.0.0.0/8"])?;
    let sandbox = gateway.create_merchant()?;
    let live = gateway.create_merchant_with(&["--live"])?.behind_proxy();
    let parent = gateway.create_merchant()?;
    let channel = gateway.create_merchant_with(&["--merchant", &parent.entity_id, "--currencies", "EUR,JPY"])?;
    let passes = [
        ("sandbox, wide", &sandbox, None, false),
        ("sandbox, deep", &sandbox, None, true),
        ("live, deep", &live, None, true),
        ("merchant with a channel, deep", &parent, Some(&channel), true),
    ];
    let mut failed = Vec::new();
    for (name, shop, channel, deep) in passes {
        let mut objects = create_objects(channel.unwrap_or(shop)).await.with_context(|| name.to_owned())?;
        objects.entities.push(shop.entity_id.clone());
        let mut document = shop.get("openapi.json").await?.json;
        insert_known_values(&mut document, &objects, deep)?;
        // The fuzzer reads it from the folder in which it runs.
        std::fs::write(gateway.folder().join("schemathesis.toml"), CONFIGURATION)?;
        let schema = gateway.folder().join("openapi.json");
        std::fs::write(&schema, document.to_string())?;
        println!("\n== {name} ==\n");
        let before = gateway.logged_requests().len();
        let status = Command::new(fuzzer)
            .arg("run")
            .arg(&schema)
            .args(["--url", shop.base.trim_end_matches('/'), "--max-examples", examples])
            .args(["--header", &format!("Authorization: Bearer {}", shop.token)])
            .args(["--header", "X-Forwarded-Proto: https"])
            .args(["--phases", "coverage,fuzzing", "--continue-on-failure", "--generation-database", "none"])
            .args(["--mode", if deep { "positive" } else { "all" }])
            .args(["--request-timeout", "30", "--warnings", "off", "--suppress-health-check", "all"])
            .args(options)
            .current_dir(gateway.folder())
            .status()
            .with_context(|| format!("running {fuzzer}"))?;
        println!("{}", summarize_statuses(&gateway.logged_requests()[before..]));
        if !status.success() {
            failed.push(name);
        }
    }
    let log = gateway.read_log();
    let faults: Vec<&str> =
        log.lines().filter(|line| line.contains("panicked") || line.contains("internal error")).collect();
    ensure!(faults.is_empty(), "the gateway logged failures:\n{}", faults.join("\n"));
    ensure!(failed.is_empty(), "the fuzzer has findings: {}", failed.join("; "));
    Ok(())
}

/// Counts the requests of the access log by status, to show the coverage of a pass: `3 requests: 2 × 200, 1 × 404`.
fn summarize_statuses(requests: &[String]) -> String {
    let mut counts = std::collections::BTreeMap::new();
    for status in requests.iter().filter_map(|request| request.rsplit(' ').next()) {
        *counts.entry(status).or_insert(0_u32) += 1;
    }
    let counts: Vec<String> = counts.iter().map(|(status, count)| format!("{count} × {status}")).collect();
    format!("{} requests: {}", requests.len(), counts.join(", "))
}

/// Creates one object of each kind, and several of those that the fuzzer consumes. Fails if the gateway refuses one.
async fn create_objects(shop: &MerchantClient) -> anyhow::Result<ExistingObjects> {
    let mut objects = ExistingObjects { entities: vec![shop.entity_id.clone()], ..ExistingObjects::default() };
    let created_id = |response: ApiResponse| -> anyhow::Result<String> {
        ensure!(!response.id().is_empty(), "nothing was made: {}", response.text);
        Ok(response.id().to_owned())
    };
    for _ in 0..3 {
        objects.checkouts.push(created_id(shop.create_checkout(&[]).await?)?);
        objects.checkouts.push(created_id(shop.post("v1/checkouts", &[("createRegistration", "true")]).await?)?);
        objects.registrations.push(created_id(shop.post("v1/registrations", &CARD).await?)?);
        objects.payments.push(created_id(
            shop.pay_by_card(&[("paymentType", "PA"), ("merchantTransactionId", "known-order")]).await?,
        )?);
        objects.payments.push(created_id(shop.pay_by_card(&[("merchantTransactionId", "known-order")]).await?)?);
    }
    let paid = created_id(shop.create_checkout(&[]).await?)?;
    shop.submit_card(&paid, &[]).await?;
    objects.checkouts.push(paid);
    let result_url = ("shopperResultUrl", "https://shop.example/result");
    let pending =
        [("amount", "1.00"), ("currency", "EUR"), ("paymentType", "DB"), ("paymentBrand", "PAYPAL"), result_url];
    objects.payments.push(created_id(shop.post("v1/payments", &pending).await?)?);
    let refund = [("amount", "1.00"), ("currency", "EUR"), ("paymentType", "RF")];
    let debit = created_id(shop.pay_by_card(&[]).await?)?;
    objects.payments.push(created_id(shop.post(&format!("v1/payments/{debit}"), &refund).await?)?);
    let frame = shop.get("v1/pciIframe.html").await?.text;
    let build = frame.split("\"build\":\"").nth(1).and_then(|rest| rest.split('"').next());
    objects.build = build.context("the frame document tells no build")?.to_owned();
    Ok(objects)
}

/// Returns the schemas of the parameters in [`KNOWN`], and of those that refer to existing objects of the entity: each
/// with its values.
fn known_parameters(objects: &ExistingObjects) -> Map<String, Value> {
    let own = [
        ("entityId", &objects.entities),
        ("authentication.entityId", &objects.entities),
        ("registrations[0].id", &objects.registrations),
        ("registrations[1].id", &objects.registrations),
        ("registrationId", &objects.registrations),
        ("paymentId", &objects.payments),
        ("standingInstruction.initialTransactionId", &objects.payments),
    ];
    let fixed = KNOWN.iter().map(|(name, values)| ((*name).to_owned(), json!(values)));
    let all = fixed.chain(own.map(|(name, values)| (name.to_owned(), json!(values))));
    all.map(|(name, values)| (name, json!({ "type": "string", "enum": values }))).collect()
}

/// Replaces the parameters of a body by the known ones, and by what it requires beside them.
fn narrow_body(body: &mut Value, known: &Map<String, Value>, schemas: &Map<String, Value>) {
    let mut properties = known.clone();
    let required = body["required"].as_array().cloned().unwrap_or_default();
    for name in required.iter().filter_map(Value::as_str).filter(|name| !known.contains_key(*name)) {
        let own = body["properties"].get(name);
        let found = own.or_else(|| schemas.values().find_map(|schema| schema["properties"].get(name)));
        properties.insert(name.to_owned(), found.cloned().unwrap_or_else(|| json!({ "type": "string" })));
    }
    *body = json!({ "type": "object", "required": required, "properties": properties, "additionalProperties": false });
}

/// Writes existing ids and known values into the OpenAPI document. If `deep` is true, requests have no other values and
/// parameters; otherwise these are added.
fn insert_known_values(document: &mut Value, objects: &ExistingObjects, deep: bool) -> anyhow::Result<()> {
    let known = known_parameters(objects);
    let schemas = document["components"]["schemas"].as_object_mut().context("no schemas")?;
    for schema in schemas.values_mut() {
        let is_request = schema.get("required").is_none();
        let properties = schema.get_mut("properties").and_then(Value::as_object_mut).filter(|_| is_request);
        for (name, value) in properties.into_iter().flatten() {
            if let Some(some) = known.get(name).cloned() {
                *value =
                    if deep || name.ends_with("ntityId") { some } else { json!({ "anyOf": [some, value.take()] }) };
            }
        }
    }
    let schemas = schemas.clone();
    let paths = document["paths"].as_object_mut().context("no paths")?;
    for (path, operations) in paths {
        // These take any id: an unknown one gets the current build of the form, and a file of no build.
        let takes_any_id = path == "/v1/paymentWidgets.js" || path.ends_with("/img/brand.png");
        let ids = match path.as_str() {
            path if path.starts_with("/v1/checkouts") => &objects.checkouts,
            path if path.starts_with("/v1/registrations") => &objects.registrations,
            _ => &objects.payments,
        };
        for operation in operations.as_object_mut().into_iter().flat_map(Map::values_mut) {
            for parameter in operation.get_mut("parameters").and_then(Value::as_array_mut).into_iter().flatten() {
                let some = match parameter["name"].as_str() {
                    Some("checkoutId" | "build") if takes_any_id => continue,
                    Some("id") => json!(ids),
                    // Without an id, the page makes its checkout later.
                    Some("checkoutId") => json!([objects.checkouts.as_slice(), &[String::new()]].concat()),
                    Some("build") => json!([objects.build]),
                    Some("path") => json!(["js/static.min.js", "js/paymentWidgets.js"]),
                    _ => continue,
                };
                parameter["schema"] = json!({ "type": "string", "enum": some });
            }
            if let Some(body) = operation.pointer_mut(FORM).filter(|_| deep) {
                if body.get("allOf").is_some() {
                    narrow_body(body, &known, &schemas);
                } else if let Some(properties) = body.get_mut("properties").and_then(Value::as_object_mut) {
                    properties.retain(|name, _| known.contains_key(name));
                }
                if let Some(body) = body.as_object_mut() {
                    body.remove("patternProperties");
                }
            }
        }
    }
    Ok(())
}
