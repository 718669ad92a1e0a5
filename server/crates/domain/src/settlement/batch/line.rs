//! The content of a line: the kind of record, the payment, the account, and the amounts at the rate of the day.

use rust_decimal::Decimal;
use tillgate_shared::money::{Amount, Currency};

use super::{BatchDay, SettledEntry, settlement_id};
use crate::id::PaymentId;
use crate::payment::{Account, Payment, PaymentType};
use crate::settlement::reconciliation::{
    Cashflow, ChargebackReason, InstituteReference, MatchedPayments, MatchingStatus, ReconciliationRecord,
    RecordAccount, RecordType, SIMULATED_FORMAT, SettlementPart, SettlementStatus, TransactionType,
};
use crate::settlement::state::BatchTotals;

/// Name of the sandbox's clearing institute.
const INSTITUTE: &str = "Tillgate sandbox";

impl BatchDay<'_> {
    /// Returns the line of a payment without its fee. `None` if it moves no money.
    pub(super) fn payment_line(&mut self, entry: &SettledEntry<'_>) -> Option<ReconciliationRecord> {
        let payment = entry.payment;
        let referenced = entry.referenced.map(|referenced| referenced.payment_type);
        let cashflow = match payment.payment_type.money_sign(referenced) {
            0 => return None,
            sign if sign < 0 => Cashflow::Negative,
            _ => Cashflow::Positive,
        };
        let (record_type, transaction_type) = match (payment.payment_type, cashflow) {
            (PaymentType::Chargeback, _) => (RecordType::Chargeback, TransactionType::Debit),
            (PaymentType::ChargebackReversal, _) => (RecordType::ChargebackReversal, TransactionType::Debit),
            // A reversal returns the money of a charge, or takes back that of a credit.
            (PaymentType::Refund, _) | (PaymentType::Reversal, Cashflow::Negative) => {
                (RecordType::Settled, TransactionType::Refund)
            }
            (PaymentType::Credit, _) | (PaymentType::Reversal, Cashflow::Positive) => {
                (RecordType::Settled, TransactionType::Credit)
            }
            _ => (RecordType::Settled, TransactionType::Debit),
        };
        let mut line = self.new_line(record_type, transaction_type, cashflow, payment.amount);
        self.describe_payment(&mut line, payment);
        if payment.payment_type == PaymentType::ChargebackReversal {
            describe_reversed_chargeback(&mut line, entry.chargeback?);
        }
        Some(line)
    }

    /// Adds the payment's data to a line. A chargeback names the payment that was charged back, and itself apart.
    pub(super) fn describe_payment(&self, line: &mut ReconciliationRecord, payment: &Payment) {
        let is_chargeback = line.record_type != RecordType::Settled && line.record_type != RecordType::Fee;
        let settled: PaymentId = match (&payment.referenced, is_chargeback) {
            (Some(referenced), true) => referenced.clone(),
            _ => payment.id.clone(),
        };
        line.chargeback = is_chargeback.then(|| payment.id.clone());
        line.reason = is_chargeback.then_some(ChargebackReason { code: payment.result, text: None });
        line.matching = Some(MatchedPayments { status: MatchingStatus::Matched, payments: vec![settled.clone()] });
        line.payment = Some(settled);
        line.merchant_transaction_id = payment.merchant_transaction_id().map(str::to_owned);
        line.merchant_invoice_id = payment.parameters.get("merchantInvoiceId").map(str::to_owned);
        line.brand = Some(payment.brand.clone());
        let created = self.zone.to_datetime(payment.created);
        line.presented = created.with().subsec_nanosecond(0).build().ok();
        line.descriptor = Some(payment.descriptor.clone());
        line.account = describe_account(&payment.account);
        line.institute.tx_ids = payment.connector_tx_ids.to_array();
    }

    /// Returns the line with the total of a batch. `None` if the amount cannot be told.
    pub(super) fn total_line(&mut self, currency: Currency, total: &BatchTotals) -> Option<ReconciliationRecord> {
        let net = total.net();
        let amount = Amount::from_hundredths(net.checked_abs()?, currency)?;
        let cashflow = if net < 0 { Cashflow::Negative } else { Cashflow::Positive };
        let mut line = self.new_line(RecordType::Settled, TransactionType::Batch, cashflow, amount);
        line.settlement.fee = Amount::from_hundredths(total.fees, currency);
        Some(line)
    }

    /// Returns a line without a payment. It has failed, with an amount of 0, if there is no rate for its currency.
    pub(super) fn new_line(
        &mut self,
        record_type: RecordType,
        transaction_type: TransactionType,
        cashflow: Cashflow,
        amount: Amount,
    ) -> ReconciliationRecord {
        // Fees and totals are in the settlement's currency already.
        let is_converted = record_type == RecordType::Fee || transaction_type == TransactionType::Batch;
        let from = amount.currency();
        let to = if is_converted { from } else { self.terms.settlement_currency(from) };
        let converted = if is_converted { Some((amount, Decimal::ONE)) } else { self.convert_amount(amount) };
        let settled = converted.map(|(settled, rate)| (settled, rate, SettlementStatus::Success));
        let failed = || Some((Amount::from_hundredths(0, to)?, Decimal::ZERO, SettlementStatus::Failed));
        let (settled, fx_rate, status) =
            settled.or_else(failed).unwrap_or((amount, Decimal::ZERO, SettlementStatus::Failed));
        ReconciliationRecord {
            id: (self.new_id)(),
            record_type,
            transaction_type,
            institute: InstituteReference {
                name: INSTITUTE.to_owned(),
                merchant_id: self.institute_merchant.clone(),
                tx_ids: [None, None, None],
            },
            owner: self.owner.clone(),
            settlement: SettlementPart {
                id: settlement_id(self.day, to, &self.owner.account),
                cashflow,
                amount: settled,
                fee: None,
                exact_fee: None,
                fx_rate,
                date: self.day,
                status,
                format: SIMULATED_FORMAT.to_owned(),
            },
            payment: None,
            merchant_transaction_id: None,
            merchant_invoice_id: None,
            amount,
            brand: None,
            presented: None,
            descriptor: None,
            account: RecordAccount::default(),
            reason: None,
            matching: None,
            chargeback: None,
            import: None,
        }
    }
}

/// Names the payment that was charged back, its chargeback and the reason in the line of a reversal.
fn describe_reversed_chargeback(line: &mut ReconciliationRecord, chargeback: &Payment) {
    let charged = chargeback.referenced.clone().unwrap_or_else(|| chargeback.id.clone());
    line.chargeback = Some(chargeback.id.clone());
    line.reason = Some(ChargebackReason { code: chargeback.result, text: None });
    line.matching = Some(MatchedPayments { status: MatchingStatus::Matched, payments: vec![charged.clone()] });
    line.payment = Some(charged);
}

/// Returns the part of an account that a record shows.
pub fn describe_account(account: &Account) -> RecordAccount {
    match account {
        Account::Card(card) => RecordAccount {
            is_bank: false,
            last4: Some(card.last4.clone()),
            holder: card.holder.clone(),
            bank_code: None,
        },
        Account::Bank(bank) => RecordAccount {
            is_bank: true,
            last4: bank.last4.clone(),
            holder: bank.holder.clone(),
            bank_code: bank.bank_code.clone(),
        },
        Account::Virtual(_) | Account::Unknown => RecordAccount::default(),
    }
}
