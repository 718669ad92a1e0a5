//! Correction of bookings that earlier versions made: the reversals and refunds with which the gateway voids a payment
//! took back money that was never booked. An entry of the audit log takes each of them back, and the next batch takes
//! back the lines that had settled them. The migration 49 asks for it, once.

use std::collections::{BTreeMap, HashMap};

use jiff::Timestamp;
use tillgate_domain::access::audit::{AuditEntry, CORRECTION, PAYMENT, SETTLED_RECORD};
use tillgate_domain::id::{EntityId, RecordId};
use tillgate_domain::settlement::ledger::LedgerSums;
use tillgate_domain::settlement::ledger::is_booked;
use tillgate_domain::settlement::reconciliation::{ReconciliationRecord, RecordType, SettlementStatus};

use crate::document::{decode_document, read_document};
use crate::ledger;
use crate::schedule::clock;
use crate::settlement::booking;
use crate::{AdminStore, StoreError};

/// Corrected bookings of an entity in a currency.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CorrectedBookings {
    /// Number of bookings.
    pub bookings: u64,
    /// Number of bookings that a batch had settled. The next batch pays them out or takes them back.
    pub settled: u64,
    /// The change of the receivable, in hundredths.
    pub receivable: i64,
}

/// Corrected bookings by entity and code of the currency.
pub type BookingCorrections = BTreeMap<(EntityId, String), CorrectedBookings>;

/// An entry that booked what voids a payment.
struct WrongEntry {
    number: i64,
    entity: EntityId,
    content: AuditEntry,
}

impl AdminStore {
    /// Corrects the bookings of reversals and refunds of payments that were never booked, all or none. Does nothing
    /// unless the migration has asked for it and it is not done yet.
    pub fn correct_bookings(&self) -> Result<BookingCorrections, StoreError> {
        self.in_transaction(|store| {
            // Deleted in the same transaction, so that the bookings are corrected once.
            let query = "DELETE FROM booking_check RETURNING until";
            let until: Option<i64> = store.session.query_optional(query, (), |row| row.get(0))?;
            let Some(until) = until else { return Ok(BookingCorrections::new()) };
            let mut by_entity: BTreeMap<EntityId, Vec<WrongEntry>> = BTreeMap::new();
            for wrong in store.load_wrong_entries(until)? {
                by_entity.entry(wrong.entity.clone()).or_default().push(wrong);
            }
            let mut corrections = BookingCorrections::new();
            for (entity, wrong) in by_entity {
                let settled = store.find_settled_records(&entity, &wrong)?;
                for entry in &wrong {
                    let record = settled.get(entry.content.subject.as_str());
                    store.write_correction(entry, record)?;
                    count_correction(&mut corrections, entry, record.is_some());
                }
            }
            Ok(corrections)
        })
    }

    /// Loads the entries up to a number that booked what voids a payment.
    fn load_wrong_entries(&self, until: i64) -> Result<Vec<WrongEntry>, StoreError> {
        // Later entries were booked by the corrected rules.
        let query = "SELECT number, entity, document FROM audit_entry
             WHERE number <= ?1 AND json_extract(CAST(document AS TEXT), '$.paymentType') IN ('RV', 'RF')
             ORDER BY number";
        let mut rows = self.session.query(query, [until])?;
        let mut wrong = Vec::new();
        while let Some(row) = rows.next()? {
            let (entity, document): (String, Vec<u8>) = (row.get(1)?, row.get(2)?);
            let content: AuditEntry = decode_document(&document)?;
            let (Some(entity), Some(referenced)) = (EntityId::parse(&entity), &content.referenced) else { continue };
            let has_booked = content.money.values().any(|sums| *sums != LedgerSums::default());
            if content.action != PAYMENT || !has_booked {
                continue;
            }
            let referenced = booking::load_referenced(&*self.session, &entity, referenced)?;
            if !is_booked(referenced) {
                wrong.push(WrongEntry { number: row.get(0)?, entity, content });
            }
        }
        Ok(wrong)
    }

    /// Finds the lines of batches that settled wrong bookings, by the id of the payment.
    fn find_settled_records(
        &self,
        entity: &EntityId,
        wrong: &[WrongEntry],
    ) -> Result<HashMap<String, RecordId>, StoreError> {
        let query = "SELECT document FROM reconciliation_record
             WHERE account = ?1 AND json_extract(CAST(document AS TEXT), '$.payment') IS NOT NULL";
        let mut rows = self.session.query(query, [entity.as_str()])?;
        let mut found = HashMap::new();
        while let Some(row) = rows.next()? {
            let record: ReconciliationRecord = read_document(&row, 0)?;
            let is_settled = record.settlement.status == SettlementStatus::Success;
            if record.record_type != RecordType::Settled || !record.is_simulated() || !is_settled {
                continue;
            }
            if let Some(payment) =
                record.payment.filter(|payment| wrong.iter().any(|entry| entry.content.subject == payment.as_str()))
            {
                found.insert(payment.as_str().to_owned(), record.id);
            }
        }
        Ok(found)
    }

    /// Writes the entry that takes a wrong booking back. `record` had settled it.
    fn write_correction(&self, wrong: &WrongEntry, record: Option<&RecordId>) -> Result<(), StoreError> {
        let now = Timestamp::now();
        let time = now + clock::load_clock_advance(&*self.session, &wrong.entity)?;
        let WrongEntry { content, number, .. } = wrong;
        let opposite = |sums: &LedgerSums| LedgerSums::from_array(sums.to_array().map(i64::wrapping_neg));
        let entry =
            AuditEntry::new(time, CORRECTION, content.subject.as_str()).with_detail("entry", number.to_string());
        let entry = AuditEntry {
            payment_type: content.payment_type,
            referenced: content.referenced.clone(),
            money: content.money.iter().map(|(currency, sums)| (currency.clone(), opposite(sums))).collect(),
            ..entry
        };
        let entry = match record {
            Some(record) => entry.with_detail(SETTLED_RECORD, record.as_str()),
            None => entry,
        };
        ledger::write_entry(&*self.session, Some(&wrong.entity), &entry, now)
    }
}

impl crate::PaymentHistory {
    /// Loads a reconciliation record of an entity's own payments. `None` if it is not stored.
    ///
    /// # Errors
    /// If the store cannot be read, or the record is damaged.
    pub fn load_own_record(&self, entity: &EntityId, id: &str) -> Result<Option<ReconciliationRecord>, StoreError> {
        let query = "SELECT document FROM reconciliation_record WHERE id = ?1 AND account = ?2";
        self.session().query_optional(query, [id, entity.as_str()], |row| read_document(row, 0))
    }
}

/// Counts a correction in each of its currencies.
fn count_correction(corrections: &mut BookingCorrections, wrong: &WrongEntry, is_settled: bool) {
    for (currency, sums) in &wrong.content.money {
        let corrected = corrections.entry((wrong.entity.clone(), currency.clone())).or_default();
        corrected.bookings += 1;
        corrected.settled += u64::from(is_settled);
        corrected.receivable = corrected.receivable.saturating_sub(sums.receivable);
    }
}
