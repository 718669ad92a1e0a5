//! Reports about settlements: the batches with their totals, and the fees.

use std::collections::BTreeMap;

use jiff::civil::Date;

use crate::id::EntityId;
use crate::report::format_hundredths;
use crate::report::table::ReportTable;
use crate::settlement::BatchTotals;
use crate::settlement::reconciliation::totals::RecordTotals;
use crate::settlement::reconciliation::{MatchingStatus, RecordType, SettlementStatus, TransactionType};

/// A batch of an entity in one settlement currency.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettlementRow {
    /// The day.
    pub day: Date,
    /// The entity whose payments it settles.
    pub entity: EntityId,
    /// Code of the settlement's currency.
    pub currency: String,
    /// False while parts of the batch are missing.
    pub complete: bool,
    /// The totals.
    pub totals: BatchTotals,
}

/// The names of the amounts of a batch, in the order of [`SettlementRow::amounts`].
pub const AMOUNT_NAMES: [&str; 9] = [
    "charged",
    "refunded",
    "credited",
    "chargedBack",
    "chargebacksReversed",
    "fees",
    "reserved",
    "released",
    "paidOut",
];

impl SettlementRow {
    /// Returns the amounts with two decimals. `paidOut` is negative if the merchant owes it.
    pub fn amounts(&self) -> [String; 9] {
        let BatchTotals { charged, refunded, credited, charged_back, chargebacks_reversed, fees, .. } = self.totals;
        let BatchTotals { reserved, released, .. } = self.totals;
        let net = self.totals.net();
        [charged, refunded, credited, charged_back, chargebacks_reversed, fees, reserved, released, net]
            .map(|hundredths| format_hundredths(i128::from(hundredths)))
    }

    /// Returns `COMPLETE`, or `IN_PROGRESS` while parts are missing.
    pub fn status(&self) -> &'static str {
        if self.complete { "COMPLETE" } else { "IN_PROGRESS" }
    }
}

/// Batches in the order of day, entity and currency.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SettlementReport {
    /// The rows.
    pub rows: Vec<SettlementRow>,
}

impl From<&SettlementReport> for ReportTable {
    /// Lists a row for each batch.
    fn from(report: &SettlementReport) -> Self {
        let mut header = vec!["day", "entityId", "currency", "status", "lines", "failedLines"];
        header.extend(AMOUNT_NAMES);
        let rows = report.rows.iter().map(|row| {
            let mut cells = vec![
                row.day.to_string(),
                row.entity.to_string(),
                row.currency.clone(),
                row.status().to_owned(),
                row.totals.lines.to_string(),
                row.totals.failed.to_string(),
            ];
            cells.extend(row.amounts());
            cells
        });
        Self { rows: rows.collect(), labels: 4, charted: header.len() - 1, header }
    }
}

/// The values by which fees are divided: day, transaction type, brand (empty without one), currency, and true for lines
/// whose payment is not found.
pub type FeeKey = (Date, TransactionType, String, &'static str, bool);

/// Fees by day, transaction type, brand and currency. The ledger has the fees of all rows, except those of lines whose
/// payment is not found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FeeReport {
    /// Number of lines with a fee, and the sum of the fees in hundredths.
    pub rows: BTreeMap<FeeKey, (u64, i128)>,
}

impl From<&RecordTotals> for FeeReport {
    /// Adds up the fees of lines, and the lines that are a fee themselves. The total of a batch repeats its lines' fees
    /// and is left out.
    ///
    /// Lines whose payment is not found have their own rows, because the ledger books a fee when its line is matched.
    fn from(totals: &RecordTotals) -> Self {
        let mut report = Self::default();
        for (key, total) in &totals.rows {
            let is_fee = key.record_type == RecordType::Fee;
            let fee = if is_fee { total.settlement_amount } else { total.fee };
            let is_total = key.transaction_type == TransactionType::Batch;
            if is_total || key.status == SettlementStatus::Failed {
                continue;
            }
            let unmatched = total.unmatched;
            let matched = (total.count - unmatched.count, fee - unmatched.fee);
            for (is_unmatched, (count, fee)) in [(false, matched), (true, (unmatched.count, unmatched.fee))] {
                if fee != 0 {
                    let row = (key.day, key.transaction_type, key.brand.clone(), key.settlement_currency, is_unmatched);
                    let (rows, sum) = report.rows.entry(row).or_default();
                    *rows += count;
                    *sum += fee;
                }
            }
        }
        report
    }
}

impl From<&FeeReport> for ReportTable {
    /// Lists a row for each day, transaction type, brand and currency. Lines whose payment is not found have their own
    /// rows.
    fn from(report: &FeeReport) -> Self {
        let header = vec!["day", "transactionType", "paymentBrand", "currency", "matchingStatus", "count", "fee"];
        let rows = report.rows.iter().map(|((day, transaction_type, brand, currency, is_unmatched), (count, fee))| {
            vec![
                day.to_string(),
                transaction_type.as_str().to_owned(),
                brand.clone(),
                (*currency).to_owned(),
                if *is_unmatched { MatchingStatus::NotMatched.as_str().to_owned() } else { String::new() },
                count.to_string(),
                format_hundredths(*fee),
            ]
        });
        Self { header, rows: rows.collect(), labels: 5, charted: 6 }
    }
}
