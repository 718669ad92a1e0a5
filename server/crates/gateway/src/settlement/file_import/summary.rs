//! Summary of an import: the numbers of its lines, and the first lines that need attention.

use serde::Serialize;
use tillgate_domain::id::{PaymentId, RecordId};
use tillgate_domain::settlement::file_format::LineFault;
use tillgate_domain::settlement::reconciliation::MatchingStatus;

/// Largest number of lines that are listed of a kind.
pub const MAX_LISTED: usize = 100;

/// Result of an import.
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ImportSummary {
    /// SHA-256 of the file, in hexadecimal digits.
    pub file: String,
    /// True if the file was taken as a whole before, so that nothing was read.
    pub already_imported: bool,
    /// True if nothing was written, because that was requested.
    pub dry_run: bool,
    /// True if nothing was written, because a line is broken.
    pub stopped: bool,
    /// Number of lines, without the header, blank lines and those that the mapping ignores.
    pub lines: u64,
    /// Number of lines that the mapping ignores.
    pub ignored: u64,
    /// Number of new records, one for each new line.
    pub records: u64,
    /// Number of records with their payment.
    pub matched: u64,
    /// Number of records that several payments match.
    pub multiple_matches: u64,
    /// Number of records that no payment matches.
    pub not_matched: u64,
    /// Number of lines that were taken before.
    pub known: u64,
    /// Number of these whose content has changed since. They are not taken again.
    pub changed: u64,
    /// Numbers of the first changed lines.
    pub changed_lines: Vec<u64>,
    /// Number of chargebacks that were made.
    pub chargebacks: u64,
    /// Number of these whose amount was refunded as well.
    pub double_payouts: u64,
    /// Number of reversals of chargebacks that were made.
    pub chargeback_reversals: u64,
    /// Number of matched lines with another amount than their payment.
    pub difference_count: u64,
    /// The first of these lines.
    pub differences: Vec<PaymentDifference>,
    /// Number of broken lines.
    pub broken: u64,
    /// The first broken lines.
    pub errors: Vec<ReportedFault>,
}

/// A matched line with another amount than its payment.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PaymentDifference {
    /// Number of the line.
    pub line: u64,
    /// The record.
    pub record_id: String,
    /// The payment.
    pub payment_id: String,
    /// The amount of the line.
    pub amount: String,
    /// The amount of the payment.
    pub payment_amount: String,
    /// The currency of both.
    pub currency: &'static str,
}

/// A broken line.
#[derive(Debug, Clone, Serialize)]
pub struct ReportedFault {
    /// Number of the line, from 1.
    pub line: u64,
    /// The field at fault, by its name in mappings. Absent if the line as a whole is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field: Option<&'static str>,
    /// The rule that it violates.
    pub message: String,
}

impl ReportedFault {
    /// Describes the fault of a line.
    pub(super) fn new(line: u64, fault: LineFault) -> Self {
        Self { line, field: fault.field.map(|field| field.as_str()), message: fault.message }
    }
}

/// A line that was taken.
#[derive(Debug)]
pub(super) enum TakenResult {
    /// It has a new record.
    New(Box<NewRecord>),
    /// It was taken before. True if its content has changed.
    Known(bool),
}

/// A new record, as far as the summary shows it.
#[derive(Debug)]
pub(super) struct NewRecord {
    pub(super) id: RecordId,
    /// Result of the search. `None` if the line settles no single payment.
    pub(super) status: Option<MatchingStatus>,
    /// True if it made a chargeback.
    pub(super) made_chargeback: bool,
    /// True if it made the reversal of a chargeback.
    pub(super) made_reversal: bool,
    /// True if it made a chargeback of an amount that was refunded as well.
    pub(super) is_double_payout: bool,
    /// The payment with its amount and that of the line, if they differ.
    pub(super) difference: Option<(PaymentId, String, String, &'static str)>,
}

impl ImportSummary {
    /// Adds a broken line.
    pub(super) fn add_fault(&mut self, line: u64, fault: LineFault) {
        self.lines += 1;
        self.broken += 1;
        if self.errors.len() < MAX_LISTED {
            self.errors.push(ReportedFault::new(line, fault));
        }
    }

    /// Adds a line that was taken.
    pub(super) fn add_line(&mut self, line: u64, result: TakenResult) {
        self.lines += 1;
        let record = match result {
            TakenResult::Known(is_changed) => {
                self.known += 1;
                self.changed += u64::from(is_changed);
                if is_changed && self.changed_lines.len() < MAX_LISTED {
                    self.changed_lines.push(line);
                }
                return;
            }
            TakenResult::New(record) => record,
        };
        self.records += 1;
        match record.status {
            Some(MatchingStatus::Matched) => self.matched += 1,
            Some(MatchingStatus::Multiple) => self.multiple_matches += 1,
            Some(MatchingStatus::NotMatched) => self.not_matched += 1,
            None => {}
        }
        self.chargebacks += u64::from(record.made_chargeback);
        self.double_payouts += u64::from(record.is_double_payout);
        self.chargeback_reversals += u64::from(record.made_reversal);
        let Some((payment, amount, payment_amount, currency)) = record.difference else { return };
        self.difference_count += 1;
        if self.differences.len() < MAX_LISTED {
            self.differences.push(PaymentDifference {
                line,
                record_id: record.id.to_string(),
                payment_id: payment.to_string(),
                amount,
                payment_amount,
                currency,
            });
        }
    }
}
