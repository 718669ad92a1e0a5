//! The lines of a batch: one for each payment, for each fee that no payment's line carries, and for the total.

mod line;

use std::collections::BTreeMap;

use jiff::ToSpan as _;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use rust_decimal::Decimal;
use tillgate_shared::money::{Amount, Currency};

use super::fee::{FeeEvent, FeeRule};
use super::rate::FxRates;
use super::state::{BatchTotals, HeldReserve, SettlementState};
use super::terms::{SettlementTerms, round_amount, to_decimal};
use crate::id::{EntityId, RecordId};
use crate::payment::{Payment, PaymentType};
use crate::settlement::ledger::is_booked;
use crate::settlement::ledger::{LedgerSums, ReferencedPayment};
use crate::settlement::reconciliation::{
    Cashflow, ReconciliationRecord, RecordOwner, RecordType, SettlementPart, SettlementStatus, TransactionType,
};
pub use line::describe_account;

/// A day of an entity whose payments are settled.
pub struct BatchDay<'a> {
    /// The day. The settlement has its date.
    pub day: Date,
    /// The terms.
    pub terms: &'a SettlementTerms,
    /// The rates of exchange.
    pub rates: &'a FxRates,
    /// The entities of the records.
    pub owner: RecordOwner,
    /// The merchant's id at the institute.
    pub institute_merchant: String,
    /// The time zone of the institute.
    pub zone: TimeZone,
    /// Creates the id of the next record.
    pub new_id: &'a mut dyn FnMut() -> RecordId,
}

/// An approved payment in the ledger that is settled.
pub struct SettledEntry<'a> {
    /// The payment.
    pub payment: &'a Payment,
    /// For a reversal or a refund, the payment that it refers to.
    pub referenced: Option<ReferencedPayment>,
    /// For the reversal of a chargeback, the chargeback.
    pub chargeback: Option<&'a Payment>,
    /// True if the payment was reversed in the same batch, or is the reversal. Neither is settled.
    pub is_reversed: bool,
}

impl BatchDay<'_> {
    /// Returns the lines of an entry, and counts them in the open batch and the volumes of a state. There are none for
    /// a payment that was reversed in time, for a preauthorization, and for the reversal of a voided payment, unless
    /// these have fees.
    pub fn settle_entry(&mut self, state: &mut SettlementState, entry: &SettledEntry<'_>) -> Vec<ReconciliationRecord> {
        let payment = entry.payment;
        let mut lines = Vec::new();
        if entry.is_settled()
            && let Some(mut line) = self.payment_line(entry)
        {
            if line.transaction_type == TransactionType::Debit && line.record_type == RecordType::Settled {
                self.charge_line_fee(state, &mut line);
            }
            lines.push(line);
        }
        let event = entry.event();
        if let Some(event) = event.filter(|event| !entry.is_reversed || *event != FeeEvent::Capture) {
            lines.extend(self.event_fee(state, event, payment));
        }
        self.count_lines(state, &lines);
        lines
    }

    /// Returns true if an entry has something to settle and there is no rate of exchange for it.
    pub fn lacks_rate(&self, entry: &SettledEntry<'_>) -> bool {
        let payment = entry.payment;
        let currency = payment.amount.currency();
        let has_fee =
            entry.event().is_some_and(|event| self.find_rule(event, Some(&payment.brand), currency).is_some());
        let moves_money = payment.payment_type != PaymentType::Preauthorization && is_booked(entry.referenced);
        (moves_money || has_fee) && !entry.is_reversed && self.convert_amount(payment.amount).is_none()
    }

    /// Converts an amount of a payment to its settlement currency. Returns the rate, too. `None` if there is no rate.
    fn convert_amount(&self, amount: Amount) -> Option<(Amount, Decimal)> {
        let from = amount.currency();
        let to = self.terms.settlement_currency(from);
        let rate = self.rates.find_rate(from, to, self.day)?;
        Some((round_amount(to_decimal(amount).checked_mul(rate)?, to)?, rate))
    }

    /// Returns the line that takes back a line of an earlier batch, with the same amounts, and counts it in the open
    /// batch of a state.
    pub fn take_back_line(
        &mut self,
        state: &mut SettlementState,
        wrong: &ReconciliationRecord,
    ) -> ReconciliationRecord {
        let cashflow = match wrong.settlement.cashflow {
            Cashflow::Positive => Cashflow::Negative,
            Cashflow::Negative => Cashflow::Positive,
        };
        let id = settlement_id(self.day, wrong.settlement.amount.currency(), &self.owner.account);
        let settlement = SettlementPart { id, cashflow, date: self.day, fee: None, ..wrong.settlement.clone() };
        let line = ReconciliationRecord { id: (self.new_id)(), owner: self.owner.clone(), settlement, ..wrong.clone() };
        self.count_lines(state, std::slice::from_ref(&line));
        line
    }

    /// Returns the lines of the fees for a month. They are counted like others.
    pub fn settle_month(&mut self, state: &mut SettlementState) -> Vec<ReconciliationRecord> {
        let mut lines = Vec::new();
        let terms = self.terms;
        for rule in terms.fee.iter().filter(|rule| FeeEvent::PERIODIC.contains(&rule.on)) {
            let code = self.terms.currency.as_deref().or(rule.currency.as_deref());
            let (Some(currency), Some(fixed)) = (code.and_then(Currency::parse), rule.fixed) else { continue };
            let (Some(fee), Some(kind)) = (round_amount(fixed, currency), rule.on.transaction_type()) else { continue };
            lines.push(self.fee_line(kind, fee));
        }
        self.count_lines(state, &lines);
        lines
    }

    /// Keeps the reserve of the open batch, pays out earlier ones, and returns the lines with the totals and the
    /// movements of the reserves.
    pub fn close_batch(
        &mut self,
        state: &mut SettlementState,
    ) -> (Vec<ReconciliationRecord>, BTreeMap<String, LedgerSums>) {
        let mut totals = state.open.as_ref().map(|open| open.totals.clone()).unwrap_or_default();
        for due in state.reserves.iter().filter(|reserve| reserve.until <= self.day) {
            totals.entry(due.currency.clone()).or_default();
        }
        let (mut lines, mut money) = (Vec::new(), BTreeMap::new());
        for (code, total) in &mut totals {
            let Some(currency) = Currency::parse(code) else { continue };
            total.released = state.release_reserves(code, self.day);
            total.reserved = self.keep_reserve(state, currency, total.charged);
            let kept = total.reserved - total.released;
            if kept != 0 {
                money.insert(code.clone(), LedgerSums { reserve: -kept, cash: kept, ..LedgerSums::default() });
            }
            lines.extend(self.total_line(currency, total));
        }
        if let Some(open) = &mut state.open {
            open.totals = totals;
        }
        (lines, money)
    }

    /// Adds the reserve of a batch to the state, and returns its amount.
    fn keep_reserve(&self, state: &mut SettlementState, currency: Currency, charged: i64) -> i64 {
        let Some(reserve) = &self.terms.reserve else { return 0 };
        let part = Decimal::new(charged, 2) * reserve.percent / Decimal::ONE_HUNDRED;
        let hundredths = round_amount(part, currency).map_or(0, |amount| amount.hundredths());
        if hundredths > 0 {
            let until = self.day.saturating_add(i64::from(reserve.days).days());
            state.reserves.push(HeldReserve { until, currency: currency.code().to_owned(), hundredths });
        }
        hundredths
    }

    /// Adds the fee of the first rule for charges that fits, and adds the amount to the rule's volume.
    fn charge_line_fee(&self, state: &mut SettlementState, line: &mut ReconciliationRecord) {
        if line.settlement.status == SettlementStatus::Failed {
            return;
        }
        let brand = line.brand.as_deref();
        let Some(rule) = self.find_rule(FeeEvent::Charge, brand, line.amount.currency()) else { return };
        let volume = state.volumes.entry(rule.volume_name(line.settlement.amount.currency())).or_default();
        line.settlement.fee = rule.compute_fee(line.settlement.amount, *volume);
        *volume = volume.saturating_add(line.settlement.amount.hundredths());
    }

    /// Returns the line of the fee for an event of a payment, if there is one.
    fn event_fee(
        &mut self,
        state: &mut SettlementState,
        event: FeeEvent,
        payment: &Payment,
    ) -> Option<ReconciliationRecord> {
        let rule = self.find_rule(event, Some(&payment.brand), payment.amount.currency())?;
        let (settled, _) = self.convert_amount(payment.amount)?;
        let volume = state.volumes.entry(rule.volume_name(settled.currency())).or_default();
        let fee = rule.compute_fee(settled, *volume);
        *volume = volume.saturating_add(settled.hundredths());
        let fee = fee.filter(|fee| !fee.is_zero())?;
        let mut line = self.fee_line(event.transaction_type()?, fee);
        self.describe_payment(&mut line, payment);
        Some(line)
    }

    /// Returns the first rule for an event of a payment.
    fn find_rule(&self, on: FeeEvent, brand: Option<&str>, currency: Currency) -> Option<&FeeRule> {
        self.terms.fee.iter().find(|rule| rule.applies_to(on, brand, currency))
    }

    /// Returns the line of a fee without a payment.
    fn fee_line(&mut self, kind: TransactionType, fee: Amount) -> ReconciliationRecord {
        self.new_line(RecordType::Fee, kind, Cashflow::Negative, fee)
    }

    /// Adds lines to the totals of the open batch.
    fn count_lines(&self, state: &mut SettlementState, lines: &[ReconciliationRecord]) {
        let Some(open) = &mut state.open else { return };
        for line in lines {
            let code = line.settlement.amount.currency().code();
            open.totals.entry(code.to_owned()).or_default().count_line(line);
        }
    }
}

impl SettledEntry<'_> {
    /// Returns true if the money of the payment is settled.
    fn is_settled(&self) -> bool {
        !self.is_reversed && is_booked(self.referenced)
    }

    /// Returns the event of the payment that may have a fee of its own. A charge has its fee on the payment's line. A
    /// refund with which the gateway voids a payment is charged as the reversal that it replaces.
    fn event(&self) -> Option<FeeEvent> {
        match self.payment.payment_type {
            PaymentType::Preauthorization => Some(FeeEvent::Authorization),
            PaymentType::Capture => Some(FeeEvent::Capture),
            PaymentType::Refund if is_booked(self.referenced) => Some(FeeEvent::Refund),
            PaymentType::Refund | PaymentType::Reversal => Some(FeeEvent::Cancel),
            _ => None,
        }
    }
}

/// Returns the id of the settlement of a day, currency and account.
pub fn settlement_id(day: Date, currency: Currency, account: &EntityId) -> String {
    format!("{}-{currency}-{account}", day.strftime("%Y%m%d"))
}

impl BatchTotals {
    /// Counts a line that is not a total.
    pub fn count_line(&mut self, line: &ReconciliationRecord) {
        if line.settlement.status == SettlementStatus::Failed {
            self.failed += 1;
            return;
        }
        self.lines += 1;
        let amount = line.settlement.amount.hundredths();
        let is_positive = line.settlement.cashflow == Cashflow::Positive;
        match (line.record_type, line.transaction_type) {
            (RecordType::Fee, _) => self.fees += amount,
            (RecordType::Chargeback, _) => self.charged_back += amount,
            (RecordType::ChargebackReversal, _) => self.chargebacks_reversed += amount,
            (_, TransactionType::Credit) if is_positive => self.credited -= amount,
            (_, TransactionType::Credit) => self.credited += amount,
            (_, TransactionType::Refund) if is_positive => self.refunded -= amount,
            (_, TransactionType::Refund) => self.refunded += amount,
            _ => self.charged += amount,
        }
        self.fees += line.settlement.fee.map_or(0, |fee| fee.hundredths());
    }
}

/// Returns the movements of a line by the code of the currency. There are none for totals, for lines that failed, and
/// for lines whose payment is not found.
pub fn compute_record_movement(line: &ReconciliationRecord) -> BTreeMap<String, LedgerSums> {
    let mut money = BTreeMap::new();
    let has_failed = line.settlement.status == SettlementStatus::Failed;
    if has_failed || line.is_unmatched() || line.transaction_type == TransactionType::Batch {
        return money;
    }
    let mut add = |currency: Currency, sums: LedgerSums| {
        let sum: &mut LedgerSums = money.entry(currency.code().to_owned()).or_default();
        *sum = sum.checked_add(sums).unwrap_or(*sum);
    };
    if line.record_type != RecordType::Fee {
        let sign = if line.settlement.cashflow == Cashflow::Positive { -1 } else { 1 };
        add(line.amount.currency(), LedgerSums::for_receivable(sign * line.amount.hundredths()));
    }
    if let Some(fee) = line.fee() {
        let hundredths = fee.hundredths();
        add(fee.currency(), LedgerSums { fees: -hundredths, cash: hundredths, ..LedgerSums::default() });
    }
    money
}
