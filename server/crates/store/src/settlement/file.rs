//! Settlement files of clearing institutes as rows: the files and lines that were taken, the part of each payment that
//! they settle, and the search for payments.

use std::collections::BTreeMap;
use std::path::Path;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use tillgate_domain::access::audit::AuditEntry;
use tillgate_domain::dispute::Dispute;
use tillgate_domain::id::{EntityId, PaymentId, RecordId, to_hex};
use tillgate_domain::payment::{Payment, PaymentType};
use tillgate_domain::settlement::ledger::LedgerSums;
use tillgate_domain::settlement::reconciliation::ReconciliationRecord;
use tillgate_engine::sqlite::SqliteSession;
use tillgate_engine::{Session, params};

use crate::admin::Act;
use crate::document::{encode_document, read_document};
use crate::keys::sealed::begin_immediate;
use crate::ledger;
use crate::payment::load;
use crate::settlement::booking;
use crate::settlement::reconciliation;
use crate::{AdminStore, StoreError, dispute};

/// Largest number of payments that a search returns: one more than a record keeps.
const MAX_FOUND: u16 = 101;

/// A file that was taken as a whole.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImportedFile {
    /// Name of the institute.
    pub institute: String,
    /// SHA-256 of the file.
    pub hash: [u8; 32],
    /// The entity for which it was imported.
    pub entity: EntityId,
    /// The time of the import by the machine's clock.
    pub at: Timestamp,
}

/// A line that was taken before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TakenLine {
    /// Hash of its content.
    pub content: [u8; 32],
}

/// A line to write with its record.
#[derive(Debug)]
pub struct NewSettlementLine<'a> {
    /// Name of the institute.
    pub institute: &'a str,
    /// The key of the line.
    pub key: [u8; 32],
    /// Hash of its content.
    pub content: [u8; 32],
    /// The record.
    pub record: &'a ReconciliationRecord,
}

/// Payments with the part of each that a line settles, in hundredths.
pub type SettledParts = Vec<(PaymentId, i64)>;

/// Counts the occurrences of each content in a file. It needs little memory, because the counts are in a temporary file
/// that SQLite deletes.
pub struct OccurrenceCounter {
    session: SqliteSession,
}

impl OccurrenceCounter {
    /// Creates a counter that has counted nothing.
    ///
    /// # Errors
    /// If the temporary file cannot be created.
    pub fn create() -> Result<Self, StoreError> {
        // An empty name is a private file on the disk, written once the page cache is full.
        let session = SqliteSession::open(Path::new(""))?;
        // The file is deleted after the import, so it needs neither a journal nor durable writes.
        session.run_script(
            "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;
             CREATE TABLE seen (content BLOB PRIMARY KEY, count INTEGER NOT NULL) WITHOUT ROWID; BEGIN;",
        )?;
        Ok(Self { session })
    }

    /// Counts a content, and returns its occurrences so far, this one included.
    ///
    /// # Errors
    /// If the temporary file cannot be written.
    pub fn count_occurrence(&self, content: &[u8; 32]) -> Result<u64, StoreError> {
        let statement = "INSERT INTO seen (content, count) VALUES (?1, 1)
             ON CONFLICT (content) DO UPDATE SET count = seen.count + 1 RETURNING count";
        let count: i64 = self.session.query_one(statement, [content], |row| row.get(0))?;
        Ok(u64::try_from(count).unwrap_or_default())
    }
}

/// Returns the act of an import.
fn import_act<'a>(subject: &'a str, file: &'a ImportedFile, details: &'a [(&'a str, &'a str)]) -> Act<'a> {
    Act { action: "settlement import", subject, entity: Some(&file.entity), details }
}

impl AdminStore {
    /// Runs reads and writes as [`AdminStore::in_transaction`] does, and waits without a limit for a busy server.
    ///
    /// # Errors
    /// If `work` fails, or the transaction cannot commit. Nothing is written then.
    pub fn in_part<T, E: From<StoreError>>(&self, work: impl FnOnce(&Self) -> Result<T, E>) -> Result<T, E> {
        let transaction = begin_immediate(&*self.session)?;
        let value = work(self)?;
        transaction.commit().map_err(StoreError::from)?;
        Ok(value)
    }

    /// Runs reads on one snapshot, which takes no lock that a write needs. `work` must not write.
    ///
    /// # Errors
    /// If `work` fails, or the snapshot cannot begin.
    pub fn in_snapshot<T, E: From<StoreError>>(&self, work: impl FnOnce(&Self) -> Result<T, E>) -> Result<T, E> {
        let _snapshot = self.session.begin_snapshot().map_err(StoreError::from)?;
        work(self)
    }

    /// Loads a file that was taken as a whole.
    pub fn load_imported_file(&self, institute: &str, hash: &[u8; 32]) -> Result<Option<ImportedFile>, StoreError> {
        let query = "SELECT document FROM settlement_file WHERE institute = ?1 AND hash = ?2";
        self.session.query_optional(query, params![institute, hash], |row| read_document(row, 0))
    }

    /// Records that a file was taken as a whole, with the entry of the act. Does nothing if another import was faster.
    pub fn add_imported_file(&self, file: &ImportedFile, details: &[(&str, &str)]) -> Result<(), StoreError> {
        let subject = to_hex(&file.hash);
        let act = import_act(&subject, file, details);
        self.execute_act(
            &act,
            "INSERT INTO settlement_file (institute, hash, document) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING",
            params![file.institute, file.hash, encode_document(file)],
        )?;
        Ok(())
    }

    /// Writes only the entry of the act, for a file of which lines were left out.
    pub fn add_partial_import(&self, file: &ImportedFile, details: &[(&str, &str)]) -> Result<(), StoreError> {
        let subject = to_hex(&file.hash);
        self.record_act(&import_act(&subject, file, details), |_| Ok(()))
    }

    /// Finds a line of an institute that was taken before.
    pub fn find_taken_line(&self, institute: &str, key: &[u8; 32]) -> Result<Option<TakenLine>, StoreError> {
        let query = "SELECT content FROM settlement_line WHERE institute = ?1 AND line = ?2";
        let content = self.session.query_optional(query, params![institute, key], |row| row.get(0))?;
        Ok(content.map(|content| TakenLine { content }))
    }

    /// Writes a new line with its record, and the parts of payments that it settles. A record whose payment is not
    /// found becomes an unmatched line. Belongs into a transaction.
    pub fn add_settlement_line(
        &self,
        line: &NewSettlementLine<'_>,
        parts: &SettledParts,
        is_unmatched: bool,
    ) -> Result<(), StoreError> {
        let record = line.record;
        self.session.execute(
            // The key comes first: a line that another import has taken meanwhile fails before anything else is
            // written.
            "INSERT INTO settlement_line (institute, line, content, record) VALUES (?1, ?2, ?3, ?4)",
            params![line.institute, line.key, line.content, record.id.as_str()],
        )?;
        reconciliation::write_record(&*self.session, record)?;
        self.add_settled_parts(&record.id, parts)?;
        let entity = record.import.as_ref().map_or(&record.owner.account, |import| &import.entity);
        if is_unmatched {
            self.session.execute(
                "INSERT INTO settlement_unmatched (entity, record) VALUES (?1, ?2)",
                [entity.as_str(), record.id.as_str()],
            )?;
        }
        Ok(())
    }

    /// Records the parts of payments that a record settles.
    pub(crate) fn add_settled_parts(&self, record: &RecordId, parts: &SettledParts) -> Result<(), StoreError> {
        for (payment, hundredths) in parts {
            self.session.execute(
                "INSERT INTO settlement_match (payment, record, hundredths) VALUES (?1, ?2, ?3)",
                params![payment.as_str(), record.as_str(), hundredths],
            )?;
        }
        Ok(())
    }

    /// Writes the entry of lines of a file with their movements, which change the balances of an entity. Belongs into
    /// the transaction of these lines.
    pub fn add_settlement_entry(
        &self,
        entity: &EntityId,
        entry: AuditEntry,
        money: BTreeMap<String, LedgerSums>,
    ) -> Result<(), StoreError> {
        ledger::write_entry(&*self.session, Some(entity), &AuditEntry { money, ..entry }, Timestamp::now())
    }

    /// Returns the part of a payment that institutes have settled, in hundredths.
    pub fn sum_settled(&self, payment: &PaymentId) -> Result<i64, StoreError> {
        let query = "SELECT CAST(coalesce(sum(hundredths), 0) AS BIGINT) FROM settlement_match WHERE payment = ?1";
        Ok(self.session.query_one(query, [payment.as_str()], |row| row.get(0))?)
    }

    /// Finds payments of some entities by the acquirer's own id, at most 101.
    pub fn find_by_connector_id(&self, entities: &EntityScope, id: &str) -> Result<Vec<Payment>, StoreError> {
        // The unary plus keeps SQLite from one search for each entity.
        let query = "SELECT entity, payment FROM payment_connector_id
             WHERE connector_id = ?2 AND entity || '' IN (SELECT value FROM json_each(?1)) LIMIT ?3";
        self.find_payments(query, entities, id)
    }

    /// Finds payments of some entities by id: one at most.
    pub fn find_by_id(&self, entities: &EntityScope, id: &PaymentId) -> Result<Option<Payment>, StoreError> {
        let query = "SELECT entity, id FROM payment
             WHERE entity IN (SELECT value FROM json_each(?1)) AND id = ?2 LIMIT ?3";
        Ok(self.find_payments(query, entities, id.as_str())?.into_iter().next())
    }

    /// Finds payments of some entities by the merchant's reference, at most 101, newest first.
    pub fn find_by_reference(&self, entities: &EntityScope, reference: &str) -> Result<Vec<Payment>, StoreError> {
        let query = "SELECT entity, payment FROM payment_reference
             WHERE entity IN (SELECT value FROM json_each(?1)) AND reference = ?2 ORDER BY payment DESC LIMIT ?3";
        self.find_payments(query, entities, reference)
    }

    fn find_payments(&self, query: &str, entities: &EntityScope, key: &str) -> Result<Vec<Payment>, StoreError> {
        let mut rows = self.session.query(query, params![entities.json, key, MAX_FOUND])?;
        let mut payments = Vec::new();
        while let Some(row) = rows.next()? {
            let [entity, payment]: [String; 2] = [row.get(0)?, row.get(1)?];
            if let (Some(entity), Some(payment)) = (EntityId::parse(&entity), PaymentId::parse(&payment)) {
                payments.extend(load::load_payment(&*self.session, &entity, &payment)?);
            }
        }
        Ok(payments)
    }

    /// Loads the approved follow-up payment of a type, of which a payment has one at most: its chargeback, or the
    /// reversal of a chargeback.
    pub fn load_single_follow_up(
        &self,
        referenced: &Payment,
        payment_type: PaymentType,
    ) -> Result<Option<Payment>, StoreError> {
        let query = "SELECT id FROM payment_link WHERE referenced = ?1 AND type = ?2 AND approved LIMIT 1";
        let id: Option<String> =
            self.session.query_optional(query, [referenced.id.as_str(), payment_type.code()], |row| row.get(0))?;
        match id.as_deref().and_then(PaymentId::parse) {
            Some(id) => load::load_payment(&*self.session, &referenced.entity, &id),
            None => Ok(None),
        }
    }

    /// Loads the type of a payment.
    pub fn load_payment_type(&self, entity: &EntityId, id: &PaymentId) -> Result<Option<PaymentType>, StoreError> {
        booking::load_payment_type(&*self.session, entity, id)
    }

    /// Loads the open dispute of a payment.
    pub fn load_open_dispute(&self, payment: &PaymentId) -> Result<Option<Dispute>, StoreError> {
        dispute::load_requested(&*self.session, &crate::DisputeKey::OpenOfPayment(payment.clone()))
    }

    /// Loads the dispute of a chargeback.
    pub fn load_dispute_of_chargeback(&self, chargeback: &PaymentId) -> Result<Option<Dispute>, StoreError> {
        dispute::load_of_chargeback(&*self.session, chargeback)
    }
}

/// The entities whose payments a file settles.
#[derive(Debug, Clone)]
pub struct EntityScope {
    /// Their ids as a JSON array.
    json: String,
}

impl EntityScope {
    /// Returns the ids as a JSON array.
    pub(crate) fn as_json(&self) -> &str {
        &self.json
    }

    /// Creates the scope of some entities.
    ///
    /// # Errors
    /// If the ids cannot be encoded.
    pub fn new<'a>(entities: impl Iterator<Item = &'a EntityId>) -> Result<Self, StoreError> {
        let ids: Vec<&str> = entities.map(EntityId::as_str).collect();
        Ok(Self { json: serde_json::to_string(&ids)? })
    }
}
