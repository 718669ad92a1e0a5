//! Group commit: one thread owns a connection and commits all queued requests as one transaction.
//!
//! The thread runs the requests one after the other, commits, and then answers all of them. If one fails, the others
//! are not affected (see [`super::group_transaction`]). If the commit fails, all of them fail. The thread does not wait
//! to fill a group: under light load a group is one request.
//!
//! Requests of threads with low priority are later ones: a group has one of them, and more only while no other request
//! waits. So the large writes of one tenant delay another one's payment by one write, and still come one by one.

use std::sync::mpsc::{RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rusqlite::Connection;
use tillgate_machine::process::is_low_priority;
use tokio::sync::oneshot;

use super::error::Cause;
use super::group_transaction::{GroupTransaction, WrittenRows};
use super::waiting_jobs::{CompletionCallback, NotDurable, RunRequest, WaitingJobs, WriteJob};
use super::{DiskFault, StoreError};

/// Maximum number of requests in one commit.
const MAX_GROUP: usize = 256;

/// Work of the thread besides the requests.
pub(super) trait CommitHooks: Send + 'static {
    /// Interval of [`CommitHooks::on_interval`].
    const INTERVAL: Duration = Duration::MAX;

    /// Returns the fault that forbids all writes, if there is one.
    fn known_fault(&self) -> Option<DiskFault> {
        None
    }

    /// Runs before each commit, inside the transaction.
    ///
    /// # Errors
    /// If the transaction must not be committed. It is undone, and its requests fail.
    fn before_commit(&mut self, _connection: &Connection) -> Result<(), StoreError> {
        Ok(())
    }

    /// Runs after each commit, also a failed one, once its requests have been answered.
    fn after_commit(&mut self, _connection: &Connection) {}

    /// Runs at intervals, between commits.
    fn on_interval(&mut self, _connection: &Connection) {}
}

/// No other work.
impl CommitHooks for () {}

/// The queue in front of the thread. Dropping it waits until all queued requests are written.
pub(super) struct CommitQueue {
    /// `None` while the queue is being dropped, which ends the thread.
    jobs: Option<SyncSender<WriteJob>>,
    /// `None` once it has been joined.
    thread: Option<JoinHandle<()>>,
}

impl CommitQueue {
    /// Starts the thread under this name. At most `capacity` requests wait; further ones are refused.
    pub(super) fn start(
        name: &str,
        connection: Connection,
        capacity: usize,
        hooks: impl CommitHooks,
    ) -> Result<Self, StoreError> {
        let (sender, jobs) = sync_channel(capacity);
        let thread = std::thread::Builder::new()
            .name(name.to_owned())
            .spawn(move || {
                let waiting = WaitingJobs::new(jobs, capacity);
                CommitThread { connection, hooks }.process_jobs(waiting);
            })
            .map_err(|error| Cause::File(name.into(), error))?;
        Ok(Self { jobs: Some(sender), thread: Some(thread) })
    }

    /// Queues a write at once, so that the returned future, which waits for its commit, need not hold it. Fails with
    /// `Overloaded` if the queue is full. The write runs even if the future is dropped. `finish` runs on the thread
    /// just before the caller receives the outcome.
    pub(super) fn commit_write<T: Send + 'static>(
        &self,
        write: impl FnOnce(&Connection) -> Result<(T, WrittenRows), StoreError> + Send + 'static,
        finish: impl FnOnce(&Result<T, StoreError>) + Send + 'static,
    ) -> impl Future<Output = Result<T, StoreError>> {
        let (sender, receiver) = oneshot::channel();
        let run: RunRequest = Box::new(move |transaction| {
            let written = match transaction {
                Ok(transaction) => transaction.run_request(write),
                Err(fault) => Err(Cause::NotCommitted(fault).into()),
            };
            let fault = written.as_ref().err().and_then(StoreError::disk_fault);
            let complete: CompletionCallback = Box::new(move |durable| {
                let outcome = match (written, durable) {
                    (Ok(_), Err(fault)) => Err(Cause::NotCommitted(fault).into()),
                    (written, _) => written,
                };
                finish(&outcome);
                // The caller may have stopped waiting. Committed data stays committed.
                let _ = sender.send(outcome);
            });
            (complete, fault)
        });
        // The priority is read here, because the thread that queues the write is not the one that runs it.
        let queued = self.queue_job(WriteJob { run, is_later: is_low_priority() });
        async move {
            queued?;
            receiver.await.map_err(|_| Cause::Stopped)?
        }
    }

    /// Queues a job. Fails with `Overloaded` if the queue is full.
    fn queue_job(&self, job: WriteJob) -> Result<(), StoreError> {
        let jobs = self.jobs.as_ref().ok_or(Cause::Stopped)?;
        // The queue never blocks its callers, because they run on threads that serve other requests as well.
        jobs.try_send(job).map_err(|error| match error {
            TrySendError::Full(_) => Cause::Overloaded,
            TrySendError::Disconnected(_) => Cause::Stopped,
        })?;
        Ok(())
    }
}

impl Drop for CommitQueue {
    fn drop(&mut self) {
        // Closing the queue lets the thread finish the queued requests.
        self.jobs = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// State of the thread.
struct CommitThread<C> {
    connection: Connection,
    hooks: C,
}

impl<C: CommitHooks> CommitThread<C> {
    /// Commits queued requests until the queue is closed and empty. Calls `on_interval` at intervals, also while no
    /// request comes.
    fn process_jobs(mut self, mut waiting: WaitingJobs) {
        let mut last_interval = Instant::now();
        loop {
            match waiting.wait_for_first(C::INTERVAL) {
                Ok(first) => self.commit_group(first, &mut waiting),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            // Checked after each group as well, because the wait of a busy queue never times out.
            if last_interval.elapsed() >= C::INTERVAL {
                last_interval = Instant::now();
                self.hooks.on_interval(&self.connection);
            }
        }
    }

    /// Commits a request and those that wait behind it, at most [`MAX_GROUP`], as one transaction, then answers all of
    /// them. Refuses all waiting requests if a fault is known or the transaction cannot begin. If SQLite undoes the
    /// transaction midway, fails the requests run so far; the next group takes the others.
    fn commit_group(&mut self, first: WriteJob, waiting: &mut WaitingJobs) {
        if let Some(fault) = self.hooks.known_fault() {
            return waiting.refuse_all(first, Some(fault));
        }
        let mut transaction = match GroupTransaction::begin(&self.connection) {
            Ok(transaction) => transaction,
            Err(error) => {
                tracing::error!(%error, "beginning a transaction failed");
                // Refuse all waiting requests, because each one alone would wait for the busy disk again.
                return waiting.refuse_all(first, DiskFault::from_sqlite(&error));
            }
        };
        let mut callbacks = Vec::new();
        let mut undone = None;
        let mut accepts_later = true;
        let mut next = Some(first);
        while let Some(job) = next {
            accepts_later &= job.is_later;
            let (complete, fault) = (job.run)(Ok(&mut transaction));
            callbacks.push(complete);
            // On a full disk SQLite undoes the whole transaction, including the earlier requests of this group.
            if transaction.is_undone() {
                undone = Some(fault);
                break;
            }
            // The first request of a group waits for all others, so the size of a group is limited.
            next = if callbacks.len() == MAX_GROUP { None } else { waiting.take_next(accepts_later) };
        }
        let durable = match undone {
            Some(fault) => {
                tracing::error!(
                    requests = callbacks.len(),
                    fault = fault.map(DiskFault::as_str),
                    "a transaction was undone"
                );
                Err(fault)
            }
            None => self.commit_transaction(callbacks.len()),
        };
        // Callers are answered after the commit, so that no response reports data that a crash could still lose.
        for complete in callbacks {
            complete(durable);
        }
        // The hooks come after the answers, so that a checkpoint delays no response.
        self.hooks.after_commit(&self.connection);
    }

    /// Commits the transaction of this number of requests. If that fails, logs the error, rolls back, and returns the
    /// disk fault.
    fn commit_transaction(&mut self, requests: usize) -> Result<(), NotDurable> {
        let commit = |connection: &Connection| Ok(connection.prepare_cached("COMMIT")?.execute([]).map(drop)?);
        let committed = self.hooks.before_commit(&self.connection).and_then(|()| commit(&self.connection));
        committed.map_err(|error: StoreError| {
            tracing::error!(%error, requests, "committing a transaction failed");
            // Some failures end the transaction by themselves, and a rollback would fail without one.
            if !self.connection.is_autocommit() {
                // The next group could not begin while this transaction is open.
                let _ = self.connection.execute_batch("ROLLBACK");
            }
            error.disk_fault()
        })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::pin::Pin;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicI64, Ordering};
    use std::sync::mpsc::channel;
    use std::task::{Context, Waker};

    use super::*;
    use crate::StoreErrorKind;

    /// Creates a queue in front of an empty table of numbers, and another connection to that table. The folder is
    /// deleted when the first value is dropped.
    fn start_queue(capacity: usize, hooks: impl CommitHooks) -> (tempfile::TempDir, CommitQueue, Connection) {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("numbers.db");
        let connection = Connection::open(&file).unwrap();
        connection.execute_batch("CREATE TABLE number (n INTEGER PRIMARY KEY)").unwrap();
        (folder, CommitQueue::start("numbers", connection, capacity, hooks).unwrap(), Connection::open(file).unwrap())
    }

    /// Inserts a number. Fails if the table has it.
    fn insert_number(connection: &Connection, number: i64) -> Result<((), WrittenRows), StoreError> {
        connection.execute("INSERT INTO number (n) VALUES (?1)", [number])?;
        Ok(((), WrittenRows::Once))
    }

    /// Returns the committed numbers in ascending order.
    fn load_numbers(connection: &Connection) -> Vec<i64> {
        let mut statement = connection.prepare("SELECT n FROM number ORDER BY n").unwrap();
        statement.query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap()
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
        let add = |number| queue.commit_write(move |connection| insert_number(connection, number), |_| ());
        let fail = || {
            let write =
                |connection: &Connection| insert_number(connection, 3).and_then(|_| insert_number(connection, 1));
            queue.commit_write(write, |_| ())
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
        let wait = move |_: &Connection| {
            released.recv().unwrap();
            Ok(((), WrittenRows::Nothing))
        };
        let wait = queue.commit_write(wait, |_| ());
        let add = |number| queue.commit_write(move |connection| insert_number(connection, number), |_| ());
        // SQLite does the same by itself when the disk is full.
        let undo = || {
            let write = |connection: &Connection| -> Result<((), WrittenRows), StoreError> {
                connection.execute_batch("ROLLBACK")?;
                Err(Cause::NotCommitted(Some(DiskFault::Full)).into())
            };
            queue.commit_write(write, |_| ())
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
        let wait = move |_: &Connection| {
            running.send(()).unwrap();
            released.recv().unwrap();
            Ok(((), WrittenRows::Nothing))
        };
        let mut wait = Box::pin(queue.commit_write(wait, |_| ()));
        poll_once(wait.as_mut());
        runs.recv().unwrap();
        let add = |number| queue.commit_write(move |connection| insert_number(connection, number), |_| ());
        let (one, two, three, (), _) = tokio::join!(add(1), add(2), add(3), async { release.send(()).unwrap() }, wait);
        assert_eq!(
            [error_kind(&one), error_kind(&two), error_kind(&three)],
            [None, None, Some(StoreErrorKind::Overloaded)]
        );
        poll_once(Box::pin(queue.commit_write(|connection| insert_number(connection, 4), |_| ())).as_mut());
        drop(queue);
        assert_eq!(load_numbers(&reader), [1, 2, 4]);
    }

    #[tokio::test]
    async fn requests_of_low_priority_come_one_by_one_while_others_wait() {
        /// Counts the commits.
        struct Counting(Arc<AtomicI64>);
        impl CommitHooks for Counting {
            fn after_commit(&mut self, _connection: &Connection) {
                self.0.fetch_add(1, Ordering::SeqCst);
            }
        }
        let commits = Arc::new(AtomicI64::new(0));
        let (_folder, queue, _reader) = start_queue(16, Counting(Arc::clone(&commits)));
        let queue = Arc::new(queue);
        let (release, released) = channel::<()>();
        let wait = move |_: &Connection| {
            released.recv().unwrap();
            Ok(((), WrittenRows::Nothing))
        };
        let wait_queue = Arc::clone(&queue);
        let mut wait = Box::pin(async move { wait_queue.commit_write(wait, |_| ()).await });
        poll_once(wait.as_mut());
        // Queues a write. Its value is the number of commits before it, and of writes.
        let order = Arc::new(AtomicI64::new(0));
        let add = move |number| {
            let (queue, commits, order) = (Arc::clone(&queue), Arc::clone(&commits), Arc::clone(&order));
            let mut write = Box::pin(async move {
                let write = move |connection: &Connection| {
                    let (_, rows) = insert_number(connection, number)?;
                    Ok(((commits.load(Ordering::SeqCst), order.fetch_add(1, Ordering::SeqCst)), rows))
                };
                queue.commit_write(write, |_| ()).await
            });
            poll_once(write.as_mut());
            write
        };
        let add_late = add.clone();
        let late = std::thread::spawn(move || {
            tillgate_machine::process::lower_priority(tillgate_machine::process::BACKGROUND);
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
        let refused = queue.commit_write(|connection| insert_number(connection, 1), |_| ()).await;
        assert_eq!(error_kind(&refused), Some(StoreErrorKind::Disk(DiskFault::Damaged)));
        assert!(load_numbers(&reader).is_empty());
    }
}
