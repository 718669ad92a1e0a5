//! Verifies reconciliation records, batches and reserves against the audit log.

use std::collections::{BTreeMap, BTreeSet};

use jiff::civil::Date;
use tillgate_domain::id::EntityId;
use tillgate_domain::settlement::ledger::LedgerSums;
use tillgate_domain::settlement::reconciliation::{Cashflow, TransactionType};
use tillgate_domain::settlement::{BatchTotals, compute_record_movement};
use tillgate_store::StoreError;
use tillgate_store::read::snapshot::StoreSnapshot;
use tillgate_store::settlement::record_digest::RecordDigest;

use crate::settlement::verification::add_sums;
use crate::settlement::verification::describe_sums;
use crate::settlement::verification::{LedgerMovements, Sums, Verification};

impl Verification {
    /// Compares the settlement lines of an entity, and the reserves of its batches, with the ledger.
    pub(super) fn verify_records(
        &mut self,
        snapshot: &StoreSnapshot,
        entity: &EntityId,
        ledger: &LedgerMovements,
    ) -> Result<(), StoreError> {
        let mut settled = Sums::new();
        let mut totals: BTreeMap<(Date, String), BatchTotals> = BTreeMap::new();
        let mut paid_out: BTreeMap<(Date, String), i64> = BTreeMap::new();
        let mut records = 0;
        snapshot.for_each_record(entity, |record| {
            records += 1;
            if record.is_simulated() {
                let batch = (record.settlement.date, record.settlement.amount.currency().code().to_owned());
                if record.transaction_type == TransactionType::Batch {
                    let sign = if record.settlement.cashflow == Cashflow::Positive { 1 } else { -1 };
                    *paid_out.entry(batch).or_default() += sign * record.settlement.amount.hundredths();
                } else {
                    totals.entry(batch).or_default().count_line(&record);
                }
            }
            compute_record_movement(&record).into_iter().for_each(|(currency, sums)| {
                add_sums(&mut settled, &currency, sums);
            });
        })?;
        self.records += records;
        let mut faults = Vec::new();
        snapshot.for_each_batch(entity, |batch| {
            let name = (batch.day, batch.currency.clone());
            let lines = totals.remove(&name).unwrap_or_default();
            if paid_out.remove(&name) != batch.complete.then(|| batch.totals.net()) {
                let (day, currency) = &name;
                faults.push(format!("the total line of {entity} on {day} in {currency} differs from its batch"));
            }
            let BatchTotals { reserved, released, .. } = batch.totals;
            if batch.totals != (BatchTotals { reserved, released, ..lines }) {
                faults.push(format!(
                    "the batch of {entity} on {} in {} differs from its lines",
                    batch.day, batch.currency
                ));
            }
            let kept = batch.totals.reserved - batch.totals.released;
            add_sums(&mut settled, &batch.currency, LedgerSums { reserve: -kept, cash: kept, ..LedgerSums::default() });
        })?;
        faults.extend(
            totals
                .keys()
                .chain(paid_out.keys())
                .map(|(day, currency)| format!("the batch of {entity} on {day} in {currency} is missing")),
        );
        faults.into_iter().for_each(|fault| self.add_fault(fault));
        self.compare_settled(entity, &settled, &ledger.settled);
        Ok(())
    }
    /// Compares the reconciliation records with the last digest that the audit log has. There is none before the first
    /// record.
    pub(super) fn verify_record_digest(
        &mut self,
        snapshot: &StoreSnapshot,
        bound: Option<&str>,
    ) -> Result<(), StoreError> {
        let computed = snapshot.compute_record_digest()?;
        if computed.to_hex() != bound.map_or_else(|| RecordDigest::default().to_hex(), str::to_owned) {
            self.add_fault("a reconciliation record was changed, added or removed: their digest differs".to_owned());
        }
        Ok(())
    }

    /// Compares the movements of the settlement lines of an entity with those of its ledger.
    fn compare_settled(&mut self, entity: &EntityId, settled: &Sums, ledger: &Sums) {
        let currencies = settled.keys().chain(ledger.keys()).collect::<BTreeSet<_>>();
        for currency in currencies {
            let sums = |of: &Sums| of.get(currency).copied().unwrap_or_default();
            let (lines, entries) = (sums(settled), sums(ledger));
            if lines != entries {
                let (lines, entries) = (describe_sums(lines), describe_sums(entries));
                self.add_fault(format!(
                    "the settlement lines of {entity} in {currency} are {lines}; its ledger has {entries}"
                ));
            }
        }
    }

    /// Compares the reserves that an entity is still to be paid with its ledger.
    pub(super) fn verify_reserves(
        &mut self,
        snapshot: &StoreSnapshot,
        entity: &EntityId,
        ledger: &LedgerMovements,
    ) -> Result<(), StoreError> {
        let mut held: BTreeMap<String, i64> = BTreeMap::new();
        for reserve in snapshot.load_settlement_state(entity)?.into_iter().flat_map(|state| state.reserves) {
            *held.entry(reserve.currency).or_default() += reserve.hundredths;
        }
        for (currency, sums) in &ledger.total {
            let kept = held.remove(currency).unwrap_or_default();
            if kept != -sums.reserve {
                let expected = -sums.reserve;
                self.add_fault(format!("the reserves of {entity} in {currency} are {kept}; its ledger has {expected}"));
            }
        }
        for currency in held.into_keys() {
            self.add_fault(format!("the ledger has no reserves of {entity} in {currency}"));
        }
        Ok(())
    }
}
