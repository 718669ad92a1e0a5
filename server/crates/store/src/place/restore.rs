//! Restores the store's file from a backup.
//!
//! 1. The backup is copied into the folder and checked there. After a crash, the store is unchanged.
//! 2. The copy is renamed to `tillgate.db.restoring`. After a crash, nothing opens the store until `tillgate restore`
//!    runs again.
//! 3. The previous file, WAL and shared-memory index are renamed to `….damaged-<time>`. After a crash, the same as in
//!    step 2.
//! 4. The copy is renamed to `tillgate.db`. The store is restored.
//!
//! Each step is durable on the disk before the next one begins.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use tillgate_engine::sqlite::SqliteSession;

use crate::StoreError;
use crate::place::lock;
use crate::place::restore_loss::TakenBack;
use crate::place::store_file::{make_folder, path_with_suffix, store_path};
use crate::schema::migrations::VERSION;

/// Reason for a failed restore.
#[derive(Debug, thiserror::Error)]
pub enum RestoreError {
    /// The store cannot be locked, or its folder cannot be created.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A file cannot be read, written or renamed.
    #[error("{0}: {1}")]
    File(PathBuf, io::Error),
    /// The file is not a backup that can be restored.
    #[error("{0} is not a good backup: {1}. The store is as it was")]
    Backup(PathBuf, String),
}

/// A restored store.
#[derive(Debug, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Restored {
    /// The store's file.
    pub file: PathBuf,
    /// Its size.
    pub bytes: u64,
    /// The previous files, which remain under other names so that more of their content can be recovered.
    pub kept: Vec<PathBuf>,
    /// Payments and acts that the backup lacks.
    pub taken_back: TakenBack,
}

/// Replaces the store's file with a backup, in the steps described above. Renames the previous files; `now` becomes
/// part of their names. `verify` receives the copy, and describes what speaks against it. Removes the copy again if the
/// backup is refused.
///
/// # Errors
/// If a server has the store open, the backup is damaged or of a later version, or the disk fails. A failure of a
/// rename may leave a store that opens only after the restore is repeated.
pub fn restore_backup(
    folder: &Path,
    from: &Path,
    now: Timestamp,
    verify: impl FnOnce(&Path) -> Result<(), String>,
) -> Result<Restored, RestoreError> {
    make_folder(folder)?;
    // A server would go on writing to the file that is moved aside.
    let _lock = lock::acquire_exclusive(folder)?;
    let (copy, restoring) = (path_with_suffix(folder, ".copying"), path_with_suffix(folder, ".restoring"));
    let copied = copy_durably(from, &copy).and_then(|bytes| {
        check_backup(from, &copy)?;
        verify(&copy).map_err(|reason| RestoreError::Backup(from.to_owned(), reason))?;
        Ok(bytes)
    });
    let bytes = match copied {
        Ok(bytes) => bytes,
        Err(error) => {
            // The first error is reported. A copy that stays is overwritten by the next restore.
            let _ = fs::remove_file(&copy);
            return Err(error);
        }
    };
    // Compared while the previous file is still in its place.
    let taken_back = TakenBack::compare(folder, &copy);
    rename_durably(folder, &copy, &restoring)?;
    let now = now.as_millisecond();
    let mut previous_files = Vec::new();
    // Move the WAL first, because SQLite would apply it to any other file beside it.
    for suffix in ["-wal", "-shm", ""] {
        let current = path_with_suffix(folder, suffix);
        if current.exists() {
            let aside = path_with_suffix(folder, &format!(".damaged-{now}{suffix}"));
            rename_durably(folder, &current, &aside)?;
            previous_files.push(aside);
        }
    }
    rename_durably(folder, &restoring, &store_path(folder))?;
    Ok(Restored { file: store_path(folder), bytes, kept: previous_files, taken_back })
}

/// Copies a backup to a new or overwritten file, readable only by its owner, and makes it durable. Returns its size.
/// Refuses a source with content in a WAL beside it, because that is the file of a running store.
fn copy_durably(from: &Path, to: &Path) -> Result<u64, RestoreError> {
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |error| RestoreError::File(path, error)
    };
    let mut wal = OsString::from(from);
    wal.push("-wal");
    if fs::metadata(&wal).is_ok_and(|wal| wal.len() > 0) {
        let reason =
            "the file has a write-ahead log, so it belongs to a running store: create a backup with `tillgate backup`";
        return Err(RestoreError::Backup(from.to_owned(), reason.to_owned()));
    }
    let mut source = File::open(from).map_err(failed(from))?;
    let mut copy =
        OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(to).map_err(failed(to))?;
    let bytes = io::copy(&mut source, &mut copy).map_err(failed(to))?;
    // After a crash, a renamed copy must not be empty or cut off.
    copy.sync_all().map_err(failed(to))?;
    Ok(bytes)
}

/// Checks the copy, which no other process changes any more: it is an undamaged store of this or an earlier version,
/// and no row refers to a missing one. Any failure is an error that names the backup.
fn check_backup(from: &Path, copy: &Path) -> Result<(), RestoreError> {
    let refuse = |reason: String| RestoreError::Backup(from.to_owned(), reason);
    let findings = || -> tillgate_engine::Result<Option<String>> {
        let session = SqliteSession::open_immutable(copy)?;
        // In contrast to the daily check, this one also compares indexes with their tables.
        let integrity: String = session.query_one("PRAGMA integrity_check(1)", (), |row| row.get(0))?;
        if integrity != "ok" {
            return Ok(Some(integrity));
        }
        let version: i64 = session.query_one("PRAGMA user_version", (), |row| row.get(0))?;
        if version == 0 {
            return Ok(Some("it is no store of Tillgate".to_owned()));
        }
        if usize::try_from(version).map_or(true, |version| version > VERSION) {
            return Ok(Some("it was made by a later version of Tillgate".to_owned()));
        }
        let entities = "SELECT count(*) FROM sqlite_schema WHERE name IN ('entity', 'payment', 'checkout')";
        let tables: u32 = session.query_one(entities, (), |row| row.get(0))?;
        let broken: u32 = session.query_one("SELECT count(*) FROM pragma_foreign_key_check", (), |row| row.get(0))?;
        Ok(match (tables, broken) {
            (3, 0) => None,
            (3, _) => Some("rows refer to rows that are missing".to_owned()),
            _ => Some("it is no store of Tillgate".to_owned()),
        })
    };
    match findings() {
        Ok(None) => Ok(()),
        Ok(Some(finding)) => Err(refuse(finding)),
        Err(error) => Err(refuse(error.to_string())),
    }
}

/// Returns true if the schema of a backup is that of this version, so that it can be verified as it is.
pub fn has_current_version(file: &Path) -> Result<bool, StoreError> {
    let version: i64 = SqliteSession::open_immutable(file)?.query_one("PRAGMA user_version", (), |row| row.get(0))?;
    Ok(usize::try_from(version) == Ok(VERSION))
}

/// Renames a file of a folder. The change is durable on the disk when the function returns. An error names the old
/// path.
fn rename_durably(folder: &Path, from: &Path, to: &Path) -> Result<(), RestoreError> {
    // A rename is durable only after its folder is written to the disk.
    let renamed = fs::rename(from, to).and_then(|()| File::open(folder)?.sync_all());
    renamed.map_err(|error| RestoreError::File(from.to_owned(), error))
}
