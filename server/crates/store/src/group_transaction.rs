//! The transaction of a group commit. Nothing of a request that fails stays, and the others are not affected.
//!
//! A savepoint for each request would cost a copy of every page that the request changes. So requests share a
//! savepoint. If one of them fails, all since the savepoint are undone, and the earlier ones are written again, under
//! the same lock. The first request of a group needs no savepoint.

use tillgate_engine::Session;

use super::StoreError;

/// Name of the savepoint that requests share.
const SAVEPOINT: &str = "requests";

/// Writes the rows of a request again. In an unchanged store it writes the same as the first time.
pub(super) type RepeatWrite = Box<dyn Fn(&dyn Session) -> Result<(), StoreError> + Send>;

/// Rows that a request has written.
pub(super) enum WrittenRows {
    /// None.
    Nothing,
    /// Rows that can be written again.
    Repeatable(RepeatWrite),
    /// Rows that can be written only once. Later requests need a new savepoint.
    Once,
}

/// A transaction in which requests run one after the other.
pub(super) struct GroupTransaction<'a> {
    session: &'a dyn Session,
    /// True until a request has written rows.
    is_empty: bool,
    has_savepoint: bool,
    /// The requests since the savepoint, oldest first.
    repeats: Vec<RepeatWrite>,
}

impl<'a> GroupTransaction<'a> {
    /// Takes over the transaction that a session has just begun, with the write lock.
    pub(super) fn new(session: &'a dyn Session) -> Self {
        Self { session, is_empty: true, has_savepoint: false, repeats: Vec::new() }
    }

    /// Runs a request. Nothing of it stays if it fails.
    ///
    /// # Errors
    /// The request's own. If a fault ended the whole transaction, that fault; the caller has to check
    /// [`Self::is_undone`].
    pub(super) fn run_request<T>(
        &mut self,
        write: impl FnOnce(&dyn Session) -> Result<(T, WrittenRows), StoreError>,
    ) -> Result<T, StoreError> {
        if !self.is_empty && !self.has_savepoint {
            self.session.set_savepoint(SAVEPOINT)?;
            self.has_savepoint = true;
        }
        let error = match write(self.session).and_then(|(value, written)| self.keep_rows(written).map(|()| value)) {
            Ok(value) => return Ok(value),
            // A disk fault may have undone the whole transaction.
            Err(error) if self.is_undone() => return Err(error),
            Err(error) => error,
        };
        let Err(fault) = self.roll_back_request() else { return Err(error) };
        tracing::error!(%error, %fault, "a request failed and cannot be undone alone");
        // Fails if SQLite has undone the transaction meanwhile.
        let _ = self.session.roll_back();
        Err(fault)
    }

    /// Returns true if the transaction has ended without a commit.
    pub(super) fn is_undone(&self) -> bool {
        !self.session.is_in_transaction()
    }

    /// Keeps the rows of a request that succeeded.
    fn keep_rows(&mut self, written: WrittenRows) -> Result<(), StoreError> {
        match written {
            WrittenRows::Nothing => return Ok(()),
            // Without a savepoint nothing undoes it any more.
            WrittenRows::Repeatable(repeat) if self.has_savepoint => self.repeats.push(repeat),
            WrittenRows::Repeatable(_) => {}
            // These rows cannot be written again, so a later failure must not roll back beyond them.
            WrittenRows::Once => self.release_savepoint()?,
        }
        self.is_empty = false;
        Ok(())
    }

    /// Undoes the last request, which failed. Fails if the earlier requests cannot be kept.
    fn roll_back_request(&mut self) -> Result<(), StoreError> {
        if self.is_empty {
            // There is no savepoint before the first rows, and nothing of other requests to keep.
            self.session.roll_back()?;
            return Ok(self.session.begin_write()?);
        }
        self.session.return_to_savepoint(SAVEPOINT)?;
        for repeat in &self.repeats {
            repeat(self.session)?;
        }
        // So that a request is repeated once at most, however many fail.
        self.release_savepoint()
    }

    /// Ends the savepoint, so that the requests since then stay whatever fails later.
    fn release_savepoint(&mut self) -> Result<(), StoreError> {
        if self.has_savepoint {
            self.session.release_savepoint(SAVEPOINT)?;
            self.has_savepoint = false;
            self.repeats.clear();
        }
        Ok(())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU8, Ordering};

    use tillgate_engine::sqlite::SqliteSession;

    use super::super::StoreErrorKind;
    use super::*;

    /// Creates an empty table of numbers in memory.
    fn create_table() -> SqliteSession {
        let session = SqliteSession::open_in_memory().unwrap();
        session.run_script("CREATE TABLE number (n INTEGER PRIMARY KEY)").unwrap();
        session
    }

    fn begin(session: &dyn Session) -> GroupTransaction<'_> {
        session.begin_write().unwrap();
        GroupTransaction::new(session)
    }

    /// Inserts a number. Fails if the table has it.
    fn insert_number(session: &dyn Session, number: i64) -> Result<(), StoreError> {
        session.execute("INSERT INTO number (n) VALUES (?1)", [number])?;
        Ok(())
    }

    /// Inserts a number, which may be repeated.
    fn add_repeatable(transaction: &mut GroupTransaction<'_>, number: i64) {
        let insert = move |session: &dyn Session| insert_number(session, number);
        let write = |session: &dyn Session| {
            insert(session)?;
            Ok(((), WrittenRows::Repeatable(Box::new(insert))))
        };
        transaction.run_request(write).unwrap();
    }

    /// Inserts a number, which may not be repeated.
    fn add_once(transaction: &mut GroupTransaction<'_>, number: i64) {
        let write = |session: &dyn Session| Ok((insert_number(session, number)?, WrittenRows::Once));
        transaction.run_request(write).unwrap();
    }

    /// Inserts a number, and then fails by inserting it again.
    fn fail(transaction: &mut GroupTransaction<'_>, number: i64) {
        let write = |session: &dyn Session| {
            insert_number(session, number)?;
            Ok((insert_number(session, number)?, WrittenRows::Once))
        };
        let error = transaction.run_request(write).unwrap_err();
        assert_eq!(error.kind(), StoreErrorKind::ConstraintViolated);
    }

    /// Commits. Returns the numbers in ascending order.
    fn commit(session: &dyn Session) -> Vec<i64> {
        session.commit().unwrap();
        let query = "SELECT n FROM number ORDER BY n";
        session.query_all(query, (), |row| row.get(0)).unwrap()
    }

    #[test]
    fn requests_that_fail_leave_nothing_wherever_they_are_in_the_group() {
        let session = create_table();
        let mut transaction = begin(&session);
        fail(&mut transaction, 100);
        add_repeatable(&mut transaction, 1);
        fail(&mut transaction, 100);
        add_repeatable(&mut transaction, 2);
        add_repeatable(&mut transaction, 3);
        fail(&mut transaction, 100);
        fail(&mut transaction, 100);
        add_once(&mut transaction, 4);
        fail(&mut transaction, 100);
        add_repeatable(&mut transaction, 5);
        add_once(&mut transaction, 6);
        add_repeatable(&mut transaction, 7);
        fail(&mut transaction, 100);
        assert!(!transaction.is_undone());
        assert_eq!(commit(&session), [1, 2, 3, 4, 5, 6, 7]);
    }

    #[test]
    fn a_request_runs_again_once_however_many_fail_after_it() {
        let session = create_table();
        let mut transaction = begin(&session);
        add_repeatable(&mut transaction, 1);
        let runs = Arc::new(AtomicU8::new(0));
        let counted = Arc::clone(&runs);
        let insert = move |session: &dyn Session| {
            counted.fetch_add(1, Ordering::Relaxed);
            insert_number(session, 2)
        };
        let write = |session: &dyn Session| {
            insert(session)?;
            Ok(((), WrittenRows::Repeatable(Box::new(insert))))
        };
        transaction.run_request(write).unwrap();
        for _ in 0..3 {
            fail(&mut transaction, 100);
        }
        assert_eq!(runs.load(Ordering::Relaxed), 2);
        assert_eq!(commit(&session), [1, 2]);
    }

    #[test]
    fn the_whole_transaction_is_undone_if_a_request_cannot_run_again() {
        let session = create_table();
        let mut transaction = begin(&session);
        add_repeatable(&mut transaction, 1);
        let insert_same = |session: &dyn Session| insert_number(session, 1);
        let write = |session: &dyn Session| {
            insert_number(session, 2)?;
            Ok(((), WrittenRows::Repeatable(Box::new(insert_same))))
        };
        transaction.run_request(write).unwrap();
        fail(&mut transaction, 100);
        assert!(transaction.is_undone());
        session.run_script("BEGIN").unwrap();
        assert!(commit(&session).is_empty());
    }
}
