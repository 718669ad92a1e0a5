//! Failures of the store.

use std::path::PathBuf;

use super::DiskFault;
use crate::randomness::NoRandomness;

/// Why a store call gave no answer.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The queue of the writer is full: more is asked than the disk takes.
    #[error("the write queue is full")]
    Overloaded,
    /// A tenant asks for more long reads than its share allows.
    #[error("too many long reads of one tenant are waiting")]
    TooManyReads,
    /// The writer has stopped.
    #[error("the writer has stopped")]
    Stopped,
    /// The transaction of this request did not become durable, because of a fault of the disk if one is known.
    #[error("the transaction was not committed ({})", .0.map_or("no fault is known", DiskFault::word))]
    NotCommitted(Option<DiskFault>),
    /// A request of the same name (`Idempotency-Key`) was written first.
    #[error("the name of this request is taken")]
    NameTaken,
    /// SQLite's own error.
    #[error(transparent)]
    Sqlite(#[from] rusqlite::Error),
    /// A stored document cannot be read or written.
    #[error("a stored document: {0}")]
    Document(#[from] serde_json::Error),
    /// A file of the store cannot be made.
    #[error("{0}: {1}")]
    File(PathBuf, std::io::Error),
    /// The system gives no random bytes.
    #[error(transparent)]
    Random(#[from] NoRandomness),
    /// A server has this store open, or a restore is under way.
    #[error("{0} is in use by a server or a restore: stop the server first")]
    InUse(PathBuf),
    /// A restore was interrupted after it had begun to replace the file.
    #[error("a restore of {0} was interrupted: run `tillgate restore` again")]
    HalfRestored(PathBuf),
    /// A migration failed.
    #[error("migrating the store: {0}")]
    Migration(#[from] rusqlite_migration::Error),
}
