//! Schemas of responses about reconciliation.

use serde_json::{Value, json};
use tillgate_domain::settlement::ledger::ACCOUNT_NAMES;
use tillgate_domain::settlement::report::AMOUNT_NAMES;

use super::response_schemas::{response_schema, result_reference, text_schema};

/// Returns the schemas of responses about reconciliation files, records and their totals.
pub(super) fn reconciliation_schemas() -> Vec<(&'static str, Value)> {
    let (day, count) = (json!({ "type": "string", "format": "date" }), json!({ "type": "integer", "minimum": 0 }));
    let amount = json!({ "type": "string", "pattern": r"^\d+\.\d\d$" });
    let file = json!({ "type": "object", "required": ["name", "day", "size", "records"], "properties": {
        "name": text_schema(), "day": day, "size": count, "records": count,
    } });
    let total = json!({
        "type": "object",
        "required": [
            "day", "currency", "settlementCurrency", "recordType", "transactionType", "cashflow", "status", "count",
            "amount", "settlementAmount", "fee",
        ],
        "properties": {
            "day": day, "currency": text_schema(), "settlementCurrency": text_schema(), "paymentBrand": text_schema(),
            "recordType": text_schema(), "transactionType": text_schema(), "cashflow": text_schema(),
            "status": text_schema(), "count": count, "amount": amount, "settlementAmount": amount, "fee": amount,
        },
    });
    let files = json!({ "result": result_reference(), "files": { "type": "array", "items": file } });
    let totals = json!({ "result": result_reference(), "aggregations": { "type": "array", "items": total } });
    vec![
        ("ReconciliationFilesAnswer", response_schema(&["result", "files"], files)),
        ("SettlementsAnswer", rows_schema("settlements", &["day", "entityId", "currency", "status"], &AMOUNT_NAMES)),
        ("FeesAnswer", rows_schema("fees", &["day", "transactionType", "paymentBrand", "currency"], &["fee"])),
        ("BalancesAnswer", rows_schema("balances", &["entityId", "currency"], &ACCOUNT_NAMES)),
        ("AggregationsAnswer", response_schema(&["result", "aggregations"], totals)),
        ("ReconciliationRecordLine", record_schema()),
    ]
}

/// Returns the schema of a list of rows with texts and signed amounts.
fn rows_schema(name: &str, texts: &[&str], amounts: &[&str]) -> Value {
    let signed = json!({ "type": "string", "pattern": r"^-?\d+\.\d\d$" });
    let texts = texts.iter().map(|text| ((*text).to_owned(), text_schema()));
    let amounts = amounts.iter().map(|amount| ((*amount).to_owned(), signed.clone()));
    let row = json!({ "type": "object", "properties": Value::Object(texts.chain(amounts).collect()) });
    let list = json!({ "result": result_reference(), name: { "type": "array", "items": row } });
    response_schema(&["result", name], list)
}

/// Returns the schema of a record.
fn record_schema() -> Value {
    let optional_text = json!({ "type": ["string", "null"] });
    let group = json!({ "type": "object" });
    json!({
        "type": "object",
        "required": [
            "id", "recordType", "transactionType", "settlement", "clearingInstitute", "merchantAccount", "pspEntityId",
            "merchantEntityId", "merchantTransactionId", "merchantInvoiceId", "amount", "currency",
        ],
        "properties": {
            "id": text_schema(), "recordType": text_schema(), "transactionType": text_schema(),
            "settlement": {
                "type": "object",
                "required": ["id", "cashflow", "amount", "currency", "fxRate", "date", "status", "format"],
            },
            "clearingInstitute": { "type": "object", "required": ["name", "merchantId"] },
            "merchantAccount": { "type": "object", "required": ["id", "name"] },
            "pspEntityId": text_schema(), "divisionEntityId": text_schema(), "merchantEntityId": text_schema(),
            "payment": group, "shortId": text_schema(),
            "merchantTransactionId": optional_text, "merchantInvoiceId": optional_text,
            "amount": text_schema(), "currency": text_schema(), "paymentBrand": text_schema(),
            "presentmentDate": text_schema(), "descriptor": text_schema(), "card": group, "bankAccount": group,
            "result": group, "matchedTransactions": group, "chargebackTransaction": group,
        },
    })
}
