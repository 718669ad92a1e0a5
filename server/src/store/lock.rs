//! The lock of a data folder: servers share it, and a restore wants it alone. The system releases it with the process.

use std::fs::{File, OpenOptions, TryLockError};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use super::StoreError;

const FILE: &str = "tillgate.lock";

/// Takes the lock as one of several servers. Others hold it alone for a moment to see whether there is a server.
pub(super) fn share(folder: &Path) -> Result<File, StoreError> {
    for _ in 0..20 {
        match lock(folder, File::try_lock_shared) {
            Err(StoreError::InUse(_)) => std::thread::sleep(std::time::Duration::from_millis(50)),
            taken => return taken,
        }
    }
    lock(folder, File::try_lock_shared)
}

/// Takes the lock alone.
pub(super) fn take(folder: &Path) -> Result<File, StoreError> {
    lock(folder, File::try_lock)
}

/// Returns true if a server has the store of a data folder open.
///
/// # Errors
/// When the lock's file cannot be opened.
pub fn is_served(folder: &Path) -> Result<bool, StoreError> {
    match take(folder) {
        Ok(_) => Ok(false),
        Err(StoreError::InUse(_)) => Ok(true),
        Err(error) => Err(error),
    }
}

fn lock(folder: &Path, lock: impl FnOnce(&File) -> Result<(), TryLockError>) -> Result<File, StoreError> {
    let path = folder.join(FILE);
    let opened = OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(&path);
    let file = opened.map_err(|error| StoreError::File(path.clone(), error))?;
    match lock(&file) {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(StoreError::InUse(folder.to_owned())),
        Err(TryLockError::Error(error)) => Err(StoreError::File(path, error)),
    }
}
