//! The ledger's writer: one thread with the only connection, which commits whatever is queued as one group.

use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;

use rusqlite::Connection;
use tokio::sync::oneshot;

use super::super::writer::in_savepoint;
use super::super::{DiskFault, StoreError};

/// Requests that may wait; more are refused.
const QUEUE: usize = 1024;
/// Requests in one commit.
const GROUP: usize = 256;

/// Runs inside the transaction, and returns how to answer once it is known whether that became durable.
type Job = Box<dyn FnOnce(&Connection) -> Answer + Send>;
type Answer = Box<dyn FnOnce(Result<(), Option<DiskFault>>) + Send>;

pub(super) struct LedgerWriter {
    /// `None` while this is dropped, which ends the thread.
    queue: Option<SyncSender<Job>>,
    thread: Option<JoinHandle<()>>,
}

impl LedgerWriter {
    pub(super) fn start(connection: Connection) -> Result<Self, StoreError> {
        let (queue, jobs) = sync_channel(QUEUE);
        let thread = std::thread::Builder::new()
            .name("acquirer-ledger".to_owned())
            .spawn(move || {
                while let Ok(first) = jobs.recv() {
                    commit_group(&connection, first, &jobs);
                }
            })
            .map_err(|error| StoreError::File("acquirer-ledger".into(), error))?;
        Ok(Self { queue: Some(queue), thread: Some(thread) })
    }

    /// Queues a job, which runs even if its caller goes away, and waits for its commit.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (sender, receiver) = oneshot::channel();
        let job: Job = Box::new(move |connection| {
            let outcome = in_savepoint(connection, work);
            Box::new(move |durable| {
                let outcome = outcome.and_then(|value| durable.map(|()| value).map_err(StoreError::NotCommitted));
                let _ = sender.send(outcome);
            })
        });
        let queue = self.queue.as_ref().ok_or(StoreError::Stopped)?;
        queue.try_send(job).map_err(|error| match error {
            TrySendError::Full(_) => StoreError::Overloaded,
            TrySendError::Disconnected(_) => StoreError::Stopped,
        })?;
        receiver.await.map_err(|_| StoreError::Stopped)?
    }
}

impl Drop for LedgerWriter {
    fn drop(&mut self) {
        // Closing the queue lets the thread finish what is in it.
        self.queue = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn commit_group(connection: &Connection, first: Job, jobs: &Receiver<Job>) {
    let begun = connection.prepare_cached("BEGIN IMMEDIATE").and_then(|mut begin| begin.execute([]));
    if let Err(error) = begun {
        // The job is dropped, so its caller is told that there is no answer.
        tracing::error!(%error, "the acquirer's ledger cannot be written");
        return;
    }
    let mut answers = Vec::new();
    for job in std::iter::once(first).chain(jobs.try_iter().take(GROUP - 1)) {
        answers.push(job(connection));
    }
    let committed = connection.prepare_cached("COMMIT").and_then(|mut commit| commit.execute([]));
    let outcome = committed.map(drop).map_err(|error| {
        tracing::error!(%error, "the acquirer's ledger cannot be written");
        let _ = connection.execute_batch("ROLLBACK");
        DiskFault::of(&error)
    });
    for answer in answers {
        answer(outcome);
    }
}
