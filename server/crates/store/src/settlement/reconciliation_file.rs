//! The calendar of reconciliation files: the day up to which the files of an entity are complete, and the complete
//! files with their sizes. Their lines are the records themselves, which [`super::reconciliation`] protects from
//! changes.

use std::collections::HashMap;

use jiff::civil::Date;
use tillgate_domain::id::EntityId;
use tillgate_engine::{Row, params};

use crate::delivery::file_delivery;
use crate::settlement::reconciliation::RecordOwnership;
use crate::settlement::reconciliation::parse_day;
use crate::{Store, StoreError};

/// Progress of an entity's files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileCalendar {
    /// The last day whose file is complete. No record is written for this day or one before.
    pub closed: Date,
    /// The last day up to which the complete files are listed. `None` if none is.
    pub filed: Option<Date>,
}

/// A complete file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoredFile {
    /// The day.
    pub day: Date,
    /// Number of its records.
    pub records: u64,
    /// Size in bytes, with the header.
    pub bytes: u64,
}

impl Store {
    /// Loads the progress of every entity with files.
    pub fn load_file_calendars(&self) -> Result<HashMap<EntityId, FileCalendar>, StoreError> {
        self.run_read(|session| {
            let query = "SELECT owner, closed, filed FROM reconciliation_calendar";
            session.query_all(query, (), |row| {
                let owner: String = row.get(0)?;
                let owner =
                    EntityId::parse(&owner).ok_or_else(|| tillgate_engine::Error::unreadable(0, "owner of files"))?;
                let filed: Option<String> = row.get(2)?;
                let filed = filed.as_deref().map(parse_day).transpose()?;
                Ok((owner, FileCalendar { closed: parse_day(&row.get::<String>(1)?)?, filed }))
            })
        })
    }

    /// Completes the files of entities up to a day each. Days never become open again.
    pub async fn close_file_days(&self, days: Vec<(EntityId, Date)>) -> Result<(), StoreError> {
        self.run_write(move |session| {
            // Two processes may complete days at the same time, and a complete day must not become open again.
            let statement = "INSERT INTO reconciliation_calendar (owner, closed) VALUES (?1, ?2)
                 ON CONFLICT (owner) DO UPDATE SET closed = max(reconciliation_calendar.closed, excluded.closed)";
            for (owner, day) in &days {
                session.execute(statement, params![owner.as_str(), day.to_string()])?;
            }
            Ok(())
        })
        .await
    }

    /// Finds the days with records after the listed files, up to the last complete one, oldest first.
    pub fn find_unlisted_days(
        &self,
        ownership: RecordOwnership<'_>,
        calendar: FileCalendar,
    ) -> Result<Vec<Date>, StoreError> {
        self.run_read(|session| {
            let (condition, [entity, merchant]) = ownership.condition();
            let filed = ownership.filed_condition();
            let query = format!(
                "SELECT DISTINCT day FROM reconciliation_record
                 WHERE {condition} {filed} AND day > ?3 AND day <= ?4 ORDER BY day"
            );
            let listed = calendar.filed.map(|day| day.to_string()).unwrap_or_default();
            Ok(session.query_all(&query, params![entity, merchant, listed, calendar.closed.to_string()], |row| {
                parse_day(&row.get::<String>(0)?)
            })?)
        })
    }

    /// Lists complete files of an entity, and records that all of them up to a day are listed. A listed file stays as
    /// it is. If the entity has a server to which its files are pushed, the delivery of each file is due at once.
    pub async fn list_complete_files(
        &self,
        owner: EntityId,
        files: Vec<StoredFile>,
        filed: Date,
    ) -> Result<(), StoreError> {
        let now = self.sources.now();
        self.run_write(move |session| {
            let statement = "INSERT INTO reconciliation_file (owner, day, records, bytes) VALUES (?1, ?2, ?3, ?4)
                 ON CONFLICT (owner, day) DO NOTHING";
            for file in &files {
                let [records, bytes] =
                    [file.records, file.bytes].map(|number| i64::try_from(number).unwrap_or(i64::MAX));
                // A file that another process has listed already has its delivery.
                if session.execute(statement, params![owner.as_str(), file.day.to_string(), records, bytes])? == 1 {
                    file_delivery::write_delivery(session, &owner, file.day, now)?;
                }
            }
            let query = "UPDATE reconciliation_calendar SET filed = max(coalesce(filed, ''), ?2) WHERE owner = ?1";
            session.execute(query, params![owner.as_str(), filed.to_string()])?;
            Ok(())
        })
        .await
    }

    /// Loads the complete files of an entity from a day to another one, both included, oldest first.
    pub fn load_files(&self, owner: &EntityId, from: Date, to: Date) -> Result<Vec<StoredFile>, StoreError> {
        self.run_read(|session| {
            let query = "SELECT day, records, bytes FROM reconciliation_file
                 WHERE owner = ?1 AND day BETWEEN ?2 AND ?3 ORDER BY day";
            Ok(session.query_all(query, params![owner.as_str(), from.to_string(), to.to_string()], read_file)?)
        })
    }

    /// Loads a complete file of an entity. `None` if there is none for this day.
    pub fn load_file(&self, owner: &EntityId, day: Date) -> Result<Option<StoredFile>, StoreError> {
        self.run_read(|session| {
            let query = "SELECT day, records, bytes FROM reconciliation_file WHERE owner = ?1 AND day = ?2";
            Ok(session.query_optional(query, params![owner.as_str(), day.to_string()], read_file)?)
        })
    }
}

/// Reads a file from a row with day, records and bytes.
fn read_file(row: &Row<'_>) -> tillgate_engine::Result<StoredFile> {
    let number = |index| Ok::<_, tillgate_engine::Error>(u64::try_from(row.get::<i64>(index)?).unwrap_or_default());
    Ok(StoredFile { day: parse_day(&row.get::<String>(0)?)?, records: number(1)?, bytes: number(2)? })
}
