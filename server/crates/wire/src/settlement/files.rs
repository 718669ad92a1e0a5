//! Reconciliation files, and totals of their records.

use jiff::civil::Date;
use schemars::JsonSchema;
use serde::Serialize;
use tillgate_domain::id::EntityId;
use tillgate_domain::settlement::reconciliation::file::FileName;
use tillgate_domain::settlement::reconciliation::totals::{RecordTotal, RecordTotals, RecordTotalsKey};

use crate::{DayText, ResultFields, SumText};

/// The reconciliation files of an entity.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ReconciliationFiles")]
pub struct ReconciliationFilesFields<'a> {
    /// Result of the request.
    pub result: ResultFields<'a>,
    /// The files.
    pub files: Vec<ReconciliationFileFields>,
}

/// A reconciliation file.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ReconciliationFile")]
pub struct ReconciliationFileFields {
    /// Name of the file.
    name: String,
    /// Day of the file.
    day: DayText,
    /// Size in bytes.
    size: u64,
    /// Number of records.
    records: u64,
}

/// Totals of reconciliation records.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Aggregations")]
pub struct AggregationsFields<'a> {
    /// Result of the request.
    result: ResultFields<'a>,
    /// Totals of the records that have all of these values in common.
    aggregations: Vec<AggregationFields<'a>>,
}

/// Totals of the records with the same values.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Aggregation")]
pub struct AggregationFields<'a> {
    /// Day of the file.
    day: DayText,
    /// Currency of the transactions.
    currency: &'static str,
    /// Currency of the settlement.
    settlement_currency: &'static str,
    /// Brand of the payments. Absent for records without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    payment_brand: Option<&'a str>,
    /// Kind of record.
    record_type: &'static str,
    /// Kind of transaction.
    transaction_type: &'static str,
    /// Direction of the money.
    cashflow: &'static str,
    /// Result of the settlement.
    status: &'static str,
    /// Number of records.
    count: u64,
    /// Sum of the amounts of the transactions.
    amount: SumText,
    /// Sum of the settled amounts.
    settlement_amount: SumText,
    /// Sum of the fees.
    fee: SumText,
}

impl ReconciliationFileFields {
    /// Creates the fields of a file of an entity.
    pub fn new(entity: EntityId, day: Date, size: u64, records: u64) -> Self {
        Self { name: FileName { entity, day }.to_string(), day: DayText(day), size, records }
    }
}

impl<'a> From<&'a RecordTotals> for AggregationsFields<'a> {
    fn from(totals: &'a RecordTotals) -> Self {
        let aggregations = totals.rows.iter().map(|(key, total)| AggregationFields::new(key, total)).collect();
        Self { result: ResultFields::success(), aggregations }
    }
}

impl<'a> AggregationFields<'a> {
    fn new(key: &'a RecordTotalsKey, total: &RecordTotal) -> Self {
        let [amount, settlement_amount, fee] = total.format_sums();
        Self {
            day: DayText(key.day),
            currency: key.currency,
            settlement_currency: key.settlement_currency,
            payment_brand: Some(&*key.brand).filter(|brand| !brand.is_empty()),
            record_type: key.record_type.as_str(),
            transaction_type: key.transaction_type.as_str(),
            cashflow: key.cashflow.as_str(),
            status: key.status.as_str(),
            count: total.count,
            amount: SumText(amount),
            settlement_amount: SumText(settlement_amount),
            fee: SumText(fee),
        }
    }
}
