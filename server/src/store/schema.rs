//! The store's file, and connections to it.
//!
//! Aggregates are stored as JSON documents under their id; columns exist only for what is searched. Ids begin with the
//! time, so a table without a rowid grows at its end.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use super::{StoreError, migrations, restore};

/// The file's name in the data folder.
const FILE: &str = "tillgate.db";

/// How long a writer waits for another process's transaction.
pub(super) const BUSY: Duration = Duration::from_secs(10);

/// How many compiled statements a connection keeps.
const STATEMENTS: usize = 64;

/// The path of the store's file in a data folder.
pub(super) fn file(folder: &Path) -> PathBuf {
    folder.join(FILE)
}

/// Opens the store's file for writing, makes folder (mode 0700) and file (mode 0600) when absent, and migrates.
pub(super) fn open_connection(folder: &Path) -> Result<Connection, StoreError> {
    make_folder(folder)?;
    if restore::is_interrupted(folder) {
        return Err(StoreError::HalfRestored(file(folder)));
    }
    // Made for its owner alone, in a folder of any kind; SQLite gives the files beside it the same mode.
    let path = file(folder);
    match fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(StoreError::File(path, error)),
        _ => {}
    }
    let mut connection = Connection::open(&path)?;
    settle(&connection)?;
    // 8 KiB pages keep a whole payment document inside its leaf; the setting takes effect in a new file only.
    connection.pragma_update(None, "page_size", 8192)?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "foreign_keys", true)?;
    // A deleted card's bytes are overwritten, not left in a free page.
    connection.pragma_update(None, "secure_delete", true)?;
    // The few pages that a savepoint may have to restore are kept in memory; else a group of requests writes them to a file.
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    migrations::migrate(&mut connection)?;
    Ok(connection)
}

/// Makes a data folder for its owner alone, if there is none.
pub(super) fn make_folder(folder: &Path) -> Result<(), StoreError> {
    if !folder.exists() {
        let failed = |error| StoreError::File(folder.to_owned(), error);
        fs::create_dir_all(folder).map_err(failed)?;
        fs::set_permissions(folder, fs::Permissions::from_mode(0o700)).map_err(failed)?;
    }
    Ok(())
}

/// Opens the store's file for reading only.
pub(super) fn open_reader(folder: &Path) -> Result<Connection, StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI;
    let connection = Connection::open_with_flags(file(folder), flags)?;
    settle(&connection)?;
    // 256 MiB of the file at most are mapped: reads of recent rows then copy nothing.
    connection.pragma_update(None, "mmap_size", 256 * 1024 * 1024)?;
    Ok(connection)
}

/// What every connection has, whether it writes or only reads.
fn settle(connection: &Connection) -> Result<(), StoreError> {
    connection.busy_timeout(BUSY)?;
    // More than there are statements: each is compiled once.
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    // A plan does not depend on what is bound, else `LIMIT ?` has the statement compiled anew at every use.
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
        for most in [1, 1000] {
            assert!(statement.query(rusqlite::params!["none", most]).unwrap().next().unwrap().is_none());
        }
        assert_eq!(statement.get_status(rusqlite::StatementStatus::RePrepare), 0);
    }
}
