//! The store in a database of PostgreSQL: its opening, and what only this place has.

pub(crate) mod changed_counts;
mod clock_check;
mod commit_mark;
pub(crate) mod copied_rules;
mod hooks;
pub(crate) mod inquiries;
pub(crate) mod lease_keeper;
pub(crate) mod servers;
#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing)]
pub(crate) mod tests;

use std::fs::File;
use std::sync::Arc;
use std::time::Duration;

use tillgate_domain::access::audit::ChainHash;
use tillgate_domain::access::audit_key::AuditKey;
use tillgate_domain::id::to_hex;
use tillgate_engine::postgres::{ClusterMigration, PostgresAddress, PostgresSession, load_version, migrate};
use tillgate_engine::{FromValue as _, OwnedValue, Session};
use tillgate_vault::{Keyring, Vault};

use self::hooks::ClusterHooks;
use crate::copy::move_mark::MoveMark;
use crate::entity_directory::Directory;
use crate::open_for_writing::VaultAccess;
use crate::place::StorePlace;
use crate::readers::Readers;
use crate::store_file::BUSY_TIMEOUT;
use crate::writer::Writer;
use crate::{AdminStore, ChangeLog, Damage, Sources, Store, StoreError, WriteLimits, access, keys};

/// The migrations, oldest first. The first one makes the schema that the migrations of SQLite have made by then.
const MIGRATIONS: &[ClusterMigration] =
    &[ClusterMigration { version: 67, script: include_str!("../postgres_migrations/0067_baseline.sql") }];

/// Opens a session that writes, with the schema of this version, and with the key of the audit log as far as `access`
/// opens it.
pub(super) fn open_writer(
    address: &PostgresAddress,
    access: VaultAccess<'_>,
    lock_timeout: Duration,
) -> Result<PostgresSession, StoreError> {
    let mut session = PostgresSession::connect(address)?;
    migrate(&session, MIGRATIONS)?;
    MoveMark::refuse(&session)?;
    session.run_script(&format!("SET lock_timeout = {}", lock_timeout.as_millis()))?;
    if let Some(key) = access.open_audit_key(&session)? {
        add_audit_functions(&mut session, &key);
    }
    Ok(session)
}

/// Gives a session the functions that hash entries of the audit log. The database never has the key.
fn add_audit_functions(session: &mut PostgresSession, key: &AuditKey) {
    let id = key.id().to_owned();
    session.add_function("audit_key_id", move |_| Ok(OwnedValue::Text(id.clone())));
    let key = key.clone();
    session.add_function("audit_hash", move |values| {
        let [previous, number, entity, document] = values else {
            return Ok(OwnedValue::Null);
        };
        let previous = ChainHash::from_value(*previous)?;
        let hash = key.hash_entry(&previous, number.as_integer()?, entity.as_str()?, document.as_blob()?);
        Ok(OwnedValue::Blob(hash.to_vec()))
    });
}

/// Loads the size of the database in bytes.
pub(crate) fn load_size(session: &dyn Session) -> Result<u64, StoreError> {
    Ok(session.query_one("SELECT pg_database_size(current_database())", (), |row| row.get(0))?)
}

/// The way in which a process opens a database to serve it.
pub(crate) struct NodeOptions {
    /// The vault's keys of a server. `None` for a process that has none.
    pub keys: Option<Keyring>,
    /// The locked file in the folder of the node. `None` for a process without a folder.
    pub note: Option<File>,
    /// Limits of its writes.
    pub limits: WriteLimits,
    /// Time and randomness for its writes.
    pub sources: Sources,
}

#[cfg(test)]
impl NodeOptions {
    /// Those of a process without keys and folder.
    pub(crate) fn of_test() -> Self {
        let (limits, sources) = (WriteLimits::default(), Sources::system());
        Self { keys: None, note: None, limits, sources }
    }
}

impl Store {
    /// Opens a database of a cluster, brings its schema to this version, and starts the writer. Fills the directory,
    /// which is refilled soon after another node or a command has changed it. Which of the keys of a server are loaded
    /// is recorded, and they are reloaded when another process has changed them.
    ///
    /// # Errors
    /// If the database cannot be reached or is of the wrong kind, or its schema is of a later version.
    pub(crate) fn open_cluster(
        address: &PostgresAddress,
        directory: Arc<Directory>,
        options: NodeOptions,
    ) -> Result<Self, StoreError> {
        let NodeOptions { keys, note, limits, sources } = options;
        let process = to_hex(&sources.random_bytes::<16>()?);
        let sources = Sources { process: Some(process.into()), ..sources };
        let access = keys.as_ref().map_or(VaultAccess::None, |keys| VaultAccess::Server(&keys.vault));
        let session = open_writer(address, access, limits.lock_timeout)?;
        if let Some(keys) = &keys {
            servers::add_server(&session)?;
            // A copy marks the database before it counts the servers, so one of both sees the other.
            MoveMark::refuse(&session)?;
            keys.vault.refuse_first_format();
            keys::vault_keys::record_loaded_keys(&session, &keys.vault)?;
        }
        access::entity::refill_directory(&session, &directory)?;
        let (damage, change_log) = (Arc::new(Damage::default()), Arc::new(ChangeLog::default()));
        // Another node may have changed any payment since a response was made.
        change_log.stop_caching();
        let place = (address.clone(), limits.lock_timeout);
        let hooks =
            ClusterHooks::start(&session, place, (Arc::clone(&directory), Arc::clone(&damage)), keys, &sources)?;
        let writer = Writer::start(Box::new(session), limits, Arc::clone(&change_log), Arc::clone(&damage), hooks)?;
        let readers = Arc::new(Readers::of_cluster(address.clone(), Arc::clone(&damage)));
        Ok(Self::assemble(
            StorePlace::Cluster { address: Box::new(address.clone()), note },
            (readers, writer),
            (change_log, damage),
            directory,
            sources,
        ))
    }
}

impl AdminStore {
    /// Opens a database of a cluster as [`AdminStore::open_with_vault`] opens a data folder.
    ///
    /// # Errors
    /// If the database cannot be reached or is of the wrong kind, or its schema is of a later version.
    pub(crate) fn open_cluster(address: &PostgresAddress, vault: Option<&Vault>) -> Result<Self, StoreError> {
        let session = open_writer(address, vault.map_or(VaultAccess::None, VaultAccess::Admin), BUSY_TIMEOUT)?;
        Ok(Self::new(Box::new(session), vault))
    }
}

/// Returns true if a database has the schema of a store, of any version.
///
/// # Errors
/// If the database cannot be reached, is of the wrong kind, or has the tables of another program.
pub(crate) fn is_store(address: &PostgresAddress) -> Result<bool, StoreError> {
    Ok(load_version(&PostgresSession::connect(address)?, MIGRATIONS)? > 0)
}
