//! Reconciliation files: the records of an entity, page by page, as lines of a file or as they are now.

use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::civil::Date;
use tillgate_domain::access::entity::Entity;
use tillgate_domain::access::level::Level;
use tillgate_domain::refusal::Refusal;
use tillgate_domain::report::MAX_ROWS;
use tillgate_domain::settlement::reconciliation::ReconciliationRecord;
use tillgate_domain::settlement::reconciliation::file::format_header;
use tillgate_domain::settlement::reconciliation::file::format_lines;
use tillgate_domain::settlement::reconciliation::file::{FileLines, FileName};
use tillgate_domain::settlement::reconciliation::totals::RecordTotals;
use tillgate_store::settlement::reconciliation::{RecordOwnership, RecordRange, RecordVersion};
use tillgate_store::settlement::reconciliation_file::StoredFile;
use tillgate_store::{Cancellation, PaymentHistory, StoreError};

use crate::{Failure, Gateway};

/// Time for which records are read before other long reads have their turn.
const TURN: Duration = Duration::from_millis(200);

/// Reads records in the order of day and id.
pub struct RecordReader {
    history: PaymentHistory,
    entity: Arc<Entity>,
    version: RecordVersion,
    /// The part that is left. `None` after the last record.
    rest: Option<RecordRange>,
}

impl RecordReader {
    /// Begins before the first record of an entity in a range of days.
    pub fn new(entity: Arc<Entity>, version: RecordVersion, range: RecordRange, history: PaymentHistory) -> Self {
        Self { history, entity, version, rest: Some(range) }
    }

    /// Returns true after the last record.
    pub fn is_at_end(&self) -> bool {
        self.rest.is_none()
    }

    /// Reads the next records, at most 500, each with the day of its file. There may be none although the end is not
    /// reached.
    pub fn read_page(&mut self) -> Result<Vec<(Date, ReconciliationRecord)>, StoreError> {
        let Some(range) = &self.rest else { return Ok(Vec::new()) };
        let page = self.history.load_records(select_records(&self.entity), self.version, range)?;
        self.rest = page.rest;
        Ok(page.records)
    }

    /// Adds the next records to totals, page by page. Calls `goes_on` with their number after each page, and stops if
    /// it returns false.
    ///
    /// # Errors
    /// 400 if there are more than 100,000 rows; if the store cannot be read.
    pub fn fill_totals(
        &mut self,
        totals: &mut RecordTotals,
        goes_on: &mut dyn FnMut(u64) -> bool,
    ) -> Result<(), Failure> {
        let mut read = 0;
        while !self.is_at_end() {
            let records = self.read_page()?;
            records.iter().for_each(|(day, record)| totals.add_record(*day, record));
            if totals.rows.len() > MAX_ROWS {
                let message = format!("leads to more than {MAX_ROWS} rows: ask for a shorter period");
                return Err(Refusal::invalid_parameter("date.to", None, message).into());
            }
            read += u64::try_from(records.len()).unwrap_or(u64::MAX);
            if !goes_on(read) {
                break;
            }
        }
        Ok(())
    }

    /// Reads the next records as lines of a file.
    ///
    /// # Errors
    /// Same as [`Self::read_page`].
    pub fn read_lines(&mut self) -> Result<FileLines, StoreError> {
        let records: Vec<ReconciliationRecord> = self.read_page()?.into_iter().map(|(_, record)| record).collect();
        Ok(format_lines(&records))
    }
}

/// Returns the selection of the records that an entity sees. A division sees those in its files. A merchant sees its
/// own records only, also below a division, and a channel those of its own payments.
pub(crate) fn select_records(entity: &Entity) -> RecordOwnership<'_> {
    match entity.level {
        Level::Psp | Level::Division => RecordOwnership::InFilesOf(&entity.id),
        Level::Merchant => RecordOwnership::OfMerchant(&entity.id),
        Level::Channel => RecordOwnership::OfAccount { account: &entity.id, merchant: entity.merchant_or_self() },
    }
}

/// Returns true if an entity of a level has files: divisions and merchants do.
pub fn has_files(level: Level) -> bool {
    matches!(level, Level::Division | Level::Merchant)
}

impl Gateway {
    /// Lists the complete files of an entity from a day to another one, both included. Their header is part of their
    /// size.
    ///
    /// # Errors
    /// 400 if the entity has no files because it is a channel; if the store cannot be read.
    pub fn list_files(&self, entity: &Entity, from: Date, to: Date) -> Result<Vec<StoredFile>, Failure> {
        if !has_files(entity.level) {
            let message = format!("is a {}: divisions and merchants have files", entity.level.display_name());
            return Err(Refusal::invalid_parameter("entityId", Some(entity.id.as_str()), message).into());
        }
        Ok(self.store.load_files(&entity.id, from, to)?)
    }

    /// Finds a complete file of an entity by its name. `None` if there is no such file, or it is another entity's.
    pub fn find_file(&self, entity: &Entity, name: &str) -> Result<Option<StoredFile>, StoreError> {
        match FileName::parse(name).filter(|name| name.entity == entity.id && has_files(entity.level)) {
            Some(name) => self.store.load_file(&name.entity, name.day),
            None => Ok(None),
        }
    }

    /// Opens the records in the file of a day, as the file has them.
    pub fn open_file(&self, entity: &Arc<Entity>, day: Date) -> Result<RecordReader, StoreError> {
        self.open_records(entity, RecordVersion::Filed, RecordRange::between(day, day))
    }

    /// Opens the records of an entity in a range of days.
    pub fn open_records(
        &self,
        entity: &Arc<Entity>,
        version: RecordVersion,
        range: RecordRange,
    ) -> Result<RecordReader, StoreError> {
        Ok(RecordReader::new(Arc::clone(entity), version, range, self.store.open_history()?))
    }

    /// Adds up the records of a reader, in turns with the other long reads of the tenant. Ends early if the client
    /// disconnects.
    ///
    /// # Errors
    /// 400 if there are more than 100,000 rows; 429 if the queue is full or a wait too long.
    pub async fn add_up_records(
        &self,
        mut reader: RecordReader,
        mut totals: RecordTotals,
    ) -> Result<RecordTotals, Failure> {
        let tenant = reader.entity.merchant_or_self().clone();
        while !reader.is_at_end() {
            let read = move |cancelled: &Cancellation<'_>| -> Result<_, Failure> {
                let started = Instant::now();
                reader.fill_totals(&mut totals, &mut |_| !cancelled.is_cancelled() && started.elapsed() < TURN)?;
                Ok((reader, totals))
            };
            (reader, totals) = self.store.long_reads.run_read(&tenant, read).await??;
        }
        Ok(totals)
    }

    /// Counts records and bytes of the complete file of a day, in turns like [`Self::add_up_records`]. Logs the number
    /// of values that are cut.
    ///
    /// # Errors
    /// If the store cannot be read, or the queue of long reads is full.
    pub(crate) async fn measure_file(&self, entity: &Arc<Entity>, day: Date) -> Result<StoredFile, StoreError> {
        let mut reader = self.open_file(entity, day)?;
        let mut file = StoredFile { day, records: 0, bytes: count_bytes(&format_header()) };
        let mut cut_values = 0;
        while !reader.is_at_end() {
            let read = move |_: &Cancellation<'_>| -> Result<_, StoreError> {
                let started = Instant::now();
                let (mut part, mut cut) = (StoredFile { day, records: 0, bytes: 0 }, 0);
                while !reader.is_at_end() && started.elapsed() < TURN {
                    let lines = reader.read_lines()?;
                    part.records += lines.records;
                    part.bytes += count_bytes(&lines.bytes);
                    cut += lines.cut_values;
                }
                Ok((reader, part, cut))
            };
            let (read_on, part, cut) = self.store.long_reads.run_read(&entity.id, read).await??;
            reader = read_on;
            file = StoredFile { day, records: file.records + part.records, bytes: file.bytes + part.bytes };
            cut_values += cut;
        }
        if cut_values > 0 {
            tracing::warn!(
                file = %FileName { entity: entity.id.clone(), day },
                cut_values,
                "values longer than their columns were cut in a reconciliation file; the records have them in full"
            );
        }
        Ok(file)
    }
}

fn count_bytes(bytes: &[u8]) -> u64 {
    u64::try_from(bytes.len()).unwrap_or(u64::MAX)
}
