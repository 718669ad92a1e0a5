//! Payments that could not be settled for want of a rate of exchange, and payments that were reversed before they were
//! settled.

use std::collections::HashSet;

use tillgate_domain::access::audit::AuditEntry;
use tillgate_domain::id::PaymentId;
use tillgate_domain::payment::PaymentType;
use tillgate_shared::money::Currency;

use super::{PART, Part, SettlementRun};
use crate::Failure;

impl SettlementRun<'_> {
    /// Finds the payments of the open batch that were reversed within it. Both they and their reversals are left out.
    pub(super) fn find_reversed(&mut self) -> Result<(), Failure> {
        self.reversed.clear();
        let Some((begins_after, ends_at)) = self.state.open.as_ref().map(|open| (open.begins_after, open.ends_at))
        else {
            return Ok(());
        };
        let mut reversals = Vec::new();
        self.for_each_entry(begins_after, ends_at, |_, entry| {
            if entry.payment_type == Some(PaymentType::Reversal)
                && let (Some(reversal), Some(reversed)) = (PaymentId::parse(&entry.subject), entry.referenced)
            {
                reversals.push((reversed, reversal));
            }
        })?;
        if reversals.is_empty() {
            return Ok(());
        }
        let mut unsettled: HashSet<String> = HashSet::new();
        let reversed: HashSet<String> = reversals.iter().map(|(reversed, _)| reversed.as_str().to_owned()).collect();
        self.for_each_entry(begins_after, ends_at, |_, entry| {
            if reversed.contains(&entry.subject) {
                unsettled.insert(entry.subject);
            }
        })?;
        self.for_each_postponed(|_, entry| {
            if reversed.contains(&entry.subject) {
                unsettled.insert(entry.subject);
            }
            Ok(())
        })?;
        for (reversed, reversal) in reversals {
            if unsettled.contains(reversed.as_str()) {
                self.reversed.extend([reversed, reversal]);
            }
        }
        Ok(())
    }

    /// Returns the currencies of the postponed entries.
    pub(super) fn load_postponed_currencies(&mut self) -> Result<HashSet<Currency>, Failure> {
        if let Some(known) = &self.postponed {
            return Ok(known.clone());
        }
        let mut currencies = HashSet::new();
        self.for_each_postponed(|_, entry| {
            currencies.extend(self.load_payment(&entry)?.map(|payment| payment.amount.currency()));
            Ok(())
        })?;
        self.postponed = Some(currencies.clone());
        Ok(currencies)
    }

    /// Calls a function with the number and the content of each postponed entry.
    fn for_each_postponed(&self, mut visit: impl FnMut(i64, AuditEntry) -> Result<(), Failure>) -> Result<(), Failure> {
        let mut after = 0;
        loop {
            let page = self.gateway.store.load_postponed_entries(&self.entity.id, after)?;
            let Some(last) = page.last().copied() else { return Ok(()) };
            after = last;
            for number in page {
                if let Some(entry) = self.load_entry(number)? {
                    visit(number, entry)?;
                }
            }
        }
    }

    /// Prepares the next lines that failed in an earlier batch. Entries whose currency still has no rate stay
    /// postponed, without a further line. Returns `None` if none is left.
    pub(super) fn prepare_postponed(&mut self) -> Result<Option<Part>, Failure> {
        let Some(open) = &self.state.open else { return Ok(None) };
        let begins_after = open.begins_after;
        let mut numbers = self.gateway.store.load_postponed_entries(&self.entity.id, open.resumed)?;
        numbers.retain(|number| *number <= begins_after);
        numbers.truncate(usize::from(PART));
        let Some(last) = numbers.last().copied() else { return Ok(None) };
        let mut part = Part::default();
        for number in numbers {
            let Some(entry) = self.load_entry(number)? else { continue };
            let Some(settled) = self.load_settled(&entry)? else { continue };
            if self.with_day(|day, _| day.lacks_rate(&settled.as_entry()))? {
                continue;
            }
            self.settle_payment(&mut part, number, &settled)?;
            // Until the batch is complete, the row of a reversed payment shows that it was not settled: its reversal
            // may be in a later part.
            if !settled.is_reversed && part.postponed.last() != Some(&number) {
                part.resumed.push(number);
            }
        }
        if let Some(open) = &mut self.state.open {
            open.resumed = last;
        }
        Ok(Some(part))
    }

    /// Returns the postponed entries whose payments were reversed in the open batch.
    pub(super) fn find_reversed_postponed(&self) -> Result<Vec<i64>, Failure> {
        let mut found = Vec::new();
        if self.reversed.is_empty() {
            return Ok(found);
        }
        self.for_each_postponed(|number, entry| {
            let payment = PaymentId::parse(&entry.subject);
            found.extend(payment.filter(|payment| self.reversed.contains(payment)).map(|_| number));
            Ok(())
        })?;
        Ok(found)
    }
}
