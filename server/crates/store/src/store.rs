//! The open store, which all threads share. Each subject adds its methods in its own file.

use std::sync::{Arc, OnceLock};

use tillgate_engine::Session;
use tokio::sync::Notify;

use crate::cluster::lease_keeper::LeaseKeeper;
use crate::entity_directory::Directory;
use crate::error::StoreError;
use crate::fault::Damage;
use crate::health::LatestCheck;
use crate::place::StorePlace;
use crate::read::change_log::ChangeLog;
use crate::read::long_reads::LongReads;
use crate::read::readers::Readers;
use crate::sources::Sources;
use crate::write::job_queue::Lane;
use crate::write::writer::Writer;

/// The gateway's data, in one SQLite file or in a database of a cluster. All threads share it.
pub struct Store {
    /// The place of the data, to open further sessions.
    pub(super) place: StorePlace,
    /// Damage that was found. Shared with the writer, which then refuses all writes, and with the readers.
    pub(super) damage: Arc<Damage>,
    /// Result of the latest health check, guarded by its own lock.
    pub(super) latest_check: LatestCheck,
    /// Entities and credentials in memory. Guards itself; the writer's thread refills it.
    pub(super) directory: Arc<Directory>,
    /// Time and randomness for writes.
    pub(super) sources: Sources,
    /// Pool of read-only sessions, guarded by its own lock.
    pub(super) readers: Arc<Readers>,
    /// Threads for queries that read many rows.
    pub long_reads: LongReads,
    /// The queue to the threads that write.
    pub(super) writer: Writer,
    /// Log of changed payments, with which cached responses are validated.
    pub change_log: Arc<ChangeLog>,
    /// Notified by [`Store::update`] after it wrote a message, so that its delivery begins at once.
    pub(super) message_written: Notify,
    /// The leases of a node of a cluster. Empty for a file, and before [`Store::join_cluster`].
    pub(super) keeper: OnceLock<LeaseKeeper>,
}

impl Store {
    /// Makes the store of its open parts.
    pub(super) fn assemble(
        place: StorePlace,
        (readers, writer): (Arc<Readers>, Writer),
        (change_log, damage): (Arc<ChangeLog>, Arc<Damage>),
        directory: Arc<Directory>,
        sources: Sources,
    ) -> Self {
        Self {
            place,
            damage,
            latest_check: LatestCheck::default(),
            directory,
            sources,
            readers,
            long_reads: LongReads::default(),
            writer,
            change_log,
            message_written: Notify::new(),
            keeper: OnceLock::new(),
        }
    }

    /// Runs a read on a session of the pool, on the calling thread. Its statements do not share a snapshot.
    ///
    /// # Errors
    /// If the read fails.
    pub(super) fn run_read<T>(
        &self,
        read: impl FnOnce(&dyn Session) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.readers.with_session(read)
    }

    /// Waits until [`Store::update`] or [`Store::end_expired_registrations`] of this process writes a message. Returns
    /// at once if one of them has done so since the last call.
    pub async fn wait_for_message(&self) {
        self.message_written.notified().await;
    }

    /// Records that the WAL contains deleted data, so that the next [`Store::scrub_wal`] has to checkpoint it. Does
    /// nothing for a cluster, which has no WAL of ours.
    pub fn mark_wal_dirty(&self) {
        if let Some(folder) = self.place.folder() {
            folder.mark_wal_dirty();
        }
    }

    /// Runs a write that changes no payment. Nothing of it stays if it fails. Returns after the commit. Does not wake
    /// [`Store::wait_for_message`]; a caller that writes messages does. The write runs again if its transaction is
    /// undone and made again, so it must have no effect outside of the transaction that may not happen twice.
    pub(super) async fn run_write<T: Send + 'static>(
        &self,
        write: impl FnMut(&dyn Session) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.writer.run_write(Lane::Everything, write).await
    }

    /// Same as [`Self::run_write`], for statements that check themselves what they change, and touch rows in an order
    /// that all writers share. In a cluster they wait for no merchant's decisions.
    pub(super) async fn run_row_write<T: Send + 'static>(
        &self,
        write: impl FnMut(&dyn Session) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.writer.run_write(Lane::Nothing, write).await
    }
}
