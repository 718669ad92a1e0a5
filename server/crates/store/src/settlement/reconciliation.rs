//! Reconciliation records as rows, in the order of owner, day and id.
//!
//! The day of a row is that of the file which has the record. It is the day of the settlement, unless the file of that
//! day was complete when the record was written. Files are complete up to a day, which is kept for each entity: see
//! [`crate::settlement::reconciliation_file`].

use jiff::civil::Date;
use tillgate_domain::id::{EntityId, RecordId};
use tillgate_domain::settlement::reconciliation::ReconciliationRecord;
use tillgate_engine::{Session, params};

use crate::admin::Act;
use crate::document::{decode_document, encode_document};
use crate::settlement::record_digest::DigestChange;
use crate::{AdminStore, PaymentHistory, StoreError};

/// Largest number of records on a page.
const PAGE: u16 = 500;

/// Selection of records by their entity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordOwnership<'a> {
    /// The records in the daily files of an entity: see
    /// [`RecordOwner::file_owner`](tillgate_domain::settlement::reconciliation::RecordOwner::file_owner).
    InFilesOf(&'a EntityId),
    /// The records of a merchant and its channels, as they were when the records were written.
    OfMerchant(&'a EntityId),
    /// The records of payments that a channel made for a merchant.
    OfAccount {
        /// The channel.
        account: &'a EntityId,
        /// Its merchant. A channel that was moved has none of the records of its former merchant.
        merchant: &'a EntityId,
    },
}

impl<'a> RecordOwnership<'a> {
    /// Returns the condition of the selection, and the two values that it names `?1` and `?2`.
    pub(crate) fn condition(self) -> (&'static str, [&'a str; 2]) {
        match self {
            Self::InFilesOf(entity) => ("owner = ?1 AND ?2 = ''", [entity.as_str(), ""]),
            Self::OfMerchant(entity) => ("merchant = ?1 AND ?2 = ''", [entity.as_str(), ""]),
            Self::OfAccount { account, merchant } => {
                ("account = ?1 AND merchant = ?2", [account.as_str(), merchant.as_str()])
            }
        }
    }
}

impl RecordOwnership<'_> {
    /// Returns a further condition for reads of complete files: a merchant's file lacks the records that came to the
    /// merchant later.
    pub(crate) fn filed_condition(self) -> &'static str {
        match self {
            Self::OfMerchant(_) => "AND NOT unfiled",
            Self::InFilesOf(_) | Self::OfAccount { .. } => "",
        }
    }
}

/// Version of a record that has changed since its file was complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordVersion {
    /// The version in the file.
    Filed,
    /// The latest version.
    Latest,
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

impl RecordRange {
    /// Makes the range of all records from a day to another one, both included.
    pub fn between(from: Date, to: Date) -> Self {
        Self { from, to, after: None }
    }
}

/// A page of records.
#[derive(Debug)]
pub struct RecordPage {
    /// The records, each with the day of its file.
    pub records: Vec<(Date, ReconciliationRecord)>,
    /// The range after the page. `None` if the page is the last one.
    pub rest: Option<RecordRange>,
}

/// Writes a record. A new one goes into the file of its day, or of the next day whose file is not complete. A changed
/// one leaves a complete file as it is: its merchant may be another one below the owner of the file, but a complete
/// file of that merchant does not get it. The entry of the audit log that follows binds it.
pub(crate) fn write_record(session: &dyn Session, record: &ReconciliationRecord) -> Result<(), StoreError> {
    write_records(session, std::slice::from_ref(record))
}

/// Writes records like [`write_record`].
pub(crate) fn write_records(session: &dyn Session, records: &[ReconciliationRecord]) -> Result<(), StoreError> {
    let mut change = DigestChange::default();
    for record in records {
        // The rows are hashed as stored before and after, because the statements themselves set some columns.
        let is_stored = change.remove_record(session, &record.id)?;
        write_row(session, record, is_stored)?;
        change.add_record(session, &record.id)?;
    }
    if records.is_empty() { Ok(()) } else { change.save_change(session) }
}

/// Writes the row of a record.
fn write_row(session: &dyn Session, record: &ReconciliationRecord, is_stored: bool) -> Result<(), StoreError> {
    let owner = &record.owner;
    let closed = load_closed_day(session, owner.file_owner(), &owner.merchant)?;
    let document = encode_document(record);
    if is_stored {
        let closed = closed.map(|day| day.to_string()).unwrap_or_default();
        // The day stays as it is, so that a record never moves out of a complete file.
        let query = "UPDATE reconciliation_record
             SET filed = CASE WHEN day <= ?2 THEN coalesce(filed, document) END, document = ?3, account = ?4,
                 unfiled = unfiled OR (day <= ?2 AND merchant <> ?5), merchant = ?5
             WHERE id = ?1";
        let (account, merchant) = (owner.account.as_str(), owner.merchant.as_str());
        session.execute(query, params![record.id.as_str(), closed, document, account, merchant])?;
        return Ok(());
    }
    let date = record.settlement.date;
    // A complete file gets no more records, so a late record goes into the next file.
    let day = closed.filter(|closed| date <= *closed).map_or(date, |closed| closed.tomorrow().unwrap_or(closed));
    session.execute(
        "INSERT INTO reconciliation_record (owner, day, id, account, merchant, document)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        params![
            owner.file_owner().as_str(),
            day.to_string(),
            record.id.as_str(),
            owner.account.as_str(),
            owner.merchant.as_str(),
            document
        ],
    )?;
    Ok(())
}

/// Returns the last day whose file is complete for an owner of files or a merchant in them. `None` if there is none.
fn load_closed_day(session: &dyn Session, owner: &EntityId, merchant: &EntityId) -> Result<Option<Date>, StoreError> {
    let query = "SELECT max(closed) FROM reconciliation_calendar WHERE owner IN (?1, ?2)";
    let day: Option<String> =
        session.query_optional(query, [owner.as_str(), merchant.as_str()], |row| row.get(0))?.flatten();
    Ok(day.as_deref().map(parse_day).transpose()?)
}

/// Parses a stored day.
pub(crate) fn parse_day(text: &str) -> tillgate_engine::Result<Date> {
    text.parse().map_err(|_| tillgate_engine::Error::unreadable(0, "day of a reconciliation record"))
}

impl AdminStore {
    /// Writes new or changed reconciliation records, all or none, with their entry in the audit log.
    pub fn write_records(&self, records: &[ReconciliationRecord]) -> Result<(), StoreError> {
        let count = records.len().to_string();
        let act = Act { action: "records write", subject: &count, entity: None, details: &[] };
        self.in_transaction(|store| store.record_act(&act, |session| write_records(session, records)))
    }
}

impl PaymentHistory {
    /// Loads the first records in a range, at most 500, in the order of day and id.
    ///
    /// # Errors
    /// If the store cannot be read, or a record is damaged.
    pub fn load_records(
        &self,
        ownership: RecordOwnership<'_>,
        version: RecordVersion,
        range: &RecordRange,
    ) -> Result<RecordPage, StoreError> {
        let (condition, [entity, merchant]) = ownership.condition();
        let (document, filed) = match version {
            RecordVersion::Filed => ("coalesce(filed, document)", ownership.filed_condition()),
            RecordVersion::Latest => ("document", ""),
        };
        let query = format!(
            "SELECT day, {document} FROM reconciliation_record
             WHERE {condition} {filed} AND (day, id) > (?3, ?4) AND day <= ?5 ORDER BY day, id LIMIT ?6"
        );
        let (day, id) = match &range.after {
            Some((day, id)) => (day.to_string(), id.as_str()),
            None => (range.from.to_string(), ""),
        };
        let mut rows = self.session().query(&query, params![entity, merchant, day, id, range.to.to_string(), PAGE])?;
        let mut records: Vec<(Date, ReconciliationRecord)> = Vec::new();
        while let Some(row) = rows.next()? {
            let document = row.value(1)?.as_blob()?;
            records.push((parse_day(row.value(0)?.as_str()?)?, decode_document(document)?));
        }
        let last = records.last().filter(|_| records.len() == usize::from(PAGE));
        let rest = last.map(|(day, record)| RecordRange { after: Some((*day, record.id.clone())), ..range.clone() });
        Ok(RecordPage { records, rest })
    }
}
