//! Opening of the store by a command.

use std::path::Path;

use tillgate_vault::Vault;

use super::open_for_writing::{VaultAccess, open_sealed_session};
use super::place::StorePlace;
use super::store_file::store_path;
use super::{AdminStore, Store, StoreError};

impl AdminStore {
    /// Opens the store of a data folder and migrates it. Creates folder and file if they are absent.
    ///
    /// # Errors
    /// If the folder or the file cannot be created, opened or migrated, or a restore was interrupted.
    pub fn open(folder: &Path) -> Result<Self, StoreError> {
        Self::open_with_vault(folder, None)
    }

    /// Opens the store as [`AdminStore::open`] does, with the vault's keys, which a sealed store needs to be written.
    /// Without the right ones the store can be read only.
    ///
    /// # Errors
    /// Same as [`AdminStore::open`]; also if a sealed store has to be migrated and the key is missing.
    pub fn open_with_vault(folder: &Path, vault: Option<&Vault>) -> Result<Self, StoreError> {
        let access = vault.map_or(VaultAccess::None, VaultAccess::Admin);
        let session = open_sealed_session(folder, access)?;
        Ok(Self::new(Box::new(session), vault))
    }

    /// Opens the store of a data folder and migrates it. Returns `None`, and creates nothing, if there is no store.
    ///
    /// # Errors
    /// Same as [`AdminStore::open_with_vault`].
    pub fn open_existing(folder: &Path, vault: Option<&Vault>) -> Result<Option<Self>, StoreError> {
        // Opening creates a missing store, and a mistyped folder would get an empty one.
        if store_path(folder).is_file() { Self::open_with_vault(folder, vault).map(Some) } else { Ok(None) }
    }
}

impl Store {
    /// Opens a further session for an act of an administrator, on the data of this running store. The write lock
    /// orders its transactions and those of the writer.
    ///
    /// # Errors
    /// If the file cannot be opened.
    pub fn open_admin(&self, vault: &Vault) -> Result<AdminStore, StoreError> {
        match &self.place {
            StorePlace::Folder(folder) => AdminStore::open_with_vault(&folder.path, Some(vault)),
            StorePlace::Cluster(address) => AdminStore::open_cluster(address, Some(vault)),
        }
    }
}
