//! The store's file, and sessions with it as it is.
//!
//! Aggregates are stored as JSON documents under their id. Columns exist only for searches. Ids begin with the time,
//! so a table without a rowid grows at its end.

use std::ffi::OsString;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use tillgate_engine::Session as _;
use tillgate_engine::sqlite::SqliteSession;

use crate::StoreError;
use crate::error::Cause;

/// Name of the file in the data folder.
const FILE: &str = "tillgate.db";

/// Maximum time to wait for another process's transaction.
pub(crate) const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

/// Number of compiled statements that a session keeps: more than the writer or a reader uses.
const KEPT_STATEMENTS: usize = 512;

/// Largest size of the writer's page cache in KiB, negative as SQLite wants it. It grows with use.
const WRITER_CACHE_KIB: i64 = -16_384;

/// Returns the path of the store's file in a data folder.
pub(crate) fn store_path(folder: &Path) -> PathBuf {
    folder.join(FILE)
}

/// Returns the path of the store's file with a suffix.
pub(crate) fn path_with_suffix(folder: &Path, suffix: &str) -> PathBuf {
    let mut path = OsString::from(store_path(folder));
    path.push(suffix);
    path.into()
}

/// Returns true if a restore was interrupted between its second and its last step.
pub(crate) fn is_restore_interrupted(folder: &Path) -> bool {
    path_with_suffix(folder, ".restoring").exists()
}

/// Opens the store's file for writing, at the version that it has, also if it has the mark of a store that moves.
pub(crate) fn open_marked(folder: &Path) -> Result<SqliteSession, StoreError> {
    make_folder(folder)?;
    if is_restore_interrupted(folder) {
        return Err(Cause::RestoreInterrupted(store_path(folder)).into());
    }
    // The file is accessible only to its owner, whatever the folder's mode. SQLite gives its companion files the same
    // mode.
    let path = store_path(folder);
    match fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(Cause::File(path, error).into()),
        _ => {}
    }
    let session = SqliteSession::open(&path)?;
    configure_session(&session)?;
    // 8 KiB pages keep a whole payment document inside its leaf. The setting has an effect only on a new file.
    session.run_script("PRAGMA page_size = 8192")?;
    // With a write-ahead log, readers and the writer do not block each other.
    session.run_script("PRAGMA journal_mode = WAL")?;
    // A payment is answered after its commit, so the commit has to survive a power failure.
    session.run_script("PRAGMA synchronous = FULL")?;
    session.run_script("PRAGMA foreign_keys = true")?;
    // The bytes of deleted cards are overwritten, not left in a free page.
    session.run_script("PRAGMA secure_delete = true")?;
    // Pages that a savepoint or a statement may have to restore are kept in memory, and not in another file.
    session.run_script("PRAGMA temp_store = MEMORY")?;
    // A group of payments with velocity counters writes more pages than the usual 2 MiB hold, and pages that do not fit
    // are written twice.
    session.run_script(&format!("PRAGMA cache_size = {WRITER_CACHE_KIB}"))?;
    // Triggers that somebody has added to the file cannot call the functions that keep the seal.
    session.distrust_schema()?;
    Ok(session)
}

/// Creates a data folder (mode 0700), with its parents, if there is none. Leaves an existing one as it is.
pub(crate) fn make_folder(folder: &Path) -> Result<(), StoreError> {
    if !folder.exists() {
        let file_error = |error| Cause::File(folder.to_owned(), error);
        fs::create_dir_all(folder).map_err(file_error)?;
        fs::set_permissions(folder, fs::Permissions::from_mode(0o700)).map_err(file_error)?;
    }
    Ok(())
}

/// Opens the store's file for reading only. Fails if there is none, and does not migrate it.
pub(crate) fn open_reader(folder: &Path) -> Result<SqliteSession, StoreError> {
    let session = SqliteSession::open_read_only(&store_path(folder))?;
    configure_session(&session)?;
    // At most 256 MiB of the file are mapped, so that reads of recent rows copy nothing.
    session.run_script(&format!("PRAGMA mmap_size = {}", 256 * 1024 * 1024))?;
    Ok(session)
}

/// Applies the settings that all sessions have: waiting for a busy file, the statement cache, and stable query
/// plans.
fn configure_session(session: &SqliteSession) -> Result<(), StoreError> {
    session.set_lock_timeout(BUSY_TIMEOUT)?;
    // Compiling a statement takes longer than running most of them, so none is dropped for another one.
    session.keep_statements(KEPT_STATEMENTS);
    session.fix_query_plans()?;
    Ok(())
}
