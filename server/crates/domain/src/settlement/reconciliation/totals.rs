//! Totals of reconciliation records, by everything that tells their amounts apart.

use std::collections::BTreeMap;

use jiff::civil::Date;

use crate::payment::mode::ProcessingMode;
use crate::report::format_hundredths;
use crate::settlement::reconciliation::{
    Cashflow, ReconciliationRecord, RecordType, SettlementStatus, TransactionType,
};

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
    /// The records among them whose payment is not found. The ledger has none of their money.
    pub unmatched: UnmatchedTotal,
}

/// Number and fees of records whose payment is not found.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct UnmatchedTotal {
    /// Number of records.
    pub count: u64,
    /// Sum of their fees in hundredths of the settlement's currency, also of records that are a fee themselves.
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
    /// The only mode whose records are counted. `None` for every mode.
    pub mode: Option<ProcessingMode>,
    /// The rows.
    pub rows: BTreeMap<RecordTotalsKey, RecordTotal>,
}

impl RecordTotals {
    /// Makes totals without records, of one currency and mode or of all.
    pub fn new(currency: Option<&str>, mode: Option<ProcessingMode>) -> Self {
        Self { currency: currency.map(str::to_owned), mode, rows: BTreeMap::new() }
    }

    /// Returns true if a record is counted.
    fn is_counted(&self, record: &ReconciliationRecord) -> bool {
        let has_mode = match self.mode {
            None | Some(ProcessingMode::Live) => true,
            Some(ProcessingMode::Internal) => record.is_simulated(),
            Some(ProcessingMode::External) => !record.is_simulated(),
        };
        has_mode && self.currency.as_ref().is_none_or(|only| only == record.amount.currency().code())
    }

    /// Adds a record in the file of a day, if it is counted.
    pub fn add_record(&mut self, day: Date, record: &ReconciliationRecord) {
        if !self.is_counted(record) {
            return;
        }
        let key = RecordTotalsKey {
            day,
            currency: record.amount.currency().code(),
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
        if record.is_unmatched() {
            total.unmatched.count += 1;
            total.unmatched.fee += record.fee().map_or(0, |fee| i128::from(fee.hundredths()));
        }
    }
}
