//! Direct access to a store's file for the benchmarks of this workspace. They fill files, read sizes, and measure the
//! minimum time of a write. The gateway itself does not use it.

use std::path::Path;

use rusqlite::Connection;
use tillgate_domain::effects;
use tillgate_domain::payment::Payment;

use super::open_for_writing::open_connection;
use super::{Changes, LoadedRecords, RecordKeys, Sources, Store, StoreError, decision_input};
use crate::settlement::ledger;

/// Opens a store's file for writing, and migrates it.
///
/// # Errors
/// If the folder or the file cannot be created, opened or migrated.
pub fn open_store_file(folder: &Path) -> Result<Connection, StoreError> {
    open_connection(folder)
}

/// Loads records on a connection that is in a transaction.
///
/// # Errors
/// If a row cannot be read.
pub fn load_records(keys: &RecordKeys, connection: &Connection) -> Result<LoadedRecords, StoreError> {
    decision_input::load_records(connection, keys)
}

/// Writes changes on a connection that is in a transaction.
///
/// # Errors
/// If a row cannot be written.
pub fn apply_changes(changes: &Changes, connection: &Connection) -> Result<(), StoreError> {
    changes.apply(connection, &Sources::system()).map(drop)
}

/// Writes the ledger's rows of an approved payment on a connection that is in a transaction.
///
/// # Errors
/// If a row cannot be written.
pub fn record_payment(payment: &Payment, connection: &Connection) -> Result<(), StoreError> {
    match effects::payment_booking(None, payment) {
        Some(booking) => {
            ledger::record_booking(connection, &Sources::system(), &booking, ledger::EntryActor::default())
        }
        None => Ok(()),
    }
}

/// Runs a write on the writer's thread, in a group commit with others. The write runs again if another one of the group
/// fails.
pub async fn run_write(
    store: &Store,
    write: impl Fn(&Connection) -> Result<(), StoreError> + Send + 'static,
) -> Result<(), StoreError> {
    store.writer.run_repeatable_write(write).await
}
