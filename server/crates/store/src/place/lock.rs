//! The lock of a data folder: servers share it, and a restore takes it exclusively. The system releases it when the
//! process ends. Its file contains what other commands have to know about the server that runs.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use crate::error::Cause;
use crate::{Store, StoreError, StoreErrorKind};

/// Name of the lock file in the data folder.
const FILE: &str = "tillgate.lock";

/// Takes the shared lock for a server, until the returned file is dropped. Retries for a second, because other
/// processes take it exclusively for a moment to detect a running server. Then fails with `InUse`.
pub(crate) fn acquire_shared(folder: &Path) -> Result<File, StoreError> {
    for _ in 0..20 {
        match open_and_lock(folder, File::try_lock_shared) {
            Err(error) if error.kind() == StoreErrorKind::InUse => {
                std::thread::sleep(std::time::Duration::from_millis(50))
            }
            taken => return taken,
        }
    }
    open_and_lock(folder, File::try_lock_shared)
}

/// Takes the lock exclusively, until the returned file is dropped. Fails at once with `InUse` if another process has
/// it.
pub(crate) fn acquire_exclusive(folder: &Path) -> Result<File, StoreError> {
    open_and_lock(folder, File::try_lock)
}

/// Returns true if a server has the store of a data folder open, or a restore is running. Takes the lock for a moment,
/// and creates its file if absent.
///
/// # Errors
/// If the file of the lock cannot be opened.
pub fn is_served(folder: &Path) -> Result<bool, StoreError> {
    // A command for a database may run on a machine that has no folder.
    if !folder.exists() {
        return Ok(false);
    }
    match acquire_exclusive(folder) {
        Ok(_) => Ok(false),
        Err(error) if error.kind() == StoreErrorKind::InUse => Ok(true),
        Err(error) => Err(error),
    }
}

/// Writes why the server that runs serves no live entities. Empty if it serves them.
pub(crate) fn write_live_refusal(mut file: &File, reason: &str) -> io::Result<()> {
    // The new text may be shorter than the one before.
    file.set_len(0)?;
    file.seek(SeekFrom::Start(0))?;
    file.write_all(reason.as_bytes())
}

/// Returns why the server of a data folder serves no live entities. `None` if it serves them, or if none runs.
///
/// # Errors
/// If the file of the lock cannot be read.
pub fn read_live_refusal(folder: &Path) -> Result<Option<String>, StoreError> {
    // A server that has ended leaves its note in the file.
    if !is_served(folder)? {
        return Ok(None);
    }
    let path = folder.join(FILE);
    let reason = fs::read(&path).map_err(|error| Cause::File(path, error))?;
    Ok(Some(String::from_utf8_lossy(&reason).into_owned()).filter(|reason| !reason.is_empty()))
}

/// Opens the lock file, creating it with mode 0600 if absent, and locks it without waiting. Fails with `InUse` if
/// another process has the lock.
fn open_and_lock(folder: &Path, lock: impl FnOnce(&File) -> Result<(), TryLockError>) -> Result<File, StoreError> {
    let path = folder.join(FILE);
    // Not truncated, because the content belongs to the server that has the lock.
    let opened = OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(&path);
    let file = opened.map_err(|error| Cause::File(path.clone(), error))?;
    match lock(&file) {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(Cause::InUse(folder.to_owned()).into()),
        Err(TryLockError::Error(error)) => Err(Cause::File(path, error).into()),
    }
}

impl Store {
    /// Notes for other commands why this server serves no live entities. `None` if it serves them.
    ///
    /// # Errors
    /// If the file of the lock cannot be written. A process without a data folder has none, and keeps no note.
    pub fn note_live_refusal(&self, reason: Option<&str>) -> std::io::Result<()> {
        self.place.note().map_or(Ok(()), |note| write_live_refusal(note, reason.unwrap_or_default()))
    }
}
