//! First lines of a file as an import would read them, for a person who decides about the import.

use jiff::civil::Date;
use tillgate_domain::id::PaymentId;
use tillgate_domain::settlement::file_format::{LineFault, SettlementLine};
use tillgate_domain::settlement::reconciliation::{Cashflow, MatchingStatus, RecordType, TransactionType};
use tillgate_shared::money::Amount;

use super::summary::{NewRecord, TakenResult};

/// Largest number of lines of a preview.
pub const MAX_PREVIEW: usize = 20;

/// A line of a preview.
#[derive(Debug, Clone)]
pub struct PreviewLine {
    /// Number of the line, from 1.
    pub number: u64,
    /// Values of the line. `None` if it is broken.
    pub values: Option<PreviewValues>,
    /// Result that an import would have.
    pub outcome: PreviewOutcome,
}

/// The values of a line that a person recognizes it by.
#[derive(Debug, Clone)]
pub struct PreviewValues {
    /// The kind of record.
    pub record_type: RecordType,
    /// The kind of transaction.
    pub transaction_type: TransactionType,
    /// The direction of the money.
    pub cashflow: Cashflow,
    /// The amount in the currency of the payment.
    pub amount: Amount,
    /// The fee.
    pub fee: Option<Amount>,
    /// The day of the settlement.
    pub date: Date,
    /// The merchant's reference of the payment.
    pub reference: Option<String>,
}

/// Result that an import would have for a line.
#[derive(Debug, Clone)]
pub enum PreviewOutcome {
    /// Matches these payments.
    Matched(Vec<PaymentId>),
    /// Several payments match, so that nobody is chosen.
    Several(Vec<PaymentId>),
    /// No payment matches.
    NotMatched,
    /// Settles no single payment.
    NeedsNone,
    /// Was taken before. True if its content has changed since.
    Known(bool),
    /// Cannot be read.
    Broken {
        /// Field at fault, by its name in mappings. `None` if the line as a whole is.
        field: Option<&'static str>,
        /// Rule that the line violates.
        message: String,
    },
}

impl PreviewLine {
    /// Describes a line before its result is known.
    pub(super) fn from_line(number: u64, line: &SettlementLine) -> Self {
        let values = PreviewValues {
            record_type: line.record_type,
            transaction_type: line.transaction_type,
            cashflow: line.cashflow,
            amount: line.amount,
            fee: line.fee,
            date: line.date,
            reference: line.merchant_transaction_id.clone(),
        };
        Self { number, values: Some(values), outcome: PreviewOutcome::NotMatched }
    }

    /// Describes a broken line.
    pub(super) fn from_fault(number: u64, fault: &LineFault) -> Self {
        let field = fault.field.map(|field| field.as_str());
        let outcome = PreviewOutcome::Broken { field, message: fault.message.clone() };
        Self { number, values: None, outcome }
    }

    /// Sets the result.
    pub(super) fn with_result(self, result: &TakenResult) -> Self {
        let outcome = match result {
            TakenResult::Known(is_changed) => PreviewOutcome::Known(*is_changed),
            TakenResult::New(record) => {
                let NewRecord { status, payments, .. } = record.as_ref();
                match status {
                    Some(MatchingStatus::Matched) => PreviewOutcome::Matched(payments.clone()),
                    Some(MatchingStatus::Multiple) => PreviewOutcome::Several(payments.clone()),
                    Some(MatchingStatus::NotMatched) => PreviewOutcome::NotMatched,
                    None => PreviewOutcome::NeedsNone,
                }
            }
        };
        Self { outcome, ..self }
    }
}
