//! Lines without a payment for users of the back office: the list, one line with the payments that it names, and the
//! decisions.

use jiff::{SignedDuration, Timestamp};
use tillgate_domain::id::{EntityId, PaymentId, RecordId};
use tillgate_domain::settlement::file_format::FileMapping;
use tillgate_domain::settlement::reconciliation::{ImportedLine, ReconciliationRecord};
use tillgate_store::Cancellation;
use tillgate_store::settlement::file::EntityScope;

use super::import::import_file;
use super::preview::{FilePreview, preview_file};
use super::unmatched::{MatchCandidate, load_candidates, match_record, reject_record};
use super::{FileSource, ImportRequest, ImportSummary, SettlementFileError};
use crate::administration::{ActError, Administration};
use crate::{Failure, Gateway};

/// Largest number of lines that a group of ages counts.
const MAX_COUNTED: u32 = 1000;

/// A file that a user has uploaded.
#[derive(Debug, Clone, Copy)]
pub struct UploadedFile<'a> {
    /// The bytes.
    pub content: &'a [u8],
    /// Name of the institute.
    pub institute: &'a str,
    /// The entity whose payments it settles.
    pub entity: &'a EntityId,
    /// Text of the mapping. Empty for the documented format.
    pub mapping: &'a str,
    /// True if broken lines are left out; otherwise nothing is taken of a file with one.
    pub skips_broken: bool,
}

/// A page of lines without a payment.
#[derive(Debug, Default)]
pub struct UnmatchedPage {
    /// The lines, oldest first.
    pub lines: Vec<ReconciliationRecord>,
    /// The line after which the next page begins. `None` if there is no more.
    pub next: Option<RecordId>,
}

/// A line of an institute's file.
#[derive(Debug)]
pub struct SettlementFileLine {
    /// The record.
    pub record: ReconciliationRecord,
    /// The line in the file.
    pub import: ImportedLine,
}

impl SettlementFileLine {
    /// Returns true if nobody has decided about the line.
    pub fn is_open(&self) -> bool {
        self.import.rejected.is_none() && self.record.is_unmatched()
    }
}

/// Ages of unmatched lines from which each group begins, in days: the lines since the last of them, and older ones.
pub const AGES: [i64; 3] = [0, 7, 30];

impl Gateway {
    /// Counts the lines without a payment of some entities by their age, in the groups of [`AGES`]. A group counts at
    /// most 1,000 lines.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn count_unmatched_by_age(&self, entities: &[EntityId], now: Timestamp) -> Result<[u64; 3], Failure> {
        let scope = EntityScope::new(entities.iter())?;
        let begin = |days: i64| {
            let moment = now.checked_sub(SignedDuration::from_hours(days.saturating_mul(24))).unwrap_or(now);
            RecordId::new(moment, [0; 9])
        };
        let [_, week, month] = AGES;
        let (week, month) = (begin(week), begin(month));
        let count = |from: Option<&RecordId>, until: Option<&RecordId>| {
            self.store.count_unmatched(&scope, (from, until), MAX_COUNTED)
        };
        Ok([count(Some(&week), None)?, count(Some(&month), Some(&week))?, count(None, Some(&month))?])
    }

    /// Loads a page of the lines without a payment from files that were imported for some entities.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn list_unmatched_lines(
        &self,
        entities: &[EntityId],
        after: Option<&RecordId>,
        limit: usize,
    ) -> Result<UnmatchedPage, Failure> {
        let scope = EntityScope::new(entities.iter())?;
        let mut lines = self.store.load_unmatched_page(&scope, after, limit.saturating_add(1))?;
        let has_more = lines.len() > limit;
        lines.truncate(limit);
        let next = lines.last().filter(|_| has_more).map(|line| line.id.clone());
        Ok(UnmatchedPage { lines, next })
    }

    /// Loads a line from a file that was imported for one of these entities. Returns `None` for any other record.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn find_settlement_line(
        &self,
        entities: &[EntityId],
        id: &RecordId,
    ) -> Result<Option<SettlementFileLine>, Failure> {
        let Some(record) = self.store.load_record(id)? else { return Ok(None) };
        let import = record.import.clone().filter(|import| entities.contains(&import.entity));
        Ok(import.map(|import| SettlementFileLine { record, import }))
    }
}

impl Administration {
    /// Finds the payments that a line names.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn find_line_candidates(&self, record: &ReconciliationRecord) -> Result<Vec<MatchCandidate>, ActError> {
        load_candidates(&self.store, record).map_err(to_act_error)
    }

    /// Reads a file that a user has uploaded, and writes nothing. It takes no lock that payments need.
    ///
    /// # Errors
    /// Same as [`Administration::import_uploaded_file`], or if the reader has gone.
    pub fn preview_uploaded_file(
        &self,
        file: &UploadedFile<'_>,
        cancelled: &Cancellation<'_>,
    ) -> Result<FilePreview, ActError> {
        self.with_request(file, |request| preview_file(&self.store, request, cancelled))
    }

    /// Imports a file that a user has uploaded.
    ///
    /// # Errors
    /// `mapping`, `file` or `institute` by name, if the mapping cannot be read, the file as a whole does not fit it, or
    /// the request is not possible.
    pub fn import_uploaded_file(&self, file: &UploadedFile<'_>) -> Result<ImportSummary, ActError> {
        self.with_request(file, |request| import_file(&self.store, request))
    }

    /// Runs work on the request of an uploaded file.
    fn with_request<T>(
        &self,
        file: &UploadedFile<'_>,
        work: impl FnOnce(&ImportRequest<'_>) -> Result<T, SettlementFileError>,
    ) -> Result<T, ActError> {
        let mapping = match file.mapping.trim() {
            "" => FileMapping::documented(),
            _ => FileMapping::parse(file.mapping).map_err(|error| ActError::refuse("mapping", error.to_string()))?,
        };
        let entity = self.load_entity(file.entity)?;
        let request = ImportRequest {
            file: FileSource::Bytes(file.content),
            institute: file.institute,
            entity: &entity,
            mapping: &mapping,
            skips_broken: file.skips_broken,
            is_dry_run: false,
            actor: self.actor(),
        };
        work(&request).map_err(|error| match error {
            SettlementFileError::Store(error) => error.into(),
            SettlementFileError::Layout(message) => ActError::refuse("file", message),
            SettlementFileError::Refused(message) => ActError::refuse("institute", message),
            other => ActError::in_step("reading or importing a settlement file failed", other),
        })
    }

    /// Matches a line with payments for a user, and moves its money. Several payments are those whose open amounts add
    /// up to the amount of the line.
    ///
    /// # Errors
    /// `payment` by name if the line or a payment does not allow it.
    pub fn match_line_for_user(&self, record: &RecordId, payments: &[PaymentId]) -> Result<(), ActError> {
        let decided = match_record(&self.store, record, payments, self.actor());
        decided.map(drop).map_err(to_act_error)
    }

    /// Rejects a line for a user.
    ///
    /// # Errors
    /// `payment` by name if the line does not allow it, or the reason is not acceptable.
    pub fn reject_line_for_user(&self, record: &RecordId, reason: &str) -> Result<(), ActError> {
        reject_record(&self.store, record, reason, self.actor()).map(drop).map_err(to_act_error)
    }
}

/// Returns the failure of a decision as one of an act.
fn to_act_error(error: SettlementFileError) -> ActError {
    match error {
        SettlementFileError::Store(error) => error.into(),
        SettlementFileError::Refused(message) => ActError::refuse("payment", message),
        other => ActError::in_step("deciding about a settlement line failed", other),
    }
}
