//! The place of a store's data: the file of a data folder, or a database of a cluster.

pub(crate) mod admin_open;
pub(crate) mod checkpoint;
pub(crate) mod location;
pub(crate) mod lock;
pub(crate) mod open;
pub(crate) mod open_for_writing;
pub mod restore;
pub mod restore_loss;
pub(crate) mod store_file;
pub(crate) mod wal_scrub;

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tillgate_engine::Session;
use tillgate_engine::postgres::{PostgresAddress, PostgresSession};

use crate::StoreError;
use crate::place::store_file::open_reader;

/// The place of a store's data.
pub(super) enum StorePlace {
    /// The file of SQLite in a data folder.
    Folder(DataFolder),
    /// A database of PostgreSQL.
    Cluster {
        /// Its address.
        address: Box<PostgresAddress>,
        /// The locked file in the folder of this node. `None` for a process without a folder.
        note: Option<File>,
        /// True once the database lacked a commit that it had confirmed. Set by the threads that write.
        lacks_commits: Arc<AtomicBool>,
    },
}

/// A data folder whose file this process has open.
pub(super) struct DataFolder {
    /// Its path.
    pub(super) path: PathBuf,
    /// File lock that tells `tillgate restore` that the file is in use. The system releases it when the process ends,
    /// even after a crash.
    pub(super) lock: File,
    /// True while the WAL may still contain deleted data. Starts as true because a previous process may have left
    /// some.
    is_wal_dirty: AtomicBool,
}

impl DataFolder {
    pub(super) fn new(path: &Path, lock: File) -> Self {
        Self { path: path.to_owned(), lock, is_wal_dirty: AtomicBool::new(true) }
    }

    /// Records that the WAL contains deleted data.
    pub(super) fn mark_wal_dirty(&self) {
        self.is_wal_dirty.store(true, Ordering::Release);
    }

    /// Returns true if the WAL may contain deleted data, and records that it does not.
    pub(super) fn take_wal_mark(&self) -> bool {
        self.is_wal_dirty.swap(false, Ordering::AcqRel)
    }
}

impl StorePlace {
    /// Returns the data folder. `None` if the data is in a cluster.
    pub(super) fn folder(&self) -> Option<&DataFolder> {
        match self {
            Self::Folder(folder) => Some(folder),
            Self::Cluster { .. } => None,
        }
    }

    /// Returns the locked file of the node's folder, which contains what commands have to know about this process.
    pub(super) fn note(&self) -> Option<&File> {
        match self {
            Self::Folder(folder) => Some(&folder.lock),
            Self::Cluster { note, .. } => note.as_ref(),
        }
    }

    /// Opens a session for reads, beside those of the pool.
    ///
    /// # Errors
    /// If the file or the database cannot be opened.
    pub(super) fn open_reader(&self) -> Result<Box<dyn Session>, StoreError> {
        Ok(match self {
            Self::Folder(folder) => Box::new(open_reader(&folder.path)?),
            Self::Cluster { address, .. } => Box::new(PostgresSession::connect(address)?),
        })
    }

    /// Describes the place for people, without a password.
    pub(super) fn describe(&self) -> String {
        match self {
            Self::Folder(folder) => folder.path.display().to_string(),
            Self::Cluster { address, .. } => address.describe(),
        }
    }
}
