//! Reports as tables of text, for CSV files and the command line.

use std::fmt::Write as _;

use crate::report::{AttemptCounts, AuthorizationReport, ChargebackReport, TotalsColumn, TotalsReport};
use crate::settlement::reconciliation::totals::{RecordTotal, RecordTotals, RecordTotalsKey};

/// A report as rows of text. All cells are codes, days and numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReportTable {
    /// Names of the columns.
    pub header: Vec<&'static str>,
    /// The rows, with a cell for each column. A cell without a value is empty.
    pub rows: Vec<Vec<String>>,
    /// Number of columns at the beginning that name a row. The others have values.
    pub labels: usize,
    /// Index of the column by which a chart compares the rows.
    pub charted: usize,
}

impl ReportTable {
    /// Formats the table as CSV with a header (RFC 4180). No cell needs quotes.
    pub fn format_csv(&self) -> String {
        let mut text = self.header.join(",") + "\r\n";
        for row in &self.rows {
            let _ = write!(text, "{}\r\n", row.join(","));
        }
        text
    }
}

impl From<&TotalsReport> for ReportTable {
    /// Lists the requested columns, then currency, number and amount.
    fn from(report: &TotalsReport) -> Self {
        let name = |column: TotalsColumn| if column == TotalsColumn::Result { "result.code" } else { column.as_str() };
        let columns = TotalsColumn::ALL.into_iter().filter(|column| report.columns.contains(*column));
        let mut header: Vec<&'static str> = columns.map(name).collect();
        header.extend(["currency", "count", "amount"]);
        let rows = report.rows.iter().map(|(key, total)| {
            let values = [
                key.day.clone(),
                key.brand.clone(),
                key.payment_type.map(str::to_owned),
                key.result.map(|result| result.code().to_owned()),
                Some(key.currency.to_owned()),
                Some(total.count.to_string()),
                Some(total.format_amount()),
            ];
            values.into_iter().flatten().collect()
        });
        let labels = header.len() - 2;
        Self { labels, charted: labels, rows: rows.collect(), header }
    }
}

impl From<&AuthorizationReport> for ReportTable {
    /// Lists a row for each brand, then one for each reason of declines.
    fn from(report: &AuthorizationReport) -> Self {
        let header = vec!["paymentBrand", "result.code", "approved", "declined", "pending", "authorizationRate"];
        let of_brand = |(brand, counts): (&String, &AttemptCounts)| {
            let [approved, declined, pending] =
                [counts.approved, counts.declined, counts.pending].map(|count| count.to_string());
            vec![brand.clone(), String::new(), approved, declined, pending, counts.format_rate().unwrap_or_default()]
        };
        let empty = String::new;
        let reasons = report
            .decline_reasons()
            .into_iter()
            .map(|(code, count)| vec![empty(), code.code().to_owned(), empty(), count.to_string(), empty(), empty()]);
        Self { header, rows: report.brands.iter().map(of_brand).chain(reasons).collect(), labels: 2, charted: 3 }
    }
}

impl From<&ChargebackReport> for ReportTable {
    /// Lists a row for each brand and currency, then one for each reason.
    fn from(report: &ChargebackReport) -> Self {
        let header = vec![
            "paymentBrand",
            "result.code",
            "currency",
            "charged",
            "chargedAmount",
            "chargebacks",
            "chargebackAmount",
            "chargebackRatio",
            "reversals",
            "reversalAmount",
        ];
        let brands = report.brands.iter().map(|((brand, currency), counts)| {
            vec![
                brand.clone(),
                String::new(),
                (*currency).to_owned(),
                counts.charged.count.to_string(),
                counts.charged.format_amount(),
                counts.charged_back.count.to_string(),
                counts.charged_back.format_amount(),
                counts.format_ratio().unwrap_or_default(),
                counts.reversed.count.to_string(),
                counts.reversed.format_amount(),
            ]
        });
        let reasons = report.sorted_reasons().into_iter().map(|(code, count)| {
            let mut row = vec![String::new(); 10];
            (row[1], row[5]) = (code.code().to_owned(), count.to_string());
            row
        });
        Self { header, rows: brands.chain(reasons).collect(), labels: 3, charted: 5 }
    }
}

impl From<&RecordTotals> for ReportTable {
    /// Lists the totals of reconciliation records. Brands are codes, which need no quotes.
    fn from(totals: &RecordTotals) -> Self {
        let header = vec![
            "day",
            "currency",
            "settlementCurrency",
            "paymentBrand",
            "recordType",
            "transactionType",
            "cashflow",
            "status",
            "count",
            "amount",
            "settlementAmount",
            "fee",
        ];
        let row = |(key, total): (&RecordTotalsKey, &RecordTotal)| {
            let labels = [
                key.day.to_string(),
                key.currency.to_owned(),
                key.settlement_currency.to_owned(),
                key.brand.clone(),
                key.record_type.as_str().to_owned(),
                key.transaction_type.as_str().to_owned(),
                key.cashflow.as_str().to_owned(),
                key.status.as_str().to_owned(),
                total.count.to_string(),
            ];
            labels.into_iter().chain(total.format_sums()).collect()
        };
        Self { header, rows: totals.rows.iter().map(row).collect(), labels: 8, charted: 8 }
    }
}
