//! The store for the command line: one connection, which may run beside a server on the same file.
//!
//! The methods are in one file per subject: entities, tokens, webhooks, wallet keys, the vault's keys, sandbox clocks.

use std::path::Path;

use rusqlite::{Connection, Transaction, TransactionBehavior};

use super::{StoreError, open_connection, store_path};

/// A store that is open during one command. A running server notices its writes.
pub struct AdminStore {
    pub(super) connection: Connection,
}

impl AdminStore {
    /// Opens the store of a data folder and migrates it. Creates folder and file if they are absent.
    ///
    /// # Errors
    /// If the folder or the file cannot be created, opened or migrated, or a restore was interrupted.
    pub fn open(folder: &Path) -> Result<Self, StoreError> {
        Ok(Self { connection: open_connection(folder)? })
    }

    /// Opens the store of a data folder and migrates it. Returns `None`, and creates nothing, if there is no store.
    ///
    /// # Errors
    /// Same as [`AdminStore::open`].
    pub fn open_existing(folder: &Path) -> Result<Option<Self>, StoreError> {
        if store_path(folder).is_file() { Self::open(folder).map(Some) } else { Ok(None) }
    }

    /// Runs several reads and writes as one transaction, which takes the write lock at the start: no other connection
    /// writes in between. Nothing is written if `work` fails. Transactions cannot be nested.
    ///
    /// # Errors
    /// If `work` fails, or the transaction cannot begin or commit.
    pub fn in_transaction<T, E: From<StoreError>>(&self, work: impl FnOnce(&Self) -> Result<T, E>) -> Result<T, E> {
        let begun = Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate);
        let transaction = begun.map_err(StoreError::from)?;
        let value = work(self)?;
        transaction.commit().map_err(StoreError::from)?;
        Ok(value)
    }

    /// Copies the whole store consistently to a new or empty file, even while a server is running on it.
    ///
    /// # Errors
    /// If the target has content or cannot be written.
    pub fn backup(&self, target: &Path) -> Result<(), StoreError> {
        self.connection.execute("VACUUM INTO ?1", [target.to_string_lossy()])?;
        Ok(())
    }
}
