//! Direct access to a store's file, for the benches of this workspace: they fill files, read sizes, and measure the floor that
//! the writer sets. Nothing of the gateway uses it.

use std::path::Path;

use rusqlite::Connection;

use super::{Changes, Sources, Store, StoreError, open_connection};

/// Opens a store's file for writing, and migrates it.
///
/// # Errors
/// When the folder or the file cannot be made, opened or migrated.
pub fn connect(folder: &Path) -> Result<Connection, StoreError> {
    open_connection(folder)
}

/// Writes changes on a connection that is inside a transaction.
///
/// # Errors
/// When a row cannot be written.
pub fn apply(changes: &Changes, connection: &Connection) -> Result<(), StoreError> {
    changes.apply(connection, &Sources::system()).map(drop)
}

/// Runs a write on the writer's thread, in a group commit with others.
///
/// # Errors
/// Same as [`Store::update`].
pub async fn write<T: Send + 'static>(
    store: &Store,
    write: impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
) -> Result<T, StoreError> {
    store.run(write).await
}
