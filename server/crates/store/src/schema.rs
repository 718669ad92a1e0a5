//! The store's file, and connections to it.
//!
//! Aggregates are stored as JSON documents under their id. Columns exist only for searches. Ids begin with the time,
//! so a table without a rowid grows at its end.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};
use tillgate_domain::access::audit_key::AuditKey;
use tillgate_vault::Vault;

use super::error::Cause;
use super::{StoreError, migrations, restore, schema_check, schema_guard};
use crate::keys::sealed;
use crate::keys::sealed_key;
use crate::keys::table_seal;
use crate::keys::table_seal::SealAccess;

/// Name of the file in the data folder.
const FILE: &str = "tillgate.db";

/// Maximum time to wait for another process's transaction.
pub(super) const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

/// Number of compiled statements that a connection caches.
const CACHED_STATEMENTS: usize = 128;

/// Returns the path of the store's file in a data folder.
pub(super) fn store_path(folder: &Path) -> PathBuf {
    folder.join(FILE)
}

/// Largest size of the writer's page cache in KiB, negative as SQLite wants it. It grows with use.
const WRITER_CACHE_KIB: i64 = -16_384;

/// The vault's keys of a process, from which the key of the store's seal is opened.
#[derive(Clone, Copy)]
pub(super) enum VaultAccess<'a> {
    /// None, or they are not known.
    None,
    /// Those of a command. If they do not open the seal's key, a sealed store can only be read.
    Admin(&'a Vault),
    /// Those of a server, which seals a store that is not sealed. They have to open the seal's key.
    Server(&'a Vault),
}

impl VaultAccess<'_> {
    /// Opens the key of the seal, if the store has one. A server makes one.
    fn open_audit_key(self, connection: &Connection) -> Result<Option<AuditKey>, StoreError> {
        match self {
            Self::None => Ok(None),
            Self::Admin(vault) => Ok(sealed_key::open_audit_key(connection, vault).ok().flatten()),
            Self::Server(vault) => sealed_key::make_audit_key(connection, vault).map(Some),
        }
    }
}

/// Opens the store's file for writing, as [`open_connection`] does, keeps its seal, and seals it again after a
/// migration.
pub(super) fn open_sealed_connection(folder: &Path, access: VaultAccess<'_>) -> Result<Connection, StoreError> {
    let mut connection = open_unmigrated(folder)?;
    let mut unsound = None;
    if table_seal::needs_resealing(&connection)? {
        let key = access.open_audit_key(&connection)?.ok_or(Cause::NeedsKey)?;
        unsound = Some(table_seal::find_row_differences(&connection, &key)?);
    }
    migrations::migrate(&mut connection)?;
    if let Some(unsound) = &mut unsound {
        // A foreign trigger may have written during the migration, as part of what is sealed now.
        unsound.extend(schema_check::find_differences(&connection)?);
    }
    if let VaultAccess::Server(vault) = access {
        // Once, because it reads every sealed record: in a sealed store each is bound to its owner.
        if !table_seal::is_sealed(&connection)? {
            sealed::bind_owners(&connection, vault)?;
        }
        vault.refuse_first_format();
    }
    let key = access.open_audit_key(&connection)?;
    let access = match (&key, access) {
        (Some(key), VaultAccess::Server(_)) => SealAccess::Sealing(key),
        (Some(key), _) => SealAccess::Unlocked(key),
        (None, _) => SealAccess::Locked,
    };
    table_seal::prepare_connection(&connection, access, unsound.as_deref())?;
    // Not earlier: the hook would refuse the connection's own temporary triggers, and commands that only read.
    schema_guard::check_commits(&connection, folder)?;
    Ok(connection)
}

/// Opens the store's file for writing and migrates it. Creates folder (mode 0700) and file (mode 0600) if absent. Fails
/// if a restore was interrupted. The connection must not change rows that are sealed.
pub(super) fn open_connection(folder: &Path) -> Result<Connection, StoreError> {
    let mut connection = open_unmigrated(folder)?;
    if !table_seal::needs_resealing(&connection)? {
        migrations::migrate(&mut connection)?;
    }
    Ok(connection)
}

/// Opens the store's file for writing, at the version that it has.
fn open_unmigrated(folder: &Path) -> Result<Connection, StoreError> {
    make_folder(folder)?;
    if restore::is_interrupted(folder) {
        return Err(Cause::RestoreInterrupted(store_path(folder)).into());
    }
    // The file is accessible only to its owner, whatever the folder's mode. SQLite gives its companion files the same
    // mode.
    let path = store_path(folder);
    match fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(Cause::File(path, error).into()),
        _ => {}
    }
    let connection = Connection::open(&path)?;
    configure_connection(&connection)?;
    // 8 KiB pages keep a whole payment document inside its leaf. The setting has an effect only on a new file.
    connection.pragma_update(None, "page_size", 8192)?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "foreign_keys", true)?;
    // The bytes of deleted cards are overwritten, not left in a free page.
    connection.pragma_update(None, "secure_delete", true)?;
    // Pages that a savepoint may have to restore are kept in memory. Otherwise a group of requests writes them to a
    // file.
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    // A group of payments with velocity counters writes more pages than the usual 2 MiB hold, and pages that do not fit
    // are written twice.
    connection.pragma_update(None, "cache_size", WRITER_CACHE_KIB)?;
    // Triggers that somebody has added to the file cannot call the functions that keep the seal.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    Ok(connection)
}

/// Creates a data folder (mode 0700), with its parents, if there is none. Leaves an existing one as it is.
pub(super) fn make_folder(folder: &Path) -> Result<(), StoreError> {
    if !folder.exists() {
        let file_error = |error| Cause::File(folder.to_owned(), error);
        fs::create_dir_all(folder).map_err(file_error)?;
        fs::set_permissions(folder, fs::Permissions::from_mode(0o700)).map_err(file_error)?;
    }
    Ok(())
}

/// Opens the store's file for reading only. Fails if there is none, and does not migrate it.
pub(super) fn open_reader(folder: &Path) -> Result<Connection, StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI;
    let connection = Connection::open_with_flags(store_path(folder), flags)?;
    configure_connection(&connection)?;
    // At most 256 MiB of the file are mapped, so that reads of recent rows copy nothing.
    connection.pragma_update(None, "mmap_size", 256 * 1024 * 1024)?;
    Ok(connection)
}

/// Applies the settings that all connections have: waiting for a busy file, the statement cache, and stable query
/// plans.
fn configure_connection(connection: &Connection) -> Result<(), StoreError> {
    connection.busy_timeout(BUSY_TIMEOUT)?;
    // The cache is larger than the number of statements, so that each is compiled once.
    connection.set_prepared_statement_cache_capacity(CACHED_STATEMENTS);
    // Query plans do not depend on bound values. Otherwise a statement with `LIMIT ?` would be compiled at every use.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    Ok(())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_is_compiled_once_whatever_is_bound_to_its_limit() {
        let folder = tempfile::tempdir().unwrap();
        drop(open_connection(folder.path()).unwrap());
        let connection = open_reader(folder.path()).unwrap();
        let mut statement = connection
            .prepare_cached("SELECT id FROM payment_link WHERE referenced = ?1 ORDER BY id LIMIT ?2")
            .unwrap();
        for limit in [1, 1000] {
            assert!(statement.query(rusqlite::params!["none", limit]).unwrap().next().unwrap().is_none());
        }
        assert_eq!(statement.get_status(rusqlite::StatementStatus::RePrepare), 0);
    }
}
