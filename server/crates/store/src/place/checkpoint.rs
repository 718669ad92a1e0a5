//! Checkpoints off the hot path: a separate thread copies the WAL into the file while the writer continues. The writer
//! waits for a checkpoint only if the WAL has grown far beyond its normal size.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::Duration;

use tillgate_engine::Session;

use crate::StoreError;
use crate::error::Cause;
use crate::place::open_for_writing::open_session;
use crate::place::store_file::store_path;

/// WAL size from which a checkpoint is worthwhile.
const CHECKPOINT_SIZE: u64 = 16 * 1024 * 1024;
/// WAL size from which the writer truncates the WAL. Recovery after a crash reads at most about this much.
const TRUNCATE_SIZE: u64 = 128 * 1024 * 1024;
/// Maximum time to wait for readers when truncating the WAL; writes are blocked meanwhile.
const TRUNCATE_TIMEOUT: Duration = Duration::from_millis(50);

/// The writer's part of checkpointing: it watches the size of the WAL and wakes the thread that copies it.
pub(crate) struct Checkpointer {
    wal_path: PathBuf,
    wake: SyncSender<()>,
    /// Number of commits since the start. It wraps around.
    commits: u32,
}

impl Checkpointer {
    /// Starts the checkpointing thread with a session of its own. It ends when the checkpointer is dropped.
    pub(crate) fn start(folder: &Path) -> Result<Self, StoreError> {
        // The thread needs another session, because the writer uses its own one meanwhile.
        let session = open_session(folder)?;
        let (wake, woken) = sync_channel(1);
        std::thread::Builder::new()
            .name("store-checkpoint".to_owned())
            .spawn(move || run_checkpoints(&session, &woken))
            .map_err(|error| Cause::File(folder.to_owned(), error))?;
        let mut wal_path = store_path(folder).into_os_string();
        wal_path.push("-wal");
        Ok(Self { wal_path: wal_path.into(), wake, commits: 0 })
    }

    /// Checks the size of the WAL after every 64th commit. A large WAL wakes the thread. A far larger one is truncated
    /// here, on the writer's session, which blocks writes and waits for readers. Failures are logged.
    pub(crate) fn after_commit(&mut self, writer: &dyn Session) {
        self.commits = self.commits.wrapping_add(1);
        // Reading the size at every commit would cost each of them a system call.
        if !self.commits.is_multiple_of(64) {
            return;
        }
        // A size that cannot be read counts as 0. The next check reads it again.
        let length = std::fs::metadata(&self.wal_path).map_or(0, |metadata| metadata.len());
        if length >= TRUNCATE_SIZE {
            if let Err(error) =
                writer.query_one("PRAGMA wal_checkpoint(TRUNCATE)", (), |_| Ok::<_, tillgate_engine::Error>(()))
            {
                tracing::warn!(%error, "restarting the write-ahead log failed");
            }
        } else if length >= CHECKPOINT_SIZE {
            // A full channel means that the thread is already woken.
            let _ = self.wake.try_send(());
        }
    }
}

/// Copies the whole WAL into the file and truncates it, so that neither contains deleted data. Most of it is copied
/// while the writer continues; only the rest blocks it. Returns false if another session was reading or writing,
/// because that has priority.
pub(crate) fn try_truncate_wal(folder: &Path) -> Result<bool, StoreError> {
    let session = open_session(folder)?;
    // A short wait, because all writes wait as well. The caller tries again later.
    session.set_lock_timeout(TRUNCATE_TIMEOUT)?;
    // Most of the log is copied without blocking anyone, so the truncation after it is short.
    session.query_one("PRAGMA wal_checkpoint(PASSIVE)", (), |_| Ok::<_, tillgate_engine::Error>(()))?;
    let busy: bool = session.query_one("PRAGMA wal_checkpoint(TRUNCATE)", (), |row| row.get(0))?;
    Ok(!busy)
}

/// Copies the WAL into the store's file and truncates it, so that it contains no overwritten data any more. Leaves it
/// untruncated, without an error, if another session is reading or writing at that moment.
pub fn truncate_wal(folder: &Path) -> Result<(), StoreError> {
    try_truncate_wal(folder).map(drop)
}

/// Runs a checkpoint that blocks nobody each time it is woken, until the sender is dropped. Failures are logged.
fn run_checkpoints(session: &dyn Session, woken: &Receiver<()>) {
    while woken.recv().is_ok() {
        if let Err(error) =
            session.query_one("PRAGMA wal_checkpoint(PASSIVE)", (), |_| Ok::<_, tillgate_engine::Error>(()))
        {
            tracing::warn!(%error, "writing a checkpoint of the write-ahead log failed");
        }
    }
}
