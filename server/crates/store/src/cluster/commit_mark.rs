//! Marks of commits. Each commit of a writer changes its row, so that the row tells whether a commit was done whose
//! answer was lost.

use jiff::{SignedDuration, Timestamp};
use tillgate_engine::{Session, params};

use crate::{Sources, StoreError};

/// Time for which the row of a writer is kept. No writer asks about a commit as long ago as that.
const KEPT: SignedDuration = SignedDuration::from_hours(24 * 30);

/// The mark of a writer.
pub(super) struct CommitMark {
    /// The writer, by random bytes.
    writer: [u8; 16],
    /// The number of its last commit.
    number: i64,
}

impl CommitMark {
    /// Makes the mark of a new writer.
    pub(super) fn start(session: &dyn Session, sources: &Sources) -> Result<Self, StoreError> {
        let mark = Self { writer: sources.random_bytes()?, number: 0 };
        mark.insert(session, sources.now())?;
        Ok(mark)
    }

    /// Writes the row before the first commit, so that nobody has to tell a row that is not there yet from one that was
    /// undone. Removes the rows of writers that ended long ago.
    fn insert(&self, session: &dyn Session, now: Timestamp) -> Result<(), StoreError> {
        session.execute("DELETE FROM commit_mark WHERE began < ?1", [(now - KEPT).as_millisecond()])?;
        let query = "INSERT INTO commit_mark (writer, number, began) VALUES (?1, ?2, ?3)";
        session.execute(query, params![self.writer, self.number, now.as_millisecond()])?;
        Ok(())
    }

    /// Marks the transaction that is about to be committed.
    pub(super) fn advance(&mut self, session: &dyn Session) -> Result<(), StoreError> {
        self.number += 1;
        let query = "UPDATE commit_mark SET number = ?2 WHERE writer = ?1";
        session.execute(query, params![self.writer, self.number])?;
        Ok(())
    }

    /// Returns true if the marked transaction was committed. Waits for it if the database is still busy with it.
    pub(super) fn is_stored(&self, session: &dyn Session) -> Result<bool, StoreError> {
        // The lock is what waits: the transaction holds it until its end.
        let query = "SELECT number FROM commit_mark WHERE writer = ?1 FOR UPDATE";
        let stored: Option<i64> = session.query_optional(query, [self.writer], |row| row.get(0))?;
        Ok(stored == Some(self.number))
    }
}
