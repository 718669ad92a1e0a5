//! Marks of commits. Each commit of a writer changes its row, so that the row tells whether a commit was done whose
//! answer was lost, and whether the database still has what it has confirmed.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use jiff::SignedDuration;
use tillgate_engine::{Session, params};

use crate::{Sources, StoreError};

/// Time for which the row of a writer is kept. A writer that is older makes another row with its next commit.
const KEPT: SignedDuration = SignedDuration::from_hours(24 * 30);

/// The mark of a writer.
pub(super) struct CommitMark {
    /// The writer, by random bytes.
    writer: [u8; 16],
    /// The number of its last commit.
    number: i64,
    /// The number of its last commit that is known to be done.
    confirmed: i64,
    /// Set once the database lacks a commit that it has confirmed.
    lacks_commits: Arc<AtomicBool>,
    /// Time for the row.
    sources: Sources,
}

impl CommitMark {
    /// Makes the mark of a new writer.
    pub(super) fn start(
        session: &dyn Session,
        sources: &Sources,
        lacks_commits: &Arc<AtomicBool>,
    ) -> Result<Self, StoreError> {
        let (writer, lacks_commits) = (sources.random_bytes()?, Arc::clone(lacks_commits));
        let mark = Self { writer, number: 0, confirmed: 0, lacks_commits, sources: sources.clone() };
        // The rows of writers that ended long ago.
        let oldest = (sources.now() - KEPT).as_millisecond();
        session.execute("DELETE FROM commit_mark WHERE began < ?1", [oldest])?;
        // Before the first commit, so that nobody has to tell a row that is not there yet from one that was undone.
        mark.write(session)?;
        Ok(mark)
    }

    /// Marks the transaction that is about to be committed. The row is there already, unless a later writer has taken
    /// this one for one that ended long ago.
    pub(super) fn advance(&mut self, session: &dyn Session) -> Result<(), StoreError> {
        self.number += 1;
        self.write(session)
    }

    fn write(&self, session: &dyn Session) -> Result<(), StoreError> {
        let query = "INSERT INTO commit_mark (writer, number, began) VALUES (?1, ?2, ?3)
                ON CONFLICT (writer) DO UPDATE SET number = excluded.number";
        Ok(session.send(query, params![self.writer, self.number, self.sources.now().as_millisecond()])?)
    }

    /// Notes that the marked transaction is committed.
    pub(super) fn confirm(&mut self) {
        self.confirmed = self.number;
    }

    /// Checks on a new session that the database still has what it has confirmed. It has not if a primary comes back
    /// that has missed it, or if it was on no standby when the primary failed. Logs an error the first time.
    pub(super) fn check_confirmed(&self, session: &dyn Session) -> Result<(), StoreError> {
        let query = "SELECT number FROM commit_mark WHERE writer = ?1";
        let stored = session.query_optional(query, [self.writer], |row| row.get::<i64>(0))?;
        let lost = self.confirmed - stored.unwrap_or(self.confirmed);
        if lost > 0 && !self.lacks_commits.swap(true, Ordering::AcqRel) {
            tracing::error!(
                lost,
                "the database lacks commits that it has confirmed, so payments may be gone that merchants were told of: \
                 find out which, such as from the access log, and restart the nodes"
            );
        }
        Ok(())
    }

    /// Returns true if the marked transaction was committed. Waits for it if the database is still busy with it. `None`
    /// if there is no row: nothing is known then, and a commit that may be done must not be made again.
    pub(super) fn is_stored(&self, session: &dyn Session) -> Result<Option<bool>, StoreError> {
        // The lock is what waits: the transaction holds it until its end.
        let query = "SELECT number FROM commit_mark WHERE writer = ?1 FOR UPDATE";
        let stored = session.query_optional(query, [self.writer], |row| row.get::<i64>(0))?;
        Ok(stored.map(|stored| stored == self.number))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use tillgate_engine::postgres::PostgresSession;

    use super::*;
    use crate::cluster::tests::{CLUSTER, open_node, parse};

    #[test]
    fn a_commit_without_a_row_is_unknown_and_the_next_one_makes_a_row() {
        let address = CLUSTER.create_database().unwrap();
        let _node = open_node(&address);
        let session: &dyn Session = &PostgresSession::connect(&parse(&address)).unwrap();
        let mut mark = CommitMark::start(session, &Sources::system(), &Arc::default()).unwrap();
        let commit = |mark: &mut CommitMark| {
            session.begin_write().unwrap();
            mark.advance(session).unwrap();
            session.commit().unwrap();
        };
        commit(&mut mark);
        assert_eq!(mark.is_stored(session).unwrap(), Some(true));
        session.execute("DELETE FROM commit_mark WHERE writer = ?1", [mark.writer]).unwrap();
        assert_eq!(mark.is_stored(session).unwrap(), None);
        commit(&mut mark);
        assert_eq!(mark.is_stored(session).unwrap(), Some(true));
        session.begin_write().unwrap();
        mark.advance(session).unwrap();
        session.roll_back().unwrap();
        assert_eq!(mark.is_stored(session).unwrap(), Some(false));
    }
}
