//! Direct access to a store's file for the benchmarks of this workspace. They fill files, read sizes, and measure the
//! minimum time of a write. The gateway itself does not use it.

use std::path::Path;

use tillgate_domain::effects;
use tillgate_domain::payment::Payment;
use tillgate_engine::Session;
use tillgate_engine::sqlite::SqliteSession;

use crate::place::open_for_writing::open_session;
use crate::settlement::booking::{EntryActor, record_booking};
use crate::write::decision_input;
use crate::{Changes, LoadedRecords, RecordKeys, Sources, Store, StoreError};

/// Opens a store's file for writing, and migrates it.
///
/// # Errors
/// If the folder or the file cannot be created, opened or migrated.
pub fn open_store_file(folder: &Path) -> Result<SqliteSession, StoreError> {
    open_session(folder)
}

/// Loads records on a session that is in a transaction.
///
/// # Errors
/// If a row cannot be read.
pub fn load_records(keys: &RecordKeys, session: &dyn Session) -> Result<LoadedRecords, StoreError> {
    decision_input::load_records(session, keys)
}

/// Writes changes on a session that is in a transaction.
///
/// # Errors
/// If a row cannot be written.
pub fn apply_changes(changes: &Changes, session: &dyn Session) -> Result<(), StoreError> {
    changes.apply(session, &Sources::system()).map(drop)
}

/// Writes the ledger's rows of an approved payment on a session that is in a transaction.
///
/// # Errors
/// If a row cannot be written.
pub fn record_payment(payment: &Payment, session: &dyn Session) -> Result<(), StoreError> {
    match effects::payment_booking(None, payment) {
        Some(booking) => record_booking(session, &Sources::system(), &booking, EntryActor::default()),
        None => Ok(()),
    }
}

/// Runs a write on the writer's thread, in a group commit with others. The write runs again if another one of the group
/// fails.
pub async fn run_write(
    store: &Store,
    write: impl FnMut(&dyn Session) -> Result<(), StoreError> + Send + 'static,
) -> Result<(), StoreError> {
    store.run_write(write).await
}
