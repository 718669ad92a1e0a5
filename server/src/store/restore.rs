//! Puts a backup in the place of the store's file.
//!
//! | Step | After a crash |
//! |---|---|
//! | 1. the backup is copied into the folder and checked there | the store is as it was |
//! | 2. the copy is renamed to `tillgate.db.restoring` | nothing opens the store until `tillgate restore` runs again |
//! | 3. file, log and index of before are renamed to `….damaged-<time>` | as 2 |
//! | 4. the copy is renamed to `tillgate.db` | the store is restored |
//!
//! Each step is on the disk before the next begins.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use rusqlite::{Connection, OpenFlags};

use super::migrations::VERSION;
use super::schema::{file, make_folder};
use super::{StoreError, lock};

/// A reason why nothing was restored.
#[derive(Debug, thiserror::Error)]
pub enum RestoreError {
    /// The store cannot be locked, or its folder not be made.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A file cannot be read, written or renamed.
    #[error("{0}: {1}")]
    File(PathBuf, io::Error),
    /// The file is no backup that can be restored.
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
    /// The files of before, kept for whoever wants to save more of them.
    pub kept: Vec<PathBuf>,
}

/// Returns true if a restore was interrupted between its second and its last step.
pub(super) fn is_interrupted(folder: &Path) -> bool {
    beside(folder, ".restoring").exists()
}

/// Puts a backup in the place of the store's file. `now` names the files of before.
///
/// # Errors
/// A server has the store open, the backup is damaged or of another version, or the disk fails.
pub fn restore(folder: &Path, from: &Path, now: Timestamp) -> Result<Restored, RestoreError> {
    make_folder(folder)?;
    let _lock = lock::take(folder)?;
    let (copy, restoring) = (beside(folder, ".copying"), beside(folder, ".restoring"));
    let copied = copy_durably(from, &copy).and_then(|bytes| check(from, &copy).map(|()| bytes));
    let bytes = match copied {
        Ok(bytes) => bytes,
        Err(error) => {
            let _ = fs::remove_file(&copy);
            return Err(error);
        }
    };
    rename(folder, &copy, &restoring)?;
    let now = now.as_millisecond();
    let mut kept = Vec::new();
    // The log first: with another file beside it, it would be taken for that file's.
    for end in ["-wal", "-shm", ""] {
        let before = beside(folder, end);
        if before.exists() {
            let aside = beside(folder, &format!(".damaged-{now}{end}"));
            rename(folder, &before, &aside)?;
            kept.push(aside);
        }
    }
    rename(folder, &restoring, &file(folder))?;
    Ok(Restored { file: file(folder), bytes, kept })
}

/// The path of the store's file with something at its end.
fn beside(folder: &Path, end: &str) -> PathBuf {
    let mut path = OsString::from(file(folder));
    path.push(end);
    path.into()
}

fn copy_durably(from: &Path, to: &Path) -> Result<u64, RestoreError> {
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |error| RestoreError::File(path, error)
    };
    let mut log = OsString::from(from);
    log.push("-wal");
    if fs::metadata(&log).is_ok_and(|log| log.len() > 0) {
        let why =
            "a write-ahead log lies beside it, so it is the file of a running store; make one with `tillgate backup`";
        return Err(RestoreError::Backup(from.to_owned(), why.to_owned()));
    }
    let mut source = File::open(from).map_err(failed(from))?;
    let mut copy =
        OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(to).map_err(failed(to))?;
    let bytes = io::copy(&mut source, &mut copy).map_err(failed(to))?;
    copy.sync_all().map_err(failed(to))?;
    Ok(bytes)
}

/// Checks the copy, whose bytes nobody else changes any more.
fn check(from: &Path, copy: &Path) -> Result<(), RestoreError> {
    let refuse = |why: String| RestoreError::Backup(from.to_owned(), why);
    let findings = || -> rusqlite::Result<Option<String>> {
        // Immutable: no log and no index are made beside the copy.
        let path = copy.to_string_lossy().replace('%', "%25").replace('?', "%3f").replace('#', "%23");
        let address = format!("file:{path}?immutable=1");
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(address, flags)?;
        let integrity: String = connection.query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))?;
        if integrity != "ok" {
            return Ok(Some(integrity));
        }
        let version: i64 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
        if version == 0 {
            return Ok(Some("it is no store of Tillgate".to_owned()));
        }
        if usize::try_from(version).map_or(true, |version| version > VERSION) {
            return Ok(Some("it was made by a later version of Tillgate".to_owned()));
        }
        let entities = "SELECT count(*) FROM sqlite_schema WHERE name IN ('entity', 'payment', 'checkout')";
        let tables: u32 = connection.query_row(entities, [], |row| row.get(0))?;
        let broken: u32 =
            connection.query_row("SELECT count(*) FROM pragma_foreign_key_check", [], |row| row.get(0))?;
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

/// Renames a file, on the disk when this returns.
fn rename(folder: &Path, from: &Path, to: &Path) -> Result<(), RestoreError> {
    let renamed = fs::rename(from, to).and_then(|()| File::open(folder)?.sync_all());
    renamed.map_err(|error| RestoreError::File(from.to_owned(), error))
}
