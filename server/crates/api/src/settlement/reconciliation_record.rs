//! Reconciliation records as JSON under the names of the specification (document 3, "Reconciliation records").

use serde_json::{Value, json};
use tillgate_domain::id::PaymentId;
use tillgate_domain::settlement::reconciliation::{MatchedPayments, ReconciliationRecord, RecordType};

use tillgate_wire::json_object::{FieldValue, JsonObject};

/// Writes a record as one line.
pub(crate) fn write_record(lines: &mut Vec<u8>, record: &ReconciliationRecord) {
    // Writing to memory does not fail, and the fields are texts.
    let _ = serde_json::to_writer(&mut *lines, &record_fields(record));
    lines.push(b'\n');
}

/// Builds the JSON of a record. Optional values are left out if they are missing, except `merchantTransactionId` and
/// `merchantInvoiceId`, which are then null.
fn record_fields(record: &ReconciliationRecord) -> JsonObject<'_> {
    let mut fields = JsonObject::default()
        .with("id", record.id.as_str())
        .with("recordType", record.record_type.as_str())
        .with("transactionType", record.transaction_type.as_str())
        .with("settlement", settlement_fields(record))
        .with("clearingInstitute", institute_fields(record))
        .with(
            "merchantAccount",
            JsonObject::default()
                .with("id", record.owner.account.as_str())
                .with("name", record.owner.account_name.as_str()),
        )
        .with("pspEntityId", record.owner.psp.as_str());
    set_optional(&mut fields, "divisionEntityId", record.owner.division.as_ref().map(|id| id.as_str()));
    fields.set("merchantEntityId", record.owner.merchant.as_str());
    if let Some(payment) = &record.payment {
        fields.set("payment", JsonObject::default().with("id", payment.as_str()));
        fields.set("shortId", payment.short_id());
    }
    let mut fields = fields
        .with("merchantTransactionId", text_or_null(&record.merchant_transaction_id))
        .with("merchantInvoiceId", text_or_null(&record.merchant_invoice_id))
        .with("amount", record.amount.to_string())
        .with("currency", record.amount.currency().code());
    set_optional(&mut fields, "paymentBrand", record.brand.as_deref());
    if let Some(time) = record.presented {
        fields.set("presentmentDate", time.strftime("%Y-%m-%d %H:%M:%S").to_string());
    }
    set_optional(&mut fields, "descriptor", record.descriptor.as_deref());
    set_account(&mut fields, record);
    if let Some(reason) = &record.reason {
        let result = JsonObject::default().with("code", reason.code.code()).with("description", reason.description());
        fields.set("result", result);
    }
    if let Some(matching) = &record.matching {
        fields.set("matchedTransactions", matching_fields(matching));
    }
    if let Some(chargeback) = &record.chargeback {
        fields.set("chargebackTransaction", JsonObject::default().with("id", chargeback.as_str()));
    }
    fields
}

fn settlement_fields(record: &ReconciliationRecord) -> JsonObject<'_> {
    let settlement = &record.settlement;
    // Of a record that is a fee, the exact number is that of the amount.
    let is_fee = record.record_type == RecordType::Fee;
    let exact_amount = settlement.exact_fee.filter(|_| is_fee);
    let exact_fee = settlement.exact_fee.filter(|_| !is_fee);
    let mut fields = JsonObject::default()
        .with("id", settlement.id.as_str())
        .with("cashflow", settlement.cashflow.as_str())
        .with("amount", exact_amount.map_or_else(|| settlement.amount.to_string(), |exact| exact.to_string()))
        .with("currency", settlement.amount.currency().code());
    if let Some(fee) = settlement.fee {
        fields.set("fee", exact_fee.map_or_else(|| fee.to_string(), |exact| exact.to_string()));
    }
    fields
        .with("fxRate", settlement.fx_rate.to_string())
        .with("date", settlement.date.to_string())
        .with("status", settlement.status.as_str())
        .with("format", settlement.format.as_str())
}

fn institute_fields(record: &ReconciliationRecord) -> JsonObject<'_> {
    let institute = &record.institute;
    let mut fields =
        JsonObject::default().with("name", institute.name.as_str()).with("merchantId", institute.merchant_id.as_str());
    for (name, id) in ["txId1", "txId2", "txId3"].into_iter().zip(&institute.tx_ids) {
        set_optional(&mut fields, name, id.as_deref());
    }
    fields
}

/// Sets the account under `card` or `bankAccount`, as far as it is known.
fn set_account<'a>(fields: &mut JsonObject<'a>, record: &'a ReconciliationRecord) {
    let account = &record.account;
    let mut group = JsonObject::default();
    set_optional(&mut group, "last4Digits", account.last4.as_deref());
    set_optional(&mut group, "holder", account.holder.as_deref());
    set_optional(&mut group, "bankCode", account.bank_code.as_deref().filter(|_| account.is_bank));
    if account.last4.is_some() || account.holder.is_some() || account.bank_code.is_some() {
        fields.set(if account.is_bank { "bankAccount" } else { "card" }, group);
    }
}

fn matching_fields(matching: &MatchedPayments) -> JsonObject<'_> {
    let payment = |id: &PaymentId| json!({ "id": id.as_str() });
    let mut fields = JsonObject::default().with("status", matching.status.as_str());
    if !matching.payments.is_empty() {
        fields.set("payment", Value::Array(matching.payments.iter().map(payment).collect()));
    }
    fields
}

fn set_optional<'a>(fields: &mut JsonObject<'a>, name: &'a str, text: Option<&'a str>) {
    if let Some(text) = text {
        fields.set(name, text);
    }
}

fn text_or_null(text: &Option<String>) -> FieldValue<'_> {
    text.as_deref().map_or(FieldValue::Json(Value::Null), FieldValue::from)
}
