//! Figures of the whole store for its operator: the size of its files, its schema, its queues and its vault keys.

use std::fs;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use tillgate_engine::{Session, params};

use crate::cluster;
use crate::delivery::webhook::timestamp_from_milliseconds;
use crate::keys::vault_keys::{VaultKeyRecord, load_key_records};
use crate::payment::open_work::MAX_COUNT;
use crate::place::store_file::{path_with_suffix, store_path};
use crate::schema::migrations::VERSION;
use crate::{Store, StoreError};

/// Work of one kind that waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WaitingWork {
    /// Number of waiting things, at most [`MAX_COUNT`].
    pub waiting: u64,
    /// Number of those that were counted and have failed before. `None` if this kind is tried once.
    pub failing: Option<u64>,
    /// The earliest time at which one is due. It is in the past for a moment; for longer, something holds the work up.
    pub next_due: Option<Timestamp>,
}

/// Figures of a store.
#[derive(Debug, Clone)]
pub struct StoreFigures {
    /// The data folder, or the hosts of the cluster with the database.
    pub place: String,
    /// The data folder. `None` if the data is in a cluster.
    pub folder: Option<PathBuf>,
    /// Number of the latest migration.
    pub schema: usize,
    /// Bytes of the file, or of the database.
    pub file_bytes: u64,
    /// Bytes of the write-ahead log, whose content is not in the file yet.
    pub log_bytes: u64,
    /// Messages to webhooks, review callbacks and notification addresses.
    pub messages: WaitingWork,
    /// Reconciliation files to push.
    pub pushes: WaitingWork,
    /// Payments whose connector has to be asked for the outcome.
    pub inquiries: WaitingWork,
    /// The recorded vault keys, oldest first.
    pub keys: Vec<VaultKeyRecord>,
}

impl Store {
    /// Reads the figures. Each count is bounded.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn load_figures(&self) -> Result<StoreFigures, StoreError> {
        let size = |path: &Path| fs::metadata(path).map_or(0, |found| found.len());
        let folder = self.place.folder().map(|folder| &folder.path);
        let log_bytes = folder.map_or(0, |folder| size(&path_with_suffix(folder, "-wal")));
        self.readers.in_snapshot(|session| {
            Ok(StoreFigures {
                place: self.place.describe(),
                folder: folder.cloned(),
                schema: VERSION,
                file_bytes: match folder {
                    Some(folder) => size(&store_path(folder)),
                    None => cluster::load_size(session)?,
                },
                log_bytes,
                messages: count_queue(session, "message")?,
                pushes: count_queue(session, "file_delivery")?,
                inquiries: count_inquiries(session)?,
                keys: load_key_records(session)?,
            })
        })
    }
}

/// Counts the waiting rows of a table whose rows have the columns `due` and `failures`.
fn count_queue(session: &dyn Session, table: &str) -> Result<WaitingWork, StoreError> {
    // The inner limit bounds the rows that are read, also if few of them have failed.
    let count = |condition: &str| {
        let some = format!("SELECT failures FROM {table} WHERE due IS NOT NULL LIMIT ?1");
        count_rows(session, &format!("SELECT count(*) FROM ({some}) AS waiting WHERE {condition}"))
    };
    let query = format!("SELECT min(due) FROM {table} WHERE due IS NOT NULL");
    Ok(WaitingWork {
        waiting: count("1 = 1")?,
        failing: Some(count("failures > 0")?),
        next_due: find_time(session, &query)?,
    })
}

/// Counts the payments whose outcome is looked up.
fn count_inquiries(session: &dyn Session) -> Result<WaitingWork, StoreError> {
    Ok(WaitingWork {
        waiting: count_rows(
            session,
            "SELECT count(*) FROM (SELECT 1 FROM timer WHERE kind = 'ask' LIMIT ?1) AS found",
        )?,
        failing: None,
        next_due: find_time(session, "SELECT min(since) FROM timer WHERE kind = 'ask'")?,
    })
}

/// Runs a query that counts at most as many rows as its parameter says.
fn count_rows(session: &dyn Session, query: &str) -> Result<u64, StoreError> {
    let count: i64 = session.query_one(query, params![MAX_COUNT.cast_signed()], |row| row.get(0))?;
    Ok(count.unsigned_abs())
}

/// Runs a query for a time.
fn find_time(session: &dyn Session, query: &str) -> Result<Option<Timestamp>, StoreError> {
    let found: Option<i64> = session.query_one(query, (), |row| row.get(0))?;
    Ok(found.map(timestamp_from_milliseconds))
}
