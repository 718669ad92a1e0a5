//! The lines of the entries of a batch.

use tillgate_domain::access::audit::{AuditEntry, CORRECTION, PAYMENT, SETTLED_RECORD};
use tillgate_domain::id::PaymentId;
use tillgate_domain::payment::{Payment, PaymentType};
use tillgate_domain::settlement::SettledEntry;
use tillgate_domain::settlement::ledger::ReferencedPayment;
use tillgate_domain::settlement::reconciliation::SettlementStatus;

use super::{PART, Part, SettlementRun};
use crate::Failure;

/// A payment that is settled, with what its lines depend on.
pub(super) struct SettledPayment {
    payment: Payment,
    /// For a refund or a reversal of any kind, the payment that it refers to.
    referenced: Option<Payment>,
    /// True if the payment was reversed in the same batch, or is the reversal.
    pub(super) is_reversed: bool,
}

impl SettledPayment {
    pub(super) fn as_entry(&self) -> SettledEntry<'_> {
        let referenced = self.referenced.as_ref();
        SettledEntry {
            payment: &self.payment,
            referenced: referenced.map(ReferencedPayment::from),
            chargeback: referenced.filter(|referenced| referenced.payment_type == PaymentType::Chargeback),
            is_reversed: self.is_reversed,
        }
    }
}

impl SettlementRun<'_> {
    /// Prepares the lines of the next entries of the open batch. Returns `None` if none is left.
    pub(super) fn prepare_entries(&mut self) -> Result<Option<Part>, Failure> {
        let Some(ends_at) = self.state.open.as_ref().map(|open| open.ends_at) else { return Ok(None) };
        let mut entries = self.history.load_entity_entries(&self.entity.id, self.state.settled, PART)?;
        entries.retain(|(number, _)| *number <= ends_at);
        let Some((last, _)) = entries.last() else { return Ok(None) };
        let last = *last;
        let mut part = Part::default();
        for (number, entry) in &entries {
            self.settle_entry(&mut part, *number, entry)?;
        }
        self.state.settled = last;
        Ok(Some(part))
    }

    /// Adds the lines of an entry to a part. An entry without a payment has none, and neither has a payment of an
    /// external connector, whose own institute settles it.
    fn settle_entry(&mut self, part: &mut Part, number: i64, entry: &AuditEntry) -> Result<(), Failure> {
        if let Some(wrong) = entry.details.get(SETTLED_RECORD).filter(|_| entry.action == CORRECTION) {
            return self.take_back_record(part, wrong);
        }
        match self.load_settled(entry)? {
            Some(settled) => self.settle_payment(part, number, &settled),
            None => Ok(()),
        }
    }

    /// Adds the line that takes back an earlier one to a part.
    fn take_back_record(&mut self, part: &mut Part, wrong: &str) -> Result<(), Failure> {
        if let Some(wrong) = self.history.load_own_record(&self.entity.id, wrong)? {
            let line = self.with_day(|day, state| day.take_back_line(state, &wrong))?;
            part.add_lines(vec![line]);
        }
        Ok(())
    }

    /// Loads the payment of an entry with what its lines depend on. `None` if it is not settled here.
    pub(super) fn load_settled(&self, entry: &AuditEntry) -> Result<Option<SettledPayment>, Failure> {
        let Some(payment) = self.load_payment(entry)?.filter(|payment| payment.connector.is_none()) else {
            return Ok(None);
        };
        let referenced = match (&payment.referenced, payment.payment_type) {
            (Some(referenced), PaymentType::Reversal | PaymentType::Refund | PaymentType::ChargebackReversal) => {
                self.history.load_payment(&self.entity.id, referenced)?
            }
            _ => None,
        };
        let is_reversed = self.reversed.contains(&payment.id);
        Ok(Some(SettledPayment { payment, referenced, is_reversed }))
    }

    /// Adds the lines of a payment to a part. It is postponed if there is no rate for it.
    pub(super) fn settle_payment(
        &mut self,
        part: &mut Part,
        number: i64,
        settled: &SettledPayment,
    ) -> Result<(), Failure> {
        let (records, lacks_rate) = self.with_day(|day, state| {
            let entry = settled.as_entry();
            (day.settle_entry(state, &entry), day.lacks_rate(&entry))
        })?;
        if lacks_rate || records.iter().any(|record| record.settlement.status == SettlementStatus::Failed) {
            part.postponed.push(number);
        }
        part.add_lines(records);
        Ok(())
    }

    pub(super) fn load_payment(&self, entry: &AuditEntry) -> Result<Option<Payment>, Failure> {
        match PaymentId::parse(&entry.subject).filter(|_| entry.action == PAYMENT) {
            Some(id) => Ok(self.history.load_payment(&self.entity.id, &id)?),
            None => Ok(None),
        }
    }
}
