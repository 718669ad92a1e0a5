//! Rules of matching: the payments that a line may settle.

use crate::payment::{Payment, PaymentType};
use crate::settlement::reconciliation::{
    Cashflow, ReconciliationRecord, RecordType, SettlementStatus, TransactionType,
};

/// Effect of a matched line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineEffect {
    /// It settles a payment.
    Settle,
    /// It charges a payment back.
    ChargeBack,
    /// It reverses a chargeback.
    ReverseChargeback,
    /// It only belongs to a payment: a fee, or a line that the institute refused.
    Describe,
}

impl LineEffect {
    /// Returns the effect of the line of a record.
    pub fn of_record(record: &ReconciliationRecord) -> Self {
        match record.record_type {
            _ if record.settlement.status == SettlementStatus::Failed => Self::Describe,
            RecordType::Settled => Self::Settle,
            RecordType::Chargeback => Self::ChargeBack,
            RecordType::ChargebackReversal => Self::ReverseChargeback,
            RecordType::Fee => Self::Describe,
        }
    }
}

/// Returns true if institutes settle a payment: it is approved, and its connector is outside of this process. The
/// gateway itself settles the others.
pub fn is_settled_by_institute(payment: &Payment) -> bool {
    payment.is_approved() && payment.connector.is_some()
}

/// Returns true if a line is about payments of a type. `referenced` is the type of the payment that a reversal refers
/// to.
pub fn fits_type(record: &ReconciliationRecord, payment: PaymentType, referenced: Option<PaymentType>) -> bool {
    use PaymentType::{
        Capture, Chargeback, ChargebackReversal, Credit, Debit, Preauthorization, Refund, Reversal, TwoStepDebit,
    };
    let is_charge = matches!(payment, Debit | TwoStepDebit | Capture);
    match (record.record_type, record.transaction_type, record.settlement.cashflow) {
        (RecordType::Settled, TransactionType::Debit, _) => is_charge,
        (RecordType::Settled, TransactionType::Refund, _) => {
            payment == Refund || (payment == Reversal && matches!(referenced, Some(Debit | TwoStepDebit)))
        }
        (RecordType::Settled, TransactionType::Credit, Cashflow::Negative) => payment == Credit,
        (RecordType::Settled, TransactionType::Credit, Cashflow::Positive) => {
            payment == Reversal && referenced == Some(Credit)
        }
        // The search leads from a chargeback to the payment that was charged back.
        (RecordType::Chargeback, ..) => is_charge || payment == Chargeback,
        (RecordType::ChargebackReversal, ..) => is_charge || matches!(payment, Chargeback | ChargebackReversal),
        (RecordType::Fee, TransactionType::AuthFee, _) => payment == Preauthorization || is_charge,
        (RecordType::Fee, TransactionType::CaptureFee, _) => is_charge,
        (RecordType::Fee, TransactionType::CancelFee, _) => payment == Reversal,
        (RecordType::Fee, TransactionType::RefundFee, _) => payment == Refund,
        (RecordType::Fee, ..) => true,
        (RecordType::Settled, ..) => false,
    }
}
