//! Sessions for reads. On SQLite, reading a recent row takes a few microseconds, less than passing it to another
//! thread. So reads run on the calling thread, with a session from the pool.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tillgate_engine::Session;
use tillgate_engine::postgres::{PostgresAddress, SessionPool};
use tillgate_engine::sqlite::SqliteSession;

use crate::place::store_file::open_reader;
use crate::{Damage, StoreError};

/// Maximum number of a node's sessions for reads with a cluster, and maximum wait for one.
const CLUSTER_SESSIONS: usize = 8;
const CLUSTER_PATIENCE: Duration = Duration::from_secs(5);

/// The pool of sessions for reads.
pub(crate) struct Readers {
    pool: Pool,
    /// Records a damaged page that a read finds. Shared with the writer.
    damage: Arc<Damage>,
}

/// The idle sessions of a place.
enum Pool {
    /// Those with a file. There are as many as there were reads at the same time.
    Folder {
        /// The data folder, to open further sessions.
        folder: PathBuf,
        /// The sessions that no read uses. The lock is held only to take or return one.
        idle: Mutex<Vec<SqliteSession>>,
    },
    /// Those with a database of a cluster.
    Cluster(Box<SessionPool>),
}

impl Readers {
    pub(crate) fn of_folder(folder: &Path, damage: Arc<Damage>) -> Self {
        Self { pool: Pool::Folder { folder: folder.to_owned(), idle: Mutex::default() }, damage }
    }

    pub(crate) fn of_cluster(address: PostgresAddress, damage: Arc<Damage>) -> Self {
        Self { pool: Pool::Cluster(Box::new(SessionPool::new(address, CLUSTER_SESSIONS, CLUSTER_PATIENCE))), damage }
    }

    /// Runs a read on a session of the pool, which gets it back also after a failure. Records the damage that the read
    /// found.
    pub(crate) fn with_session<T>(
        &self,
        read: impl FnOnce(&dyn Session) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let outcome = match &self.pool {
            Pool::Folder { folder, idle } => read_file(folder, idle, read),
            Pool::Cluster(pool) => pool.with_session(|session| read(session)),
        };
        self.damage.record_outcome(&outcome);
        outcome
    }

    /// Same as [`Readers::with_session`], with all statements in one read transaction.
    pub(crate) fn in_snapshot<T>(
        &self,
        read: impl FnOnce(&dyn Session) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.with_session(|session| {
            // It ends after a failure as well. An open transaction in the pool would keep the WAL from being truncated.
            let _snapshot = session.begin_snapshot()?;
            read(session)
        })
    }
}

/// Runs a read on an idle session with a file, or on a new one if there is none.
fn read_file<T>(
    folder: &Path,
    idle: &Mutex<Vec<SqliteSession>>,
    read: impl FnOnce(&dyn Session) -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    let lock = || idle.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    // The lock is released at the end of this statement, before a session is opened.
    let taken = lock().pop();
    let session = match taken {
        Some(session) => session,
        None => open_reader(folder)?,
    };
    let outcome = read(&session);
    lock().push(session);
    outcome
}
