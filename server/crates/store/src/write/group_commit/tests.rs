//! Tests of the queue: failed writes, undone transactions, full queues, low priority and known faults.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::mpsc::channel;
use std::task::{Context, Waker};

use tillgate_engine::sqlite::SqliteSession;

use super::*;
use crate::write::writer::Writer;
use crate::{StoreErrorKind, watch_commits};

/// Creates a queue in front of an empty table of numbers, and another session with that table. The folder is
/// deleted when the first value is dropped.
fn start_queue(capacity: usize, hooks: impl CommitHooks) -> (tempfile::TempDir, CommitQueue, SqliteSession) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("numbers.db");
    let session = SqliteSession::open(&file).unwrap();
    session.run_script("CREATE TABLE number (n INTEGER PRIMARY KEY)").unwrap();
    (
        folder,
        CommitQueue::start("numbers", Box::new(session), capacity, hooks).unwrap(),
        SqliteSession::open(&file).unwrap(),
    )
}

/// Inserts a number. Fails if the table has it.
fn insert_number(session: &dyn Session, number: i64) -> Result<(), StoreError> {
    Ok(session.execute("INSERT INTO number (n) VALUES (?1)", [number]).map(drop)?)
}

/// Returns the committed numbers in ascending order.
fn load_numbers(session: &dyn Session) -> Vec<i64> {
    let query = "SELECT n FROM number ORDER BY n";
    session.query_all(query, (), |row| row.get(0)).unwrap()
}

/// Polls a write once, which queues it, and does not wait for it.
fn poll_once<T>(write: Pin<&mut impl Future<Output = Result<T, StoreError>>>) {
    let _ = write.poll(&mut Context::from_waker(Waker::noop()));
}

/// Returns the kind of a failure, or `None` for a success.
fn error_kind<T>(outcome: &Result<T, StoreError>) -> Option<StoreErrorKind> {
    outcome.as_ref().err().map(StoreError::kind)
}

#[tokio::test]
async fn a_write_that_fails_leaves_nothing_and_spoils_no_other() {
    let (_folder, queue, reader) = start_queue(8, ());
    let add = |number| queue.commit_write(Lane::Everything, move |session| insert_number(session, number), |_| ());
    let fail = || {
        let write = |session: &dyn Session| insert_number(session, 3).and_then(|()| insert_number(session, 1));
        queue.commit_write(Lane::Everything, write, |_| ())
    };
    let (one, failed, two) = tokio::join!(add(1), fail(), add(2));
    assert_eq!(
        [error_kind(&one), error_kind(&failed), error_kind(&two)],
        [None, Some(StoreErrorKind::ConstraintViolated), None]
    );
    assert_eq!(load_numbers(&reader), [1, 2]);
}

#[tokio::test]
async fn a_transaction_that_sqlite_undoes_fails_for_everybody_in_it_and_for_nobody_after_it() {
    let (_folder, queue, reader) = start_queue(8, ());
    let (release, released) = channel::<()>();
    let wait = move |_: &dyn Session| {
        released.recv().unwrap();
        Ok(())
    };
    let wait = queue.commit_write(Lane::Everything, wait, |_| ());
    let add = |number| queue.commit_write(Lane::Everything, move |session| insert_number(session, number), |_| ());
    // SQLite does the same by itself when the disk is full.
    let undo = || {
        let write = |session: &dyn Session| -> Result<(), StoreError> {
            session.run_script("ROLLBACK")?;
            Err(Cause::NotCommitted(Some(DiskFault::Full)).into())
        };
        queue.commit_write(Lane::Everything, write, |_| ())
    };
    let (_, before, undone, after, ()) =
        tokio::join!(wait, add(1), undo(), add(2), async { release.send(()).unwrap() });
    // Both requests of the group receive the reason.
    let full = Some(StoreErrorKind::Disk(DiskFault::Full));
    assert_eq!([error_kind(&before), error_kind(&undone), error_kind(&after)], [full, full, None]);
    assert_eq!(load_numbers(&reader), [2]);
}

#[tokio::test]
async fn more_than_may_wait_is_refused_and_what_waits_is_written_before_the_thread_ends() {
    let (_folder, queue, reader) = start_queue(2, ());
    let (release, released) = channel::<()>();
    let (running, runs) = channel();
    let wait = move |_: &dyn Session| {
        running.send(()).unwrap();
        released.recv().unwrap();
        Ok(())
    };
    let mut wait = Box::pin(queue.commit_write(Lane::Everything, wait, |_| ()));
    poll_once(wait.as_mut());
    runs.recv().unwrap();
    let add = |number| queue.commit_write(Lane::Everything, move |session| insert_number(session, number), |_| ());
    let (one, two, three, (), _) = tokio::join!(add(1), add(2), add(3), async { release.send(()).unwrap() }, wait);
    assert_eq!(
        [error_kind(&one), error_kind(&two), error_kind(&three)],
        [None, None, Some(StoreErrorKind::Overloaded)]
    );
    poll_once(Box::pin(queue.commit_write(Lane::Everything, |session| insert_number(session, 4), |_| ())).as_mut());
    drop(queue);
    assert_eq!(load_numbers(&reader), [1, 2, 4]);
}

#[tokio::test]
async fn requests_of_low_priority_come_one_by_one_while_others_wait() {
    /// Counts the commits.
    struct Counting(Arc<AtomicI64>);
    impl CommitHooks for Counting {
        fn after_commit(&mut self, _connection: &dyn Session) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }
    let commits = Arc::new(AtomicI64::new(0));
    let (_folder, queue, _reader) = start_queue(16, Counting(Arc::clone(&commits)));
    let queue = Arc::new(queue);
    let (release, released) = channel::<()>();
    let wait = move |_: &dyn Session| {
        released.recv().unwrap();
        Ok(())
    };
    let wait_queue = Arc::clone(&queue);
    let mut wait = Box::pin(async move { wait_queue.commit_write(Lane::Everything, wait, |_| ()).await });
    poll_once(wait.as_mut());
    // Queues a write. Its value is the number of commits before it, and of writes.
    let order = Arc::new(AtomicI64::new(0));
    let add = move |number| {
        let (queue, commits, order) = (Arc::clone(&queue), Arc::clone(&commits), Arc::clone(&order));
        let mut write = Box::pin(async move {
            let write = move |session: &dyn Session| {
                insert_number(session, number)?;
                Ok((commits.load(Ordering::SeqCst), order.fetch_add(1, Ordering::SeqCst)))
            };
            queue.commit_write(Lane::Everything, write, |_| ()).await
        });
        poll_once(write.as_mut());
        write
    };
    let add_late = add.clone();
    let late = std::thread::spawn(move || {
        tillgate_os::process::lower_priority(tillgate_os::process::BACKGROUND);
        [10, 11, 12].map(add_late)
    });
    let late = late.join().unwrap();
    let soon = [1, 2, 3].map(add);
    release.send(()).unwrap();
    wait.await.unwrap();
    let mut soon_written = Vec::new();
    for write in soon {
        soon_written.push(write.await.unwrap());
    }
    let mut late_written = Vec::new();
    for write in late {
        late_written.push(write.await.unwrap());
    }
    assert_eq!(soon_written, [(0, 0), (0, 1), (0, 2)], "they join the group that waits");
    assert_eq!(late_written, [(1, 3), (1, 4), (1, 5)], "nobody else waits then");
}

#[tokio::test]
async fn a_known_fault_refuses_everything() {
    struct Broken;
    impl CommitHooks for Broken {
        fn known_fault(&self) -> Option<DiskFault> {
            Some(DiskFault::Damaged)
        }
    }
    let (_folder, queue, reader) = start_queue(8, Broken);
    let refused = queue.commit_write(Lane::Everything, |session| insert_number(session, 1), |_| ()).await;
    assert_eq!(error_kind(&refused), Some(StoreErrorKind::Disk(DiskFault::Damaged)));
    assert!(load_numbers(&reader).is_empty());
}

#[tokio::test]
async fn what_is_undone_is_not_stored_and_what_nobody_knows_may_be() {
    struct Losing(ErrorKind);
    impl CommitHooks for Losing {
        fn before_commit(&mut self, _: &dyn Session) -> Result<(), StoreError> {
            Err(Error::new(self.0, "the connection is gone").into())
        }
    }
    for (kind, fault, may_be_stored) in [
        (ErrorKind::UnknownCommit, DiskFault::Unreachable, true),
        (ErrorKind::DoubtfulCommit, DiskFault::Failing, true),
        (ErrorKind::Unavailable, DiskFault::Unreachable, false),
        (ErrorKind::DiskFull, DiskFault::Full, false),
    ] {
        let (_folder, queue, _reader) = start_queue(8, Losing(kind));
        let writer = Writer::new(queue, Arc::default(), Arc::default());
        let write = writer.run_write(Lane::Everything, |session| insert_number(session, 1));
        let (outcome, said) = watch_commits(write).await;
        assert_eq!(error_kind(&outcome), Some(StoreErrorKind::Disk(fault)));
        assert_eq!(said, may_be_stored, "{kind:?}");
    }
}
