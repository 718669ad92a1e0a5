//! Totals of reconciliation records, by everything that tells their amounts apart.

use std::collections::BTreeMap;

use jiff::civil::Date;

use super::{Cashflow, ReconciliationRecord, RecordType, SettlementStatus, TransactionType};
use crate::domain::report::format_hundredths;

/// The values by which totals are divided. Amounts in different currencies are never added.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct RecordTotalsKey {
    /// The day of the file.
    pub day: Date,
    /// Code of the currency of the transactions.
    pub currency: &'static str,
    /// Code of the currency of the settlement.
    pub settlement_currency: &'static str,
    /// Code of the brand. Empty for records without one.
    pub brand: String,
    /// The kind of record.
    pub record_type: RecordType,
    /// The kind of transaction.
    pub transaction_type: TransactionType,
    /// The direction of the money.
    pub cashflow: Cashflow,
    /// The result of the settlement.
    pub status: SettlementStatus,
}

/// Number and sums of the records of a row. Amounts are in hundredths of their currency.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RecordTotal {
    /// Number of records.
    pub count: u64,
    /// Sum of the amounts of the transactions.
    pub amount: i128,
    /// Sum of the settled amounts.
    pub settlement_amount: i128,
    /// Sum of the fees.
    pub fee: i128,
}

impl RecordTotal {
    /// Returns the amount, the settled amount and the fee, each with two decimals.
    pub fn format_sums(&self) -> [String; 3] {
        [self.amount, self.settlement_amount, self.fee].map(format_hundredths)
    }
}

/// Totals of records.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct RecordTotals {
    /// Code of the only currency whose records are counted. `None` for every currency.
    pub currency: Option<String>,
    /// The rows.
    pub rows: BTreeMap<RecordTotalsKey, RecordTotal>,
}

impl RecordTotals {
    /// Makes totals without records, of one currency or of all.
    pub fn new(currency: Option<&str>) -> Self {
        Self { currency: currency.map(str::to_owned), rows: BTreeMap::new() }
    }

    /// Adds a record in the file of a day, if its currency is counted.
    pub fn add_record(&mut self, day: Date, record: &ReconciliationRecord) {
        let currency = record.amount.currency().code();
        if self.currency.as_ref().is_some_and(|only| only != currency) {
            return;
        }
        let key = RecordTotalsKey {
            day,
            currency,
            settlement_currency: record.settlement.amount.currency().code(),
            brand: record.brand.clone().unwrap_or_default(),
            record_type: record.record_type,
            transaction_type: record.transaction_type,
            cashflow: record.settlement.cashflow,
            status: record.settlement.status,
        };
        let total = self.rows.entry(key).or_default();
        total.count += 1;
        total.amount += i128::from(record.amount.hundredths());
        total.settlement_amount += i128::from(record.settlement.amount.hundredths());
        total.fee += record.settlement.fee.map_or(0, |fee| i128::from(fee.hundredths()));
    }
}
