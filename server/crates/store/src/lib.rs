//! The store: loads, queries, and a single way to write.
//!
//! [`Store::update`] loads the data for a decision under the write lock, calls a pure function to decide, and makes
//! the resulting [`Changes`] durable before the response is sent. There are no conflicts and no retries: fifty
//! concurrent payments of one checkout are decided one after the other.
//!
//! Knows every table and all SQL. Never asks an acquirer, sends nothing, and decides no amount.

pub mod access;
pub mod acquirer_entry;
pub mod acquirer_ledger;
mod admin;
pub mod bench;
mod change_log;
mod changes;
mod checkout;
mod checkpoint;
pub mod credential;
mod decision_input;
pub mod delivery;
pub mod directory;
pub mod dispute;
mod error;
mod fault;
pub mod form_build;
mod group_commit;
mod group_transaction;
mod guards;
mod health;
pub mod keys;
mod lock;
mod long_reads;
mod migrations;
mod newest_id;
mod payment;
pub mod policy_report;
mod readers;
mod registration;
pub mod restore;
pub mod restore_loss;
pub mod review;
pub mod risk;
mod rows;
pub mod schedule;
mod schema;
mod schema_check;
mod schema_guard;
pub mod settlement;
pub mod snapshot;
mod sources;
pub mod timer;
mod value_encoding;
mod writer;

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
mod suite;
#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rusqlite::Connection;
use tillgate_domain::id::{EntityId, PageId, PaymentId};
use tillgate_domain::payment::Payment;
use tillgate_domain::refusal::Refusal;
use tillgate_vault::Keyring;
use tokio::sync::Notify;

use crate::directory::Directory;

pub use admin::AdminStore;
pub use change_log::{CacheStamp, ChangeLog};
pub use changes::Changes;
pub use checkout::CheckoutWithAttempt;
pub use checkpoint::truncate_wal;
pub use decision_input::{DisputeKey, LoadedRecords, RecordKeys};
use error::Cause;
pub use error::{StoreError, StoreErrorKind};
pub use fault::{Damage, DiskFault};
pub use health::HealthFault;
pub use lock::{is_served, read_live_refusal};
pub use long_reads::{Cancellation, LongReads, lower_priority};
pub use payment::history::{HistoricPayment, PaymentHistory};
pub use payment::queries::PaymentRow;
pub use payment::responses::FoundResponse;
pub use payment::shared_parameters::StoredPayment;
use readers::Readers;
pub use registration::deferred_effects::DeferredEffects;
pub use registration::stored_credentials::{
    NewRegistration, RegistrationWithAccount, StoredCredentialKeys, StoredCredentials,
};
pub use risk::counters::{RiskRowKeys, RiskRowKind};
use schema::{VaultAccess, open_connection, open_sealed_connection, store_path};
pub use sources::Sources;
pub use writer::WriteLimits;
use writer::Writer;

/// Result of a write: the decision's own result, or the failure of the store.
pub type UpdateResult<T> = Result<Result<T, Refusal>, StoreError>;

/// The gateway's data in one SQLite file. All threads share it.
pub struct Store {
    /// The data folder, to open further connections.
    folder: PathBuf,
    /// File lock that tells `tillgate restore` that the file is in use. The system releases it when the process ends,
    /// even after a crash.
    lock: std::fs::File,
    /// Damage that was found. Shared with the writer, which then refuses all writes, and with the readers.
    damage: Arc<Damage>,
    /// Result of the latest health check, guarded by its own lock.
    latest_check: health::LatestCheck,
    /// Entities and credentials in memory. Guards itself; the writer's thread refills it.
    directory: Arc<Directory>,
    /// Time and randomness for writes.
    sources: Sources,
    /// Pool of read-only connections, guarded by its own lock.
    readers: Arc<Readers>,
    /// Threads for queries that read many rows.
    pub long_reads: LongReads,
    /// The queue to the only thread that writes.
    writer: Writer,
    /// Log of changed payments, with which cached responses are validated.
    pub change_log: Arc<ChangeLog>,
    /// True while the WAL may still contain deleted data. Starts as true because a previous process may have left
    /// some.
    wal_dirty: AtomicBool,
    /// Notified by [`Store::update`] after it wrote a message, so that its delivery begins at once.
    message_written: Notify,
}

impl Store {
    /// Opens the file in a data folder, creating both if absent, migrates it, and starts the writer. Fills the
    /// directory. The writer refills it shortly after another process has written to the store. Never reloads the
    /// vault's keys.
    ///
    /// # Errors
    /// If the folder or the file cannot be opened or migrated, or a restore is in progress or was interrupted.
    pub fn open(folder: &Path, directory: Arc<Directory>, sources: Sources) -> Result<Self, StoreError> {
        Self::open_inner(folder, directory, None, WriteLimits::default(), sources)
    }

    /// Notes for other commands why this server serves no live entities. `None` if it serves them.
    ///
    /// # Errors
    /// If the file of the lock cannot be written.
    pub fn note_live_refusal(&self, reason: Option<&str>) -> std::io::Result<()> {
        lock::write_live_refusal(&self.lock, reason.unwrap_or_default())
    }

    /// Same as [`Store::open`], for a server. Records which of its keys are loaded, and reloads them when another
    /// process has changed them. At most `limits.queue` writes wait for the disk; further ones are refused at once
    /// ([`StoreErrorKind::Overloaded`]).
    ///
    /// # Errors
    /// Same as [`Store::open`].
    pub fn open_to_serve(
        folder: &Path,
        directory: Arc<Directory>,
        keys: Keyring,
        limits: WriteLimits,
        sources: Sources,
    ) -> Result<Self, StoreError> {
        Self::open_inner(folder, directory, Some(keys), limits, sources)
    }

    /// Opens the store as described at [`Store::open`], or with `keys` as at [`Store::open_to_serve`]. Waits up to a
    /// second for the shared lock of the data folder.
    fn open_inner(
        folder: &Path,
        directory: Arc<Directory>,
        keys: Option<Keyring>,
        limits: WriteLimits,
        sources: Sources,
    ) -> Result<Self, StoreError> {
        let access = keys.as_ref().map_or(VaultAccess::None, |keys| VaultAccess::Server(&keys.vault));
        let connection = open_sealed_connection(folder, access)?;
        if let Some(keys) = &keys {
            keys::vault_keys::record_loaded_keys(&connection, &keys.vault)?;
        }
        let lock = lock::acquire_shared(folder)?;
        access::entity::refill_directory(&connection, &directory)?;
        let damage = Arc::new(Damage::default());
        let readers = Arc::new(Readers::new(folder, Arc::clone(&damage)));
        let change_log = Arc::new(ChangeLog::default());
        Ok(Self {
            folder: folder.to_owned(),
            lock,
            readers,
            long_reads: LongReads::default(),
            writer: Writer::start(
                connection,
                folder,
                limits,
                Arc::clone(&directory),
                Arc::clone(&change_log),
                Arc::clone(&damage),
                keys,
            )?,
            damage,
            latest_check: health::LatestCheck::default(),
            directory,
            sources,
            change_log,
            wal_dirty: AtomicBool::new(true),
            message_written: Notify::new(),
        })
    }

    /// Loads a payment of an entity by id, as last committed. Returns `None` if it belongs to another entity.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn load_payment(&self, entity: &EntityId, id: &PaymentId) -> Result<Option<Payment>, StoreError> {
        self.readers.with_connection(|connection| rows::load_payment(connection, entity, id))
    }

    /// Loads the payment that sent its shopper to a page, of any entity. The page's id is a capability, like a
    /// checkout's id.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn load_payment_of_page(&self, id: &PageId) -> Result<Option<Payment>, StoreError> {
        self.readers.with_connection(|connection| rows::load_payment_of_page(connection, id))
    }

    /// Runs a read on a connection of the pool, on the calling thread. Its statements do not share a snapshot.
    ///
    /// # Errors
    /// If the read fails.
    fn run_read<T>(&self, read: impl FnOnce(&Connection) -> Result<T, StoreError>) -> Result<T, StoreError> {
        self.readers.with_connection(read)
    }

    /// Loads the records with these keys under the write lock, decides, and makes the changes durable. The write is
    /// queued at once, and also runs if the caller stops waiting. The returned future ends after the commit. A refusal
    /// writes nothing. If a message was written, wakes [`Store::wait_for_message`].
    ///
    /// # Errors
    /// [`StoreErrorKind::Overloaded`] at once if the queue is full, [`StoreErrorKind::DuplicateKey`] if another request
    /// with the idempotency key was written first. Otherwise the error of loading, applying or committing.
    pub fn update<T, D>(&self, keys: RecordKeys, decide: D) -> impl Future<Output = UpdateResult<T>>
    where
        T: Send + 'static,
        D: FnOnce(LoadedRecords) -> Result<(Changes, T), Refusal> + Send + 'static,
    {
        let written = self.writer.update(keys, self.sources.clone(), decide);
        async move {
            Ok(written.await?.map(|(value, wrote_message)| {
                if wrote_message {
                    self.message_written.notify_one();
                }
                value
            }))
        }
    }

    /// Waits until [`Store::update`] or [`Store::end_expired_registrations`] of this process writes a message. Returns
    /// at once if one of them has done so since the last call.
    pub async fn wait_for_message(&self) {
        self.message_written.notified().await;
    }

    /// Records that the WAL contains deleted data, so that the next [`Store::scrub_wal`] has to checkpoint it.
    pub fn mark_wal_dirty(&self) {
        self.wal_dirty.store(true, Ordering::Release);
    }

    /// Checkpoints and truncates the WAL if data was deleted since the last time, so that the deleted bytes are
    /// overwritten; otherwise does nothing. If another connection is reading or writing at that moment, or the work
    /// fails, the next call tries again.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub async fn scrub_wal(&self) -> Result<(), StoreError> {
        // Reset before the work, so that data deleted meanwhile causes another round.
        if !self.wal_dirty.swap(false, Ordering::AcqRel) {
            return Ok(());
        }
        let folder = self.folder.clone();
        let truncated = tokio::task::spawn_blocking(move || checkpoint::try_truncate_wal(&folder))
            .await
            .unwrap_or(Err(Cause::Stopped.into()));
        if !matches!(truncated, Ok(true)) {
            self.mark_wal_dirty();
        }
        truncated.map(drop)
    }

    /// Refills the directory with the stored entities, tokens and risk rules. Call it after a write of this process
    /// that changed them; writes of other processes are noticed by the writer.
    ///
    /// # Errors
    /// Same as [`Store::update`].
    pub async fn fill_directory(&self) -> Result<(), StoreError> {
        // Runs on the writer's thread, which also refills it after writes of other processes. So the newest data wins.
        let directory = Arc::clone(&self.directory);
        self.run_write(move |connection| access::entity::refill_directory(connection, &directory)).await
    }

    /// Runs a write that changes no payment. Nothing of it stays if it fails. Returns after the commit. Does not wake
    /// [`Store::wait_for_message`]; a caller that writes messages does.
    ///
    /// # Errors
    /// Same as [`Store::update`].
    async fn run_write<T: Send + 'static>(
        &self,
        write: impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.writer.run_write(write).await
    }
}
