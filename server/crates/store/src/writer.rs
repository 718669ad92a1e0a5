//! The store's writer: decisions and housekeeping, written in groups on one thread (see [`super::group_commit`]).
//! Between commits the thread checks for changes by other processes.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use rusqlite::Connection;
use tillgate_domain::refusal::Refusal;
use tillgate_vault::Keyring;

use super::change_log::{ChangeLog, Slot};
use super::checkpoint::Checkpointer;
use super::group_commit::{CommitHooks, CommitQueue};
use super::group_transaction::WrittenRows;
use super::schema_guard::SchemaGuard;
use super::{Changes, Damage, DiskFault, LoadedRecords, RecordKeys, Sources, StoreError, UpdateResult, rows};
use crate::access::entity;
use crate::directory::Directory;
use crate::keys::vault_keys;

/// Limits on requests that wait for the disk.
#[derive(Debug, Clone, Copy)]
pub struct WriteLimits {
    /// Maximum number of waiting requests. Further ones are refused at once with status 503.
    pub queue: usize,
    /// Maximum time to wait for another process's transaction. Afterwards all waiting requests are refused.
    pub lock_timeout: Duration,
}

impl Default for WriteLimits {
    fn default() -> Self {
        Self { queue: 1024, lock_timeout: super::schema::BUSY_TIMEOUT }
    }
}

/// The only writer of the store in this process. All threads share it.
pub(super) struct Writer {
    /// Queue to the thread that owns the connection.
    queue: CommitQueue,
    /// Updated on that thread after each commit; readers use it without a lock.
    change_log: Arc<ChangeLog>,
    /// Set on that thread when a write finds a damaged page.
    damage: Arc<Damage>,
}

impl Writer {
    /// Starts the writer's thread, which takes over the connection, and the checkpointer's. Turns automatic checkpoints
    /// off. The writer's thread also reloads `directory`, and `keys` if given, soon after another process has written
    /// to the store. Only a server passes `keys`.
    pub(super) fn start(
        connection: Connection,
        folder: &Path,
        limits: WriteLimits,
        directory: Arc<Directory>,
        change_log: Arc<ChangeLog>,
        damage: Arc<Damage>,
        keys: Option<Keyring>,
    ) -> Result<Self, StoreError> {
        connection.busy_timeout(limits.lock_timeout)?;
        // Automatic checkpoints would delay the commit of a request.
        connection.pragma_update(None, "wal_autocheckpoint", 0)?;
        let checkpointer = Checkpointer::start(folder)?;
        let log = Arc::clone(&change_log);
        let hooks = WriterHooks {
            directory,
            damage: Arc::clone(&damage),
            keys,
            checkpointer,
            change_log: log,
            schema: SchemaGuard::start(&connection)?,
            version: None,
        };
        Ok(Self { queue: CommitQueue::start("store-writer", connection, limits.queue, hooks)?, change_log, damage })
    }

    /// Same as [`super::Store::update`], without the waking. Also returns true if a message was written.
    pub(super) fn update<T, D>(
        &self,
        keys: RecordKeys,
        sources: Sources,
        decide: D,
    ) -> impl Future<Output = UpdateResult<(T, bool)>>
    where
        T: Send + 'static,
        D: FnOnce(LoadedRecords) -> Result<(Changes, T), Refusal> + Send + 'static,
    {
        self.run_tracked_write(move |connection| {
            let (changes, value) = match decide(rows::load_records(connection, &keys)?) {
                Ok(decided) => decided,
                Err(refusal) => return Ok(((Err(refusal), Vec::new()), WrittenRows::Nothing)),
            };
            let wrote_message = changes.apply(connection, &sources)?;
            let slots = changes.changed_slots();
            let repeat = move |connection: &Connection| changes.apply(connection, &sources).map(drop);
            Ok(((Ok((value, wrote_message)), slots), WrittenRows::Repeatable(Box::new(repeat))))
        })
    }

    /// Runs a write that changes no payment, so that all cached responses stay valid.
    pub(super) fn run_write<T: Send + 'static>(
        &self,
        write: impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> impl Future<Output = Result<T, StoreError>> {
        self.run_tracked_write(move |connection| Ok(((write(connection)?, Vec::new()), WrittenRows::Once)))
    }

    /// Same as [`Self::run_write`], for a write that can be repeated (see [`super::group_transaction`]), as those of
    /// [`Self::update`].
    pub(super) fn run_repeatable_write(
        &self,
        write: impl Fn(&Connection) -> Result<(), StoreError> + Send + 'static,
    ) -> impl Future<Output = Result<(), StoreError>> {
        self.run_tracked_write(move |connection| {
            write(connection)?;
            Ok((((), Vec::new()), WrittenRows::Repeatable(Box::new(write))))
        })
    }

    /// Queues a write that returns the slots that it changes. Before the caller receives the outcome, records these
    /// slots in the change log, or the damage that the write or its commit found.
    fn run_tracked_write<T: Send + 'static>(
        &self,
        write: impl FnOnce(&Connection) -> Result<((T, Vec<Slot>), WrittenRows), StoreError> + Send + 'static,
    ) -> impl Future<Output = Result<T, StoreError>> {
        let (change_log, damage) = (Arc::clone(&self.change_log), Arc::clone(&self.damage));
        let finish = move |outcome: &Result<(T, Vec<Slot>), StoreError>| {
            if let Ok((_, slots)) = outcome {
                change_log.record_commit(slots);
            }
            damage.record_outcome(outcome);
        };
        let written = self.queue.commit_write(write, finish);
        async move { Ok(written.await?.0) }
    }
}

/// Other work of the writer's thread.
struct WriterHooks {
    directory: Arc<Directory>,
    /// Set by the first thread that finds a damaged page. After that, the thread refuses all writes.
    damage: Arc<Damage>,
    /// Reloaded when another process has changed the vault's keys.
    keys: Option<Keyring>,
    checkpointer: Checkpointer,
    /// Told of writes by other processes, so that cached responses are read again.
    change_log: Arc<ChangeLog>,
    /// Refuses commits while another program has changed the schema.
    schema: SchemaGuard,
    /// SQLite's `data_version` at the last reload, which changes when another connection has committed. `None` before.
    version: Option<i64>,
}

impl CommitHooks for WriterHooks {
    /// Short, because reading `PRAGMA data_version` uses shared memory only. So a merchant created on the command line
    /// can pay at once.
    const INTERVAL: Duration = Duration::from_millis(50);

    fn known_fault(&self) -> Option<DiskFault> {
        self.damage.is_found().then_some(DiskFault::Damaged)
    }

    fn before_commit(&mut self, connection: &Connection) -> Result<(), StoreError> {
        self.schema.check_transaction(connection)
    }

    fn after_commit(&mut self, connection: &Connection) {
        self.checkpointer.after_commit(connection);
    }

    fn on_interval(&mut self, connection: &Connection) {
        if let Err(error) = self.reload_if_changed(connection) {
            tracing::error!(%error, "reloading entities and tokens failed");
        }
    }
}

impl WriterHooks {
    /// Reloads entities, tokens, risk rules and the vault's keys if another connection has committed since the last
    /// reload, and at the first call. After a failure, the next call tries again.
    fn reload_if_changed(&mut self, connection: &Connection) -> Result<(), StoreError> {
        let version = connection.pragma_query_value(None, "data_version", |row| row.get(0))?;
        if self.version != Some(version) {
            self.change_log.record_foreign_commit();
            entity::refill_directory(connection, &self.directory)?;
            if let Some(keys) = &self.keys {
                vault_keys::refresh_keyring(connection, keys)?;
            }
            self.version = Some(version);
        }
        Ok(())
    }
}
