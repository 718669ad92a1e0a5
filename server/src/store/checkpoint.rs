//! Checkpoints off the hot path: a thread of its own copies the write-ahead log into the file while the writer goes on.
//! Only when the log has grown far beyond that does the writer wait for it once.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::Duration;

use rusqlite::Connection;

use super::StoreError;
use super::schema::{file, open_connection};

/// Log size from which a checkpoint is worth its work.
const WORTH_IT: u64 = 16 * 1024 * 1024;
/// Log size at which the writer lets the log start over. Recovery after a crash reads at most about this much.
const TOO_LONG: u64 = 128 * 1024 * 1024;
/// How long readers are waited for when the log starts over, while which nobody writes.
const SHORT: Duration = Duration::from_millis(50);

pub(super) struct Checkpointer {
    log: PathBuf,
    wake: SyncSender<()>,
    commits: u32,
}

impl Checkpointer {
    pub(super) fn start(folder: &Path) -> Result<Self, StoreError> {
        let connection = open_connection(folder)?;
        let (wake, woken) = sync_channel(1);
        std::thread::Builder::new()
            .name("store-checkpoint".to_owned())
            .spawn(move || run(&connection, &woken))
            .map_err(|error| StoreError::File(folder.to_owned(), error))?;
        let mut log = file(folder).into_os_string();
        log.push("-wal");
        Ok(Self { log: log.into(), wake, commits: 0 })
    }

    /// Called by the writer after a commit.
    pub(super) fn committed(&mut self, writer: &Connection) {
        self.commits = self.commits.wrapping_add(1);
        if !self.commits.is_multiple_of(64) {
            return;
        }
        let length = std::fs::metadata(&self.log).map_or(0, |metadata| metadata.len());
        if length >= TOO_LONG {
            if let Err(error) = writer.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())) {
                tracing::warn!(%error, "starting the write-ahead log over");
            }
        } else if length >= WORTH_IT {
            // Full means that it has been woken already.
            let _ = self.wake.try_send(());
        }
    }
}

/// Copies the whole log into the file and empties it, so that nothing deleted is left in either. Most is copied beside
/// the writer; only the rest makes it wait. Returns whether that worked: somebody who reads or writes just then goes first.
pub(super) fn start_log_over(folder: &Path) -> Result<bool, StoreError> {
    let connection = open_connection(folder)?;
    connection.busy_timeout(SHORT)?;
    connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()))?;
    let busy: bool = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0))?;
    Ok(!busy)
}

/// Empties the write-ahead log into the file, so that nothing of what was overwritten is left in it, unless somebody is reading
/// just then.
///
/// # Errors
/// When the file cannot be written.
pub fn empty_log(folder: &Path) -> Result<(), StoreError> {
    start_log_over(folder).map(drop)
}

fn run(connection: &Connection, woken: &Receiver<()>) {
    while woken.recv().is_ok() {
        if let Err(error) = connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(())) {
            tracing::warn!(%error, "checkpoint");
        }
    }
}
