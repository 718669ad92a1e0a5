//! Reconciliation records of lines: as the line has them, and with the payment that the line settles.

use jiff::civil::DateTime;

use crate::id::{EntityId, PaymentId, RecordId};
use crate::payment::Payment;
use crate::settlement::file_format::line::SettlementLine;
use crate::settlement::reconciliation::{
    ImportedLine, InstituteReference, MatchedPayments, MatchingStatus, ReconciliationRecord, RecordAccount,
    RecordOwner, RecordType, SettlementPart, TransactionType,
};
use crate::settlement::{describe_account, settlement_id};

/// Data that all lines of a file share.
#[derive(Debug, Clone)]
pub struct ImportContext {
    /// Name of the institute.
    pub institute: String,
    /// Name of the format.
    pub format: String,
    /// SHA-256 of the file, in hexadecimal digits.
    pub file: String,
    /// The entity for which the file is imported.
    pub entity: EntityId,
    /// The merchant id of this entity at the acquirer, for lines without one.
    pub institute_merchant: String,
    /// The owner of lines without a payment: that entity.
    pub owner: RecordOwner,
    /// The time at which the file is read.
    pub read_at: DateTime,
}

impl SettlementLine {
    /// Returns the record of the line before the search for its payment. `number` is the number of the line.
    pub fn into_record(self, id: RecordId, number: u64, context: &ImportContext) -> ReconciliationRecord {
        let matching =
            self.needs_payment().then(|| MatchedPayments { status: MatchingStatus::NotMatched, payments: Vec::new() });
        let merchants = [&self.institute_merchant, &self.merchant, &self.merchant_account];
        let merchants = merchants.into_iter().flatten().cloned().collect();
        let import = ImportedLine {
            file: context.file.clone(),
            line: number,
            entity: context.entity.clone(),
            reference: self.reference,
            payment: self.payment,
            merchant_transaction_id: self.merchant_transaction_id.clone(),
            merchants,
            scheme_reason: self.scheme_reason,
            value_date: self.value_date,
            rejected: None,
        };
        let batch =
            self.batch.unwrap_or_else(|| settlement_id(self.date, self.settled.currency(), &context.owner.account));
        ReconciliationRecord {
            id,
            record_type: self.record_type,
            transaction_type: self.transaction_type,
            institute: InstituteReference {
                name: context.institute.clone(),
                merchant_id: self.institute_merchant.unwrap_or_else(|| context.institute_merchant.clone()),
                tx_ids: self.connector_ids,
            },
            owner: context.owner.clone(),
            settlement: SettlementPart {
                id: batch,
                cashflow: self.cashflow,
                amount: self.settled,
                fee: self.fee,
                exact_fee: self.exact_fee,
                fx_rate: self.fx_rate,
                date: self.date,
                status: self.status,
                format: context.format.clone(),
            },
            payment: None,
            merchant_transaction_id: self.merchant_transaction_id,
            merchant_invoice_id: None,
            amount: self.amount,
            brand: self.brand,
            presented: Some(self.presented.unwrap_or(context.read_at)),
            descriptor: self.descriptor,
            account: self.account,
            reason: self.reason,
            matching,
            chargeback: None,
            import: Some(import),
        }
    }

    /// Returns true if the line settles a payment. A total settles none, and a fee only if it names one.
    fn needs_payment(&self) -> bool {
        let names_payment = self.payment.is_some()
            || self.merchant_transaction_id.is_some()
            || self.connector_ids.iter().any(Option::is_some);
        match (self.record_type, self.transaction_type) {
            (_, TransactionType::Batch) => false,
            (RecordType::Fee, _) => names_payment,
            _ => true,
        }
    }
}

impl ReconciliationRecord {
    /// Returns the record with the payments that its line settles, of which `first` is one, and their owner. Values
    /// that the line lacks are those of the payment.
    pub fn with_matched_payment(self, owner: RecordOwner, first: &Payment, payments: Vec<PaymentId>) -> Self {
        let is_single = payments.len() <= 1;
        let mut institute = self.institute;
        // Without a merchant id in its file, the institute knows the merchant of the payment by its own.
        if self.import.as_ref().is_some_and(|import| import.entity.as_str() == institute.merchant_id) {
            first.acquirer_merchant_id().clone_into(&mut institute.merchant_id);
        }
        if institute.tx_ids.iter().all(Option::is_none) {
            institute.tx_ids = first.connector_tx_ids.to_array();
        }
        let single = Some(first).filter(|_| is_single);
        Self {
            institute,
            owner,
            payment: single.map(|payment| payment.id.clone()),
            merchant_transaction_id: single
                .and_then(|payment| payment.merchant_transaction_id().map(str::to_owned))
                .or(self.merchant_transaction_id),
            merchant_invoice_id: single
                .and_then(|payment| payment.parameters.get("merchantInvoiceId").map(str::to_owned)),
            brand: self.brand.or_else(|| Some(first.brand.clone())),
            descriptor: self.descriptor.or_else(|| Some(first.descriptor.clone())),
            account: merge_accounts(self.account, describe_account(&first.account)),
            matching: Some(MatchedPayments { status: MatchingStatus::Matched, payments }),
            ..self
        }
    }

    /// Returns the record with several payments that its line may settle.
    pub fn with_candidates(self, payments: Vec<PaymentId>) -> Self {
        Self { matching: Some(MatchedPayments { status: MatchingStatus::Multiple, payments }), ..self }
    }
}

/// Returns the account of a line, with those of the payment's values that the line lacks.
fn merge_accounts(line: RecordAccount, payment: RecordAccount) -> RecordAccount {
    RecordAccount {
        is_bank: line.is_bank || payment.is_bank,
        last4: line.last4.or(payment.last4),
        holder: line.holder.or(payment.holder),
        bank_code: line.bank_code.or(payment.bank_code),
    }
}
