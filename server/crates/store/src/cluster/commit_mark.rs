//! Marks of commits. Each commit of a writer changes its row, so that the row tells whether a commit was done whose
//! answer was lost, and whether the database still has what it has confirmed.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use jiff::{SignedDuration, Timestamp};
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
    /// True if the database of the current session lacks such a commit.
    is_missing: bool,
    /// The beginning of the writer.
    began: Timestamp,
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
        let (began, sources) = (sources.now(), sources.clone());
        let mark = Self { writer, number: 0, confirmed: 0, is_missing: false, began, lacks_commits, sources };
        // The rows of writers that ended long ago.
        let oldest = (began - KEPT).as_millisecond();
        session.execute("DELETE FROM commit_mark WHERE began < ?1", [oldest])?;
        // Before the first commit, so that a row that is not there was undone or lost.
        mark.write(session)?;
        Ok(mark)
    }

    /// Marks the transaction that is about to be committed. The row is there already, unless a later writer has taken
    /// this one for one that ended long ago.
    pub(super) fn advance(&mut self, session: &dyn Session) -> Result<(), StoreError> {
        self.number += 1;
        self.write(session)
    }

    /// Writes the row, and waits until the database has locked it: a commit that is still in the network or in a buffer
    /// of the database when its connection is lost would look undone to [`Self::is_stored`] otherwise, and be made
    /// twice.
    fn write(&self, session: &dyn Session) -> Result<(), StoreError> {
        let query = "INSERT INTO commit_mark (writer, number, began) VALUES (?1, ?2, ?3)
                ON CONFLICT (writer) DO UPDATE SET number = excluded.number";
        session.execute(query, params![self.writer, self.number, self.sources.now().as_millisecond()])?;
        Ok(())
    }

    /// Notes that the marked transaction is committed. Logs an error if the database has lacked earlier ones then: only
    /// now is it known that they are gone, and that this is not an old primary which is about to learn that it is none.
    pub(super) fn confirm(&mut self) {
        self.confirmed = self.number;
        if std::mem::take(&mut self.is_missing) {
            self.lacks_commits.store(true, Ordering::Release);
            tracing::error!(
                "the database lacks commits that it has confirmed, so payments may be gone that merchants were told of: \
                 compare the acquirer's records with the payments of this time, and restart the nodes"
            );
        }
    }

    /// Checks on a new session if the database still has what it has confirmed. It has not if a primary comes back that
    /// has missed it, or if it was on no standby when the primary failed.
    pub(super) fn check_confirmed(&mut self, session: &dyn Session) -> Result<(), StoreError> {
        let query = "SELECT number FROM commit_mark WHERE writer = ?1";
        match session.query_optional(query, [self.writer], |row| row.get::<i64>(0))? {
            // A commit in doubt, which says nothing about the earlier ones.
            Some(stored) if stored > self.confirmed => {}
            Some(stored) => self.is_missing = stored < self.confirmed,
            // The row of a writer that is too old may have been deleted.
            None => self.is_missing = self.confirmed > 0 && self.sources.now().duration_since(self.began) < KEPT,
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
    fn a_transaction_that_has_not_been_told_to_commit_yet_is_waited_for() {
        let address = CLUSTER.create_database().unwrap();
        let _node = open_node(&address);
        let connect = || PostgresSession::connect(&parse(&address)).unwrap();
        let (writer, observer) = (connect(), connect());
        let mut mark = CommitMark::start(&writer, &Sources::system(), &Arc::default()).unwrap();
        writer.begin_write().unwrap();
        mark.advance(&writer).unwrap();
        std::thread::scope(|scope| {
            let asking = scope.spawn(|| mark.is_stored(&connect()).unwrap());
            let query = "SELECT count(*) FROM pg_stat_activity
                WHERE query LIKE '%FROM commit_mark%FOR UPDATE%' AND wait_event_type = 'Lock'";
            let observer: &dyn Session = &observer;
            let is_waiting = || observer.query_one(query, (), |row| row.get::<i64>(0)).unwrap() == 1;
            while !is_waiting() {
                assert!(!asking.is_finished(), "the commit may still come");
            }
            writer.commit().unwrap();
            assert_eq!(asking.join().unwrap(), Some(true));
        });
    }

    #[test]
    fn a_commit_that_is_gone_is_told_with_the_next_one() {
        let address = CLUSTER.create_database().unwrap();
        let _node = open_node(&address);
        let session: &dyn Session = &PostgresSession::connect(&parse(&address)).unwrap();
        let commit = |mark: &mut CommitMark| {
            session.begin_write().unwrap();
            mark.advance(session).unwrap();
            session.commit().unwrap();
        };
        for (edit, is_lost) in [
            ("SELECT 1", false),
            ("UPDATE commit_mark SET number = number - 1", true),
            ("DELETE FROM commit_mark", true),
            // The answer to a later commit was lost.
            ("UPDATE commit_mark SET number = number + 1", false),
        ] {
            let said = Arc::default();
            let mut mark = CommitMark::start(session, &Sources::system(), &said).unwrap();
            let lacks = || AtomicBool::load(&said, Ordering::Acquire);
            commit(&mut mark);
            mark.confirm();
            session.run_script(edit).unwrap();
            mark.check_confirmed(session).unwrap();
            assert!(!lacks(), "{edit}: it may be an old primary");
            commit(&mut mark);
            // The connection is lost again before it is known that this is done.
            mark.check_confirmed(session).unwrap();
            mark.confirm();
            assert_eq!(lacks(), is_lost, "{edit}");
        }
    }

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
