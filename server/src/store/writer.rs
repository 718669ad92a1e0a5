//! The writer: one thread that owns the write connection and commits in groups.
//!
//! It takes whatever is queued, opens one transaction, gives each request a savepoint of its own, commits, and then
//! answers all of them; a commit that fails answers all of them so. There is no waiting timer: under light load a group
//! is one request.

use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rusqlite::Connection;
use tokio::sync::oneshot;

use super::changed::{Changed, Slot};
use super::checkpoint::Checkpointer;
use super::{
    Changes, Damage, DiskFault, Keyring, Keys, Loaded, Sources, StoreError, Written, entity, rows, vault_keys,
};
use crate::directory::Directory;
use crate::domain::refusal::Refusal;

/// Most requests that are refused together.
const REFUSED_TOGETHER: usize = 1024;
/// Requests in one commit.
const GROUP: usize = 256;
/// Interval at which the writer checks `PRAGMA data_version` for changes by other processes. A check reads shared memory
/// only, so that a merchant made by the command line can pay at once.
const WATCH: Duration = Duration::from_millis(50);

/// Runs inside the transaction, or learns why there is none, and returns how to answer once it is known whether it became
/// durable.
type Job = Box<dyn FnOnce(Result<&Connection, NotDurable>) -> Answer + Send>;
type Answer = Box<dyn FnOnce(Result<(), NotDurable>) + Send>;
/// The fault because of which a transaction is not durable, if one is known.
type NotDurable = Option<DiskFault>;

/// Limits on what waits for the disk.
#[derive(Debug, Clone, Copy)]
pub struct WriteLimits {
    /// Requests that may wait; more are refused at once with 503.
    pub queue: usize,
    /// How long a write waits for another process's transaction before all that wait are refused.
    pub lock_timeout: Duration,
}

impl Default for WriteLimits {
    fn default() -> Self {
        Self { queue: 1024, lock_timeout: super::schema::BUSY }
    }
}

pub(super) struct Writer {
    queue: Option<SyncSender<Job>>,
    changed: Arc<Changed>,
    damage: Arc<Damage>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    pub(super) fn start(
        connection: Connection,
        folder: &Path,
        limits: WriteLimits,
        directory: Arc<Directory>,
        changed: Arc<Changed>,
        damage: Arc<Damage>,
        keys: Option<Keyring>,
    ) -> Result<Self, StoreError> {
        connection.busy_timeout(limits.lock_timeout)?;
        // Automatic checkpoints would run inside somebody's commit.
        connection.pragma_update(None, "wal_autocheckpoint", 0)?;
        let checkpointer = Checkpointer::start(folder)?;
        let noted = Arc::clone(&damage);
        let (queue, jobs) = sync_channel(limits.queue);
        let thread = std::thread::Builder::new()
            .name("store-writer".to_owned())
            .spawn(move || {
                let watched = Instant::now();
                WriterThread { connection, directory, damage, keys, checkpointer, version: None, watched }.run(&jobs);
            })
            .map_err(|error| StoreError::File(folder.to_owned(), error))?;
        Ok(Self { queue: Some(queue), changed, damage: noted, thread: Some(thread) })
    }

    /// As [`super::Store::update`]; and whether a message was written.
    pub(super) async fn update<T, D>(&self, keys: Keys, sources: Sources, decide: D) -> Written<(T, bool)>
    where
        T: Send + 'static,
        D: FnOnce(Loaded) -> Result<(Changes, T), Refusal> + Send + 'static,
    {
        self.run_changing(move |connection| {
            let loaded = rows::load(connection, &keys)?;
            match decide(loaded) {
                Ok((changes, value)) => {
                    let told = changes.apply(connection, &sources)?;
                    Ok((Ok((value, told)), changes.slots()))
                }
                Err(refusal) => Ok((Err(refusal), Vec::new())),
            }
        })
        .await
    }

    /// A write that changes no payment.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        write: impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.run_changing(move |connection| Ok((write(connection)?, Vec::new()))).await
    }

    /// A write that tells what it changes.
    async fn run_changing<T: Send + 'static>(
        &self,
        write: impl FnOnce(&Connection) -> Result<(T, Vec<Slot>), StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (sender, receiver) = oneshot::channel();
        let (changed, damage) = (Arc::clone(&self.changed), Arc::clone(&self.damage));
        let job: Job = Box::new(move |connection| {
            let outcome = match connection {
                Ok(connection) => in_savepoint(connection, write),
                Err(fault) => Err(StoreError::NotCommitted(fault)),
            };
            Box::new(move |durable| {
                let outcome = match (outcome, durable) {
                    (Ok(_), Err(fault)) => Err(StoreError::NotCommitted(fault)),
                    (Ok((value, slots)), Ok(())) => {
                        changed.committed(&slots);
                        Ok(value)
                    }
                    (Err(error), _) => Err(error),
                };
                damage.note(&outcome);
                // The client may have gone; what was committed stays committed.
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

impl Drop for Writer {
    fn drop(&mut self) {
        // Closing the queue lets the thread finish what is in it.
        self.queue = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Runs a write of its own inside the transaction of a group. Nothing of it stays if it fails.
pub(super) fn in_savepoint<T>(
    connection: &Connection,
    write: impl FnOnce(&Connection) -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    connection.prepare_cached("SAVEPOINT request")?.execute([])?;
    let outcome = write(connection);
    if outcome.is_err() {
        connection.prepare_cached("ROLLBACK TO request")?.execute([])?;
    }
    connection.prepare_cached("RELEASE request")?.execute([])?;
    outcome
}

/// Answers everything that waits that nothing was written.
fn refuse_all(first: Job, jobs: &Receiver<Job>, fault: NotDurable) {
    for job in std::iter::once(first).chain(jobs.try_iter().take(REFUSED_TOGETHER)) {
        job(Err(fault))(Err(fault));
    }
}

struct WriterThread {
    connection: Connection,
    directory: Arc<Directory>,
    /// Set by whoever meets a damaged page; nothing is written after that.
    damage: Arc<Damage>,
    /// Read again when another process has changed the vault's keys.
    keys: Option<Keyring>,
    checkpointer: Checkpointer,
    /// SQLite's `data_version`: changes when another connection has committed.
    version: Option<i64>,
    watched: Instant,
}

impl WriterThread {
    fn run(mut self, jobs: &Receiver<Job>) {
        loop {
            match jobs.recv_timeout(WATCH) {
                Ok(first) => self.commit_group(first, jobs),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            if self.watched.elapsed() >= WATCH {
                self.watched = Instant::now();
                if let Err(error) = self.watch() {
                    tracing::error!(%error, "reading entities and tokens again");
                }
            }
        }
    }

    fn commit_group(&mut self, first: Job, jobs: &Receiver<Job>) {
        let mut answers = Vec::new();
        if self.damage.is_found() {
            return refuse_all(first, jobs, Some(DiskFault::Damaged));
        }
        let begun = self.connection.prepare_cached("BEGIN IMMEDIATE").and_then(|mut begin| begin.execute([]));
        if let Err(error) = begun {
            tracing::error!(%error, "beginning a transaction");
            // All that wait: each by itself would wait for a busy disk anew.
            return refuse_all(first, jobs, DiskFault::of(&error));
        }
        let mut next = Some(first);
        while let Some(job) = next {
            answers.push(job(Ok(&self.connection)));
            // A full disk makes SQLite roll back everything; what came before in this group is gone as well.
            let rolled_back = self.connection.is_autocommit();
            next = if rolled_back || answers.len() == GROUP { None } else { jobs.try_recv().ok() };
        }
        let durable = match self.connection.prepare_cached("COMMIT").and_then(|mut commit| commit.execute([])) {
            Ok(_) => Ok(()),
            Err(error) => {
                tracing::error!(%error, requests = answers.len(), "committing");
                if !self.connection.is_autocommit() {
                    let _ = self.connection.execute_batch("ROLLBACK");
                }
                Err(DiskFault::of(&error))
            }
        };
        for answer in answers {
            answer(durable);
        }
        self.checkpointer.committed(&self.connection);
    }

    /// Reads entities and tokens again when the command line has changed them.
    fn watch(&mut self) -> Result<(), StoreError> {
        let version = self.connection.pragma_query_value(None, "data_version", |row| row.get(0))?;
        if self.version != Some(version) {
            self.directory.replace(entity::credentials(&self.connection)?);
            if let Some(Keyring { vault, source }) = &self.keys {
                vault_keys::refresh(&self.connection, vault, source)?;
            }
            self.version = Some(version);
        }
        Ok(())
    }
}
