//! Read-only sessions. Reading a recent row takes a few microseconds, less than passing it to another thread. So
//! reads run on the calling thread, with a session from the pool.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use tillgate_engine::Session;
use tillgate_engine::sqlite::SqliteSession;

use super::store_file::open_reader;
use super::{Damage, StoreError};

/// The pool of read-only sessions. It grows to the maximum number of concurrent reads.
pub(super) struct Readers {
    /// The data folder, to open further sessions.
    folder: PathBuf,
    /// The sessions that no read uses. The lock is held only to take or return one.
    idle: Mutex<Vec<SqliteSession>>,
    /// Records a damaged page that a read finds. Shared with the writer.
    damage: Arc<Damage>,
}

impl Readers {
    pub(super) fn new(folder: &Path, damage: Arc<Damage>) -> Self {
        Self { folder: folder.to_owned(), idle: Mutex::new(Vec::new()), damage }
    }

    /// Runs a read on an idle session, or on a new one if there is none, and returns it to the pool,
    /// also after a failure. Records the damage that the read found.
    pub(super) fn with_session<T>(
        &self,
        read: impl FnOnce(&dyn Session) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        // The lock is released at the end of this statement, before a session is opened.
        let idle = self.lock_idle().pop();
        let session = match idle {
            Some(session) => session,
            None => open_reader(&self.folder)?,
        };
        let outcome = read(&session);
        self.damage.record_outcome(&outcome);
        self.lock_idle().push(session);
        outcome
    }

    /// Same as [`Readers::with_session`], with all statements in one read transaction.
    pub(super) fn in_snapshot<T>(
        &self,
        read: impl FnOnce(&dyn Session) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.with_session(|session| {
            // It ends after a failure as well. An open transaction in the pool would keep the WAL from being truncated.
            let _snapshot = session.begin_snapshot()?;
            read(session)
        })
    }

    fn lock_idle(&self) -> std::sync::MutexGuard<'_, Vec<SqliteSession>> {
        self.idle.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}
