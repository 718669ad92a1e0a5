//! The store's writer: decisions and housekeeping, written in groups (see [`crate::write::group_commit`]).

use std::sync::Arc;
use std::time::Duration;

use tillgate_engine::Session;

use crate::StoreError;
use crate::fault::Damage;
use crate::place::store_file::BUSY_TIMEOUT;
use crate::read::change_log::{ChangeLog, Slot};
use crate::write::commit_watch::note_commit;
use crate::write::group_commit::CommitQueue;
use crate::write::job_queue::Lane;

/// Limits on requests that wait for the disk.
#[derive(Debug, Clone, Copy)]
pub struct WriteLimits {
    /// Maximum number of waiting requests. Further ones are refused at once with status 503.
    pub queue: usize,
    /// Maximum time to wait for another process's transaction. Afterwards all waiting requests are refused.
    pub lock_timeout: Duration,
    /// Number of threads that write into a database of a cluster, each for another merchant, on a connection of its
    /// own. A file has one writer.
    pub writers: usize,
}

/// Default of [`WriteLimits::writers`]. Four commits at once share the flushes of the database's log.
pub const DEFAULT_WRITERS: usize = 4;

impl Default for WriteLimits {
    fn default() -> Self {
        Self { queue: 1024, lock_timeout: BUSY_TIMEOUT, writers: DEFAULT_WRITERS }
    }
}

/// The writer of the store in this process. All threads share it.
pub(crate) struct Writer {
    /// Queue to the threads that own the sessions.
    queue: CommitQueue,
    /// Updated on these threads after each commit; readers use it without a lock.
    change_log: Arc<ChangeLog>,
    /// Set on these threads when a write finds a damaged page.
    damage: Arc<Damage>,
}

impl Writer {
    /// Makes the writer of a queue whose threads have started.
    pub(crate) fn new(queue: CommitQueue, change_log: Arc<ChangeLog>, damage: Arc<Damage>) -> Self {
        Self { queue, change_log, damage }
    }

    /// Returns true if requests of different owners are committed side by side.
    pub(crate) fn has_lanes(&self) -> bool {
        self.queue.has_lanes()
    }

    /// Runs a write that changes no payment, so that all cached responses stay valid.
    pub(crate) fn run_write<T: Send + 'static>(
        &self,
        lane: Lane,
        mut write: impl FnMut(&dyn Session) -> Result<T, StoreError> + Send + 'static,
    ) -> impl Future<Output = Result<T, StoreError>> {
        self.run_tracked_write(lane, move |session| Ok((write(session)?, Vec::new())))
    }

    /// Queues a write that returns the slots that it changes. Before the caller receives the outcome, records these
    /// slots in the change log, or the damage that the write or its commit found.
    pub(crate) fn run_tracked_write<T: Send + 'static>(
        &self,
        lane: Lane,
        write: impl FnMut(&dyn Session) -> Result<(T, Vec<Slot>), StoreError> + Send + 'static,
    ) -> impl Future<Output = Result<T, StoreError>> {
        let (change_log, damage) = (Arc::clone(&self.change_log), Arc::clone(&self.damage));
        // Recorded before the caller is answered. Otherwise its next request could get a cached response from before
        // its write.
        let finish = move |outcome: &Result<(T, Vec<Slot>), StoreError>| {
            if let Ok((_, slots)) = outcome {
                change_log.record_commit(slots);
            }
            damage.record_outcome(outcome);
        };
        let written = self.queue.commit_write(lane, write, finish);
        async move {
            let outcome = written.await;
            if outcome.as_ref().map_or_else(StoreError::may_be_stored, |_| true) {
                note_commit();
            }
            Ok(outcome?.0)
        }
    }
}
