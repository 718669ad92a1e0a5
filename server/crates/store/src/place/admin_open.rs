//! Opening of the store by a command.

use std::path::Path;

use tillgate_engine::Session;
use tillgate_engine::postgres::PostgresAddress;
use tillgate_vault::{KeyId, Vault};

use crate::access::token;
use crate::cluster;
use crate::cluster::servers::{count_servers, has_every_server_key, may_seal_under};
use crate::cluster::writer_session::open_writer;
use crate::place::StorePlace;
use crate::place::open_for_writing::{VaultAccess, open_sealed_session};
use crate::place::store_file::{BUSY_TIMEOUT, store_path};
use crate::{AdminStore, Store, StoreError, StoreLocation};

impl AdminStore {
    /// Opens the store of a data folder and migrates it. Creates folder and file if they are absent.
    ///
    /// # Errors
    /// If the folder or the file cannot be created, opened or migrated, or a restore was interrupted.
    pub fn open(folder: &Path) -> Result<Self, StoreError> {
        Self::open_with_vault(&StoreLocation::in_folder(folder), None)
    }

    /// Opens a store and migrates it, as [`AdminStore::open`] does, with the vault's keys. Without the right ones a
    /// sealed store can be read only. An empty database becomes a store.
    ///
    /// # Errors
    /// Same as [`AdminStore::open`]; also if a sealed store has to be migrated and the key is missing, or a database
    /// cannot be reached or used.
    pub fn open_with_vault(location: &StoreLocation, vault: Option<&Vault>) -> Result<Self, StoreError> {
        if let Some(address) = location.database() {
            return Self::open_cluster(address, vault);
        }
        let access = vault.map_or(VaultAccess::None, VaultAccess::Admin);
        let session = open_sealed_session(location.folder(), access)?;
        Ok(Self::of_session(Box::new(session), vault))
    }

    /// Opens a database of a cluster as [`AdminStore::open_with_vault`] opens a data folder.
    ///
    /// # Errors
    /// If the database cannot be reached or is of the wrong kind, or its schema is of a later version.
    pub(crate) fn open_cluster(address: &PostgresAddress, vault: Option<&Vault>) -> Result<Self, StoreError> {
        let session = open_writer(address, vault.map_or(VaultAccess::None, VaultAccess::Admin), BUSY_TIMEOUT)?;
        Ok(Self::of_session(Box::new(session), vault))
    }

    /// Makes a store of its session, with the key of the hashes of tokens if the vault opens it.
    fn of_session(session: Box<dyn Session>, vault: Option<&Vault>) -> Self {
        let hash_key = vault.and_then(|vault| token::find_hash_key(&*session, vault));
        Self::new(session, hash_key)
    }

    /// Opens a store and migrates it. Returns `None`, and creates nothing, if there is no store.
    ///
    /// # Errors
    /// Same as [`AdminStore::open_with_vault`].
    pub fn open_existing(location: &StoreLocation, vault: Option<&Vault>) -> Result<Option<Self>, StoreError> {
        // Opening creates a missing store, and a mistyped folder or database would get an empty one.
        let is_there = match location.database() {
            Some(address) => cluster::is_store(address)?,
            None => store_path(location.folder()).is_file(),
        };
        if is_there { Self::open_with_vault(location, vault).map(Some) } else { Ok(None) }
    }

    /// Counts the servers of the database of this session.
    ///
    /// # Errors
    /// If the database cannot be read. Also for the file in a data folder, whose servers are not counted.
    pub fn count_servers(&self) -> Result<u64, StoreError> {
        count_servers(&*self.session)
    }

    /// Returns true if every server of the database of this session has loaded a key of the vault.
    ///
    /// # Errors
    /// Same as [`AdminStore::count_servers`].
    pub fn has_every_server_key(&self, id: KeyId) -> Result<bool, StoreError> {
        has_every_server_key(&*self.session, id)
    }

    /// Returns true unless every server of the database of this session seals under another key of the vault.
    ///
    /// # Errors
    /// Same as [`AdminStore::count_servers`].
    pub fn may_server_seal_under(&self, id: KeyId) -> Result<bool, StoreError> {
        may_seal_under(&*self.session, id)
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
            StorePlace::Folder(folder) => {
                AdminStore::open_with_vault(&StoreLocation::in_folder(&folder.path), Some(vault))
            }
            StorePlace::Cluster { address, .. } => AdminStore::open_cluster(address, Some(vault)),
        }
    }
}
