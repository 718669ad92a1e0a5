//! Batches and complete files for lists, newest first, and the lines of one batch.

use jiff::civil::Date;
use tillgate_domain::id::{EntityId, RecordId};
use tillgate_domain::settlement::reconciliation::ReconciliationRecord;
use tillgate_engine::params;

use super::StoredBatch;
use super::reconciliation::parse_day;
use super::reconciliation_file::StoredFile;
use crate::document::read_document;
use crate::{PaymentHistory, Store, StoreError};

/// Text after every day.
const NO_DAY: &str = "~";
/// Number of days after the day of a batch in which a line may be filed. A line is filed later than its day only if the
/// file of its day was complete.
const LATE_DAYS: i64 = 31;

/// Number of records that a statement reads.
const PART: u32 = 500;

/// Key of a batch.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct BatchKey {
    /// The day.
    pub day: Date,
    /// The entity.
    pub entity: EntityId,
    /// Code of the settlement's currency.
    pub currency: String,
}

/// The merchant of batches, and one of its channels if only that channel's batches are wanted.
pub type BatchOwner = (EntityId, Option<EntityId>);

/// The place of a line among the lines of a batch: the day of its file, and its id.
pub type LinePlace = (Date, RecordId);

impl BatchKey {
    /// Parses a key in an address.
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split('_');
        let (day, entity, currency) = (parts.next()?, parts.next()?, parts.next()?);
        Self::from_parts(day, entity, currency).filter(|_| parts.next().is_none())
    }

    /// Makes a key of the parts of an address.
    pub fn from_parts(day: &str, entity: &str, currency: &str) -> Option<Self> {
        let date: Date = day.parse().ok()?;
        let is_code = currency.len() == 3 && currency.bytes().all(|letter| letter.is_ascii_uppercase());
        let entity = EntityId::parse(entity).filter(|_| is_code && date.to_string() == day)?;
        Some(Self { day: date, entity, currency: currency.to_owned() })
    }
}

impl std::fmt::Display for BatchKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}_{}_{}", self.day, self.entity, self.currency)
    }
}

impl PaymentHistory {
    /// Loads the last batches of an owner before a key, newest first.
    pub fn load_batches_before(
        &self,
        (merchant, only): &BatchOwner,
        before: Option<&BatchKey>,
        limit: usize,
    ) -> Result<Vec<(EntityId, StoredBatch)>, StoreError> {
        // The comparison has the order of the index, so that each page begins with one search.
        let query = "SELECT entity, document FROM settlement_batch
             WHERE merchant = ?1 AND (CAST(?2 AS TEXT) IS NULL OR entity = ?2)
                 AND (day, entity, currency) < (?3, ?4, ?5)
             ORDER BY day DESC, entity DESC, currency DESC LIMIT ?6";
        let (day, entity, currency) = match before {
            Some(key) => (key.day.to_string(), key.entity.as_str(), key.currency.as_str()),
            None => (NO_DAY.to_owned(), "", ""),
        };
        let only = only.as_ref().map(EntityId::as_str);
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let mut rows = self.session().query(query, params![merchant.as_str(), only, day, entity, currency, limit])?;
        let mut batches = Vec::new();
        while let Some(row) = rows.next()? {
            let entity = EntityId::parse(&row.get::<String>(0)?)
                .ok_or_else(|| tillgate_engine::Error::unreadable(0, "entity"))?;
            batches.push((entity, read_document(&row, 1)?));
        }
        Ok(batches)
    }

    /// Loads a batch with its merchant.
    pub fn load_batch(&self, key: &BatchKey) -> Result<Option<(EntityId, StoredBatch)>, StoreError> {
        let query = "SELECT merchant, document FROM settlement_batch WHERE entity = ?1 AND day = ?2 AND currency = ?3";
        let values = params![key.entity.as_str(), key.day.to_string(), key.currency];
        self.session().query_optional(query, values, |row| {
            let merchant = EntityId::parse(&row.get::<String>(0)?)
                .ok_or_else(|| tillgate_engine::Error::unreadable(0, "merchant"))?;
            Ok((merchant, read_document(row, 1)?))
        })
    }

    /// Loads the lines of a settlement of an account after a place, in the order of their files. `day` is that of the
    /// settlement. Reads in parts, each a statement of its own, and ends early if `is_cancelled` returns true.
    pub fn load_settlement_lines(
        &self,
        (account, merchant): (&EntityId, &EntityId),
        (settlement, day): (&str, Date),
        after: Option<&LinePlace>,
        (limit, is_cancelled): (usize, &dyn Fn() -> bool),
    ) -> Result<Vec<(Date, ReconciliationRecord)>, StoreError> {
        // The index of the account: that of the merchant would lead through the lines of all channels.
        let query = "SELECT day, id, document FROM reconciliation_record
             WHERE account = ?1 AND merchant || '' = ?2 AND (day, id) > (?3, ?4) AND day <= ?5 ORDER BY day, id LIMIT ?6";
        let last = day.checked_add(jiff::Span::new().days(LATE_DAYS)).unwrap_or(Date::MAX);
        let mut place = match after {
            // Before its day a batch has no line, so a place there would lead through everything earlier.
            Some((from, _)) if *from < day || *from > last => return Ok(Vec::new()),
            Some((from, id)) => (from.to_string(), id.to_string()),
            None => (day.to_string(), String::new()),
        };
        let mut lines = Vec::new();
        loop {
            let values = params![account.as_str(), merchant.as_str(), place.0, place.1, last.to_string(), PART];
            let mut rows = self.session().query(query, values)?;
            let mut count = 0;
            while let Some(row) = rows.next()? {
                count += 1;
                place = (row.get(0)?, row.get(1)?);
                let record: ReconciliationRecord = read_document(&row, 2)?;
                if record.settlement.id == settlement {
                    lines.push((parse_day(&place.0)?, record));
                }
                if lines.len() >= limit {
                    return Ok(lines);
                }
            }
            if count < PART || is_cancelled() {
                return Ok(lines);
            }
        }
    }
}

impl Store {
    /// Loads the last complete files of some entities before a day and owner, newest first, each with its owner.
    pub fn load_latest_files(
        &self,
        owners: &[EntityId],
        before: Option<(Date, &EntityId)>,
        limit: usize,
    ) -> Result<Vec<(EntityId, StoredFile)>, StoreError> {
        let ids: Vec<&str> = owners.iter().map(EntityId::as_str).collect();
        let ids = serde_json::to_string(&ids)?;
        let (day, owner) = match before {
            Some((day, owner)) => (day.to_string(), owner.as_str()),
            None => (NO_DAY.to_owned(), ""),
        };
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        self.run_read(|session| {
            let query = "SELECT owner, day, records, bytes FROM reconciliation_file
                 WHERE owner IN (SELECT value FROM json_each(?1)) AND (day, owner) < (?2, ?3)
                 ORDER BY day DESC, owner DESC LIMIT ?4";
            let mut rows = session.query(query, params![ids, day, owner, limit])?;
            let mut files = Vec::new();
            while let Some(row) = rows.next()? {
                let owner = EntityId::parse(&row.get::<String>(0)?)
                    .ok_or_else(|| tillgate_engine::Error::unreadable(0, "owner"))?;
                let number =
                    |index| Ok::<_, tillgate_engine::Error>(u64::try_from(row.get::<i64>(index)?).unwrap_or(0));
                let day = parse_day(&row.get::<String>(1)?)?;
                files.push((owner, StoredFile { day, records: number(2)?, bytes: number(3)? }));
            }
            Ok(files)
        })
    }
}
