//! Records of the attempts on declined cards, by which the schemes' rules for retries decide: loaded and written in the
//! commit of the payment that they count, and deleted when they have no effect any more.

use jiff::Timestamp;
use tillgate_domain::payment::retry_rules::{AttemptHistory, AttemptRecords};
use tillgate_engine::{Session, params};

use crate::document::{encode_document, read_document};
use crate::write::changes::{Change, Stage, WriteContext};
use crate::{Changes, Store, StoreError};

/// Largest number of rows that one write deletes. A longer write would delay payments.
const BATCH: u16 = 200;

/// Name of a row: the hash of a merchant, a card and, for one amount, the amount.
pub type AttemptName = [u8; 16];

/// The names of the records that an attempt depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AttemptKeys {
    /// The record of the card with any amount.
    pub card: AttemptName,
    /// The record of the card with the amount of the attempt.
    pub amount: AttemptName,
}

/// A record to write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttemptRow {
    /// Its name.
    pub name: AttemptName,
    /// Its content.
    pub history: AttemptHistory,
    /// The time from which it has no effect, by the clock of the payment's entity.
    pub ends: Timestamp,
}

/// A new or changed record.
#[derive(Debug)]
struct AttemptWrite(AttemptRow);

/// The deletion of the records of an attempt.
#[derive(Debug)]
struct AttemptDeletion(AttemptKeys);

impl Changes {
    /// Writes a record of attempts, in place of an earlier one with its name.
    #[must_use]
    pub fn with_attempt_row(self, row: AttemptRow) -> Self {
        self.with(AttemptWrite(row))
    }

    /// Deletes the records of an approved attempt. Missing ones are no error.
    #[must_use]
    pub fn without_attempts(self, keys: AttemptKeys) -> Self {
        self.with(AttemptDeletion(keys))
    }
}

/// Loads the records of an attempt. Both are found by one statement, because every first attempt looks for them.
pub(crate) fn load_attempts(session: &dyn Session, keys: &AttemptKeys) -> Result<AttemptRecords, StoreError> {
    let query = "SELECT name, history FROM card_attempt WHERE name IN (?1, ?2)";
    let mut rows = session.query(query, params![keys.card, keys.amount])?;
    let mut records = AttemptRecords::default();
    while let Some(row) = rows.next()? {
        let (name, history): (AttemptName, AttemptHistory) = (row.get(0)?, read_document(&row, 1)?);
        let record = if name == keys.card { &mut records.card } else { &mut records.amount };
        *record = Some(history);
    }
    Ok(records)
}

impl Change for AttemptWrite {
    fn stage(&self) -> Stage {
        Stage::CardAttempts
    }

    fn apply(&self, context: &WriteContext<'_>) -> Result<bool, StoreError> {
        let AttemptRow { name, history, ends } = &self.0;
        context.session.send(
            "INSERT INTO card_attempt (name, purge_at, history) VALUES (?1, ?2, ?3)
             ON CONFLICT (name) DO UPDATE SET purge_at = excluded.purge_at, history = excluded.history",
            params![name, ends.as_millisecond(), encode_document(history)],
        )?;
        Ok(false)
    }
}

impl Change for AttemptDeletion {
    fn stage(&self) -> Stage {
        Stage::CardAttempts
    }

    fn apply(&self, context: &WriteContext<'_>) -> Result<bool, StoreError> {
        // The card's own record has a stop alone, which the approval of another amount does not lift.
        context.session.send("DELETE FROM card_attempt WHERE name = ?1", params![self.0.amount])?;
        Ok(false)
    }
}

impl Store {
    /// Deletes all records of attempts that have no effect any more at `now`, in batches between other writes.
    pub async fn delete_ended_attempts(&self, now: Timestamp) -> Result<(), StoreError> {
        let now = now.as_millisecond();
        let has_ended = || {
            self.run_read(|session| {
                let query = "SELECT EXISTS (SELECT 1 FROM card_attempt WHERE purge_at <= ?1)";
                Ok::<bool, StoreError>(session.query_one(query, [now], |row| row.get(0))?)
            })
        };
        // A reader looks first, so that an idle server writes nothing.
        while has_ended()? {
            self.run_write(move |session| {
                let delete = "DELETE FROM card_attempt WHERE name IN
                     (SELECT name FROM card_attempt WHERE purge_at <= ?1 ORDER BY purge_at LIMIT ?2)";
                Ok(session.execute(delete, params![now, BATCH])?)
            })
            .await?;
        }
        Ok(())
    }
}
