//! Reconciliation records as rows, in the order of owner, day and id.

use jiff::civil::Date;
use rusqlite::{Connection, params};

use super::rows::{decode_document, encode_document};
use super::{Changes, PaymentHistory, StoreError};
use crate::domain::id::{EntityId, RecordId};
use crate::domain::reconciliation::ReconciliationRecord;

/// Largest number of records on a page.
const PAGE: u16 = 500;

/// Selection of records by their entity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordOwnership<'a> {
    /// The records in the daily files of an entity: see
    /// [`RecordOwner::file_owner`](crate::domain::reconciliation::RecordOwner::file_owner).
    InFilesOf(&'a EntityId),
    /// The records of payments that an entity made itself.
    OfAccount(&'a EntityId),
}

/// Selection of records by their day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordRange {
    /// The first day.
    pub from: Date,
    /// The last day.
    pub to: Date,
    /// The record after which to begin, with its day. `None` for the first one.
    pub after: Option<(Date, RecordId)>,
}

impl Changes {
    /// Writes a new or changed reconciliation record.
    #[must_use]
    pub fn with_record(mut self, record: ReconciliationRecord) -> Self {
        self.records.push(record);
        self
    }
}

/// Writes a record.
pub(super) fn write_record(connection: &Connection, record: &ReconciliationRecord) -> Result<(), StoreError> {
    connection
        .prepare_cached(
            "INSERT INTO reconciliation_record (owner, day, id, account, document) VALUES (?1, ?2, ?3, ?4, ?5)
             ON CONFLICT (owner, day, id) DO UPDATE SET document = excluded.document",
        )?
        .execute(params![
            record.owner.file_owner().as_str(),
            record.settlement.date.to_string(),
            record.id.as_str(),
            record.owner.account.as_str(),
            encode_document(record)
        ])?;
    Ok(())
}

impl PaymentHistory {
    /// Loads the first records in a range, at most 500, in the order of day and id. There are no more if there are
    /// fewer.
    ///
    /// # Errors
    /// If the store cannot be read, or a record is damaged.
    pub fn load_records(
        &self,
        ownership: RecordOwnership<'_>,
        range: &RecordRange,
    ) -> Result<Vec<ReconciliationRecord>, StoreError> {
        let (column, entity) = match ownership {
            RecordOwnership::InFilesOf(entity) => ("owner", entity),
            RecordOwnership::OfAccount(entity) => ("account", entity),
        };
        let query = format!(
            "SELECT document FROM reconciliation_record
             WHERE {column} = ?1 AND (day, id) > (?2, ?3) AND day <= ?4 ORDER BY day, id LIMIT ?5"
        );
        let (day, id) = match &range.after {
            Some((day, id)) => (day.to_string(), id.as_str()),
            None => (range.from.to_string(), ""),
        };
        let mut statement = self.connection().prepare_cached(&query)?;
        let mut rows = statement.query(params![entity.as_str(), day, id, range.to.to_string(), PAGE])?;
        let mut records = Vec::new();
        while let Some(row) = rows.next()? {
            records.push(decode_document(&row.get::<_, Vec<u8>>(0)?)?);
        }
        Ok(records)
    }
}
