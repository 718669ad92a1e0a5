//! Unmatched settlement lines as rows, and the decisions about them.

use std::collections::BTreeMap;

use jiff::Timestamp;
use tillgate_domain::access::audit::AuditEntry;
use tillgate_domain::id::RecordId;
use tillgate_domain::settlement::ledger::LedgerSums;
use tillgate_domain::settlement::reconciliation::ReconciliationRecord;
use tillgate_engine::{Session, params};

use crate::admin::Act;
use crate::document::{decode_document, read_document};
use crate::ledger;
use crate::settlement::file::{EntityScope, SettledParts};
use crate::settlement::reconciliation;
use crate::{AdminStore, Store, StoreError};

/// Loads the first unmatched records after a record, in the order of their ids.
fn load_queue(
    session: &dyn Session,
    entities: Option<&EntityScope>,
    after: Option<&RecordId>,
    limit: usize,
) -> Result<Vec<ReconciliationRecord>, StoreError> {
    let query = "SELECT document FROM settlement_unmatched AS unmatched
         JOIN reconciliation_record AS line ON line.id = unmatched.record
         WHERE (CAST(?1 AS TEXT) IS NULL OR unmatched.entity IN (SELECT value FROM json_each(?1))) AND unmatched.record > ?2
         ORDER BY unmatched.record LIMIT ?3";
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let after = after.map_or("", RecordId::as_str);
    let mut rows = session.query(query, params![entities.map(EntityScope::as_json), after, limit])?;
    let mut records = Vec::new();
    while let Some(row) = rows.next()? {
        records.push(read_document(&row, 0)?);
    }
    Ok(records)
}

/// Loads a record by id.
fn load_by_id(session: &dyn Session, id: &RecordId) -> Result<Option<ReconciliationRecord>, StoreError> {
    let query = "SELECT document FROM reconciliation_record WHERE id = ?1";
    let document: Option<Vec<u8>> = session.query_optional(query, [id.as_str()], |row| row.get(0))?;
    Ok(document.map(|document| decode_document(&document)).transpose()?)
}

impl Store {
    /// Loads the first unmatched records after a record, in the order of their ids. `entities` are those for which the
    /// files were imported; without one there is none.
    ///
    /// # Errors
    /// If the store cannot be read, or a record is damaged.
    pub fn load_unmatched_page(
        &self,
        entities: &EntityScope,
        after: Option<&RecordId>,
        limit: usize,
    ) -> Result<Vec<ReconciliationRecord>, StoreError> {
        self.run_read(|session| load_queue(session, Some(entities), after, limit))
    }

    /// Counts the unmatched records of some entities from a record to another one, at most `limit`.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn count_unmatched(
        &self,
        entities: &EntityScope,
        (from, until): (Option<&RecordId>, Option<&RecordId>),
        limit: u32,
    ) -> Result<u64, StoreError> {
        let query = "SELECT count(*) FROM (SELECT 1 FROM settlement_unmatched
             WHERE entity IN (SELECT value FROM json_each(?1)) AND record >= ?2
                 AND (CAST(?3 AS TEXT) IS NULL OR record < ?3) LIMIT ?4) AS found";
        self.run_read(|session| {
            let (from, until) = (from.map_or("", RecordId::as_str), until.map(RecordId::as_str));
            let count: i64 =
                session.query_one(query, params![entities.as_json(), from, until, limit], |row| row.get(0))?;
            Ok(u64::try_from(count).unwrap_or_default())
        })
    }

    /// Loads a record by id.
    ///
    /// # Errors
    /// If the store cannot be read, or the record is damaged.
    pub fn load_record(&self, id: &RecordId) -> Result<Option<ReconciliationRecord>, StoreError> {
        self.run_read(|session| load_by_id(session, id))
    }
}

impl AdminStore {
    /// Loads a record by id.
    ///
    /// # Errors
    /// If the store cannot be read, or the record is damaged.
    pub fn load_record(&self, id: &RecordId) -> Result<Option<ReconciliationRecord>, StoreError> {
        load_by_id(&*self.session, id)
    }

    /// Loads the first unmatched records after a record, in the order of their ids. `entities` are those for which
    /// the files were imported; all without it.
    ///
    /// # Errors
    /// If the store cannot be read, or a record is damaged.
    pub fn load_unmatched_records(
        &self,
        entities: Option<&EntityScope>,
        after: Option<&RecordId>,
        limit: usize,
    ) -> Result<Vec<ReconciliationRecord>, StoreError> {
        load_queue(&*self.session, entities, after, limit)
    }

    /// Writes the match of a record, removes it from the unmatched lines, and moves the money of its line. Belongs into
    /// a transaction.
    pub fn save_match(
        &self,
        record: &ReconciliationRecord,
        parts: &SettledParts,
        time: Timestamp,
        money: BTreeMap<String, LedgerSums>,
    ) -> Result<(), StoreError> {
        // The record comes before the entry below, which binds its digest.
        reconciliation::write_record(&*self.session, record)?;
        self.add_settled_parts(&record.id, parts)?;
        self.delete_from_queue(&record.id)?;
        let payments = record.matching.iter().flat_map(|matching| &matching.payments);
        let payments: Vec<&str> = payments.map(|payment| payment.as_str()).collect();
        let entry = AuditEntry::new(time, "settlement match", record.id.as_str())
            .by(self.actor())
            .with_detail("payments", payments.join(" "));
        let entry = match self.address() {
            Some(address) => entry.with_detail("address", address.to_string()),
            None => entry,
        };
        let entry = AuditEntry { money, ..entry };
        ledger::write_entry(&*self.session, Some(&record.owner.account), &entry, Timestamp::now())
    }

    /// Writes the rejection of a record, and removes it from the unmatched lines. Belongs into a transaction.
    pub fn save_rejection(&self, record: &ReconciliationRecord, reason: &str) -> Result<(), StoreError> {
        let act = Act {
            action: "settlement reject",
            subject: record.id.as_str(),
            entity: Some(&record.owner.account),
            details: &[("reason", reason)],
        };
        self.record_act(&act, |session| reconciliation::write_record(session, record))?;
        self.delete_from_queue(&record.id)
    }

    fn delete_from_queue(&self, record: &RecordId) -> Result<(), StoreError> {
        self.session.execute("DELETE FROM settlement_unmatched WHERE record = ?1", [record.as_str()])?;
        Ok(())
    }
}
