//! The store as the command line uses it: one connection, beside a server that may be running on the same file.
//!
//! The methods stand in one file a noun: entities, tokens, webhooks, wallet keys, the vault's keys, sandbox clocks.

use std::path::Path;

use rusqlite::{Connection, Transaction, TransactionBehavior};

use super::{StoreError, file, open_connection};

/// A store that is opened for the length of a command. A running server notices what it writes.
pub struct AdminStore {
    pub(super) connection: Connection,
}

impl AdminStore {
    /// Opens the store of a data folder and migrates it. Makes folder and file if they are absent.
    ///
    /// # Errors
    /// When the folder or the file cannot be made, opened or migrated, or a restore was interrupted.
    pub fn open(folder: &Path) -> Result<Self, StoreError> {
        Ok(Self { connection: open_connection(folder)? })
    }

    /// Opens the store of a data folder and migrates it. Returns `None` if there is no store.
    ///
    /// # Errors
    /// Same as [`AdminStore::open`].
    pub fn open_existing(folder: &Path) -> Result<Option<Self>, StoreError> {
        if file(folder).is_file() { Self::open(folder).map(Some) } else { Ok(None) }
    }

    /// Runs several reads and writes as one transaction, which starts with the write lock: nobody else writes in between.
    /// Nothing is written if `work` fails. Transactions cannot be nested.
    ///
    /// # Errors
    /// The error of `work`, or a failure to begin or commit.
    pub fn in_transaction<T, E: From<StoreError>>(&self, work: impl FnOnce(&Self) -> Result<T, E>) -> Result<T, E> {
        let begun = Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate);
        let transaction = begun.map_err(StoreError::from)?;
        let value = work(self)?;
        transaction.commit().map_err(StoreError::from)?;
        Ok(value)
    }

    /// Copies the whole store, consistent, to a new or empty file, while a server may be running on it.
    ///
    /// # Errors
    /// When the target has content or cannot be written.
    pub fn backup(&self, target: &Path) -> Result<(), StoreError> {
        self.connection.execute("VACUUM INTO ?1", [target.to_string_lossy()])?;
        Ok(())
    }
}
