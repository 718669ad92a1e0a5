//! Read-only connections. Reading a recent row takes a few microseconds, less than passing it to another thread. So
//! reads run on the calling thread, with a connection from the pool.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use rusqlite::Connection;

use super::store_file::open_reader;
use super::{Damage, StoreError};

/// The pool of read-only connections. It grows to the maximum number of concurrent reads.
pub(super) struct Readers {
    /// The data folder, to open further connections.
    folder: PathBuf,
    /// The connections that no read uses. The lock is held only to take or return one.
    idle: Mutex<Vec<Connection>>,
    /// Records a damaged page that a read finds. Shared with the writer.
    damage: Arc<Damage>,
}

impl Readers {
    pub(super) fn new(folder: &Path, damage: Arc<Damage>) -> Self {
        Self { folder: folder.to_owned(), idle: Mutex::new(Vec::new()), damage }
    }

    /// Runs a read on an idle connection, or on a new one if there is none, and returns the connection to the pool,
    /// also after a failure. Records the damage that the read found.
    pub(super) fn with_connection<T>(
        &self,
        read: impl FnOnce(&Connection) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        // The lock is released at the end of this statement, before a connection is opened.
        let idle = self.lock_idle().pop();
        let connection = match idle {
            Some(connection) => connection,
            None => open_reader(&self.folder)?,
        };
        let outcome = read(&connection);
        self.damage.record_outcome(&outcome);
        self.lock_idle().push(connection);
        outcome
    }

    /// Same as [`Readers::with_connection`], with all statements in one read transaction.
    pub(super) fn in_snapshot<T>(
        &self,
        read: impl FnOnce(&Connection) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.with_connection(|connection| {
            connection.prepare_cached("BEGIN")?.execute([])?;
            let outcome = read(connection);
            // The transaction ends after a failure as well. An open one in the pool would keep the WAL from being
            // truncated.
            let ended = connection.prepare_cached("COMMIT").and_then(|mut commit| commit.execute([]));
            let value = outcome?;
            ended?;
            Ok(value)
        })
    }

    fn lock_idle(&self) -> std::sync::MutexGuard<'_, Vec<Connection>> {
        self.idle.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}
