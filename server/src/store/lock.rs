//! The lock of a data folder: servers share it, and a restore wants it alone. The system releases it with the process.

use std::fs::{File, OpenOptions, TryLockError};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use super::StoreError;

const FILE: &str = "tillgate.lock";

/// Takes the lock as one of several servers.
pub(super) fn share(folder: &Path) -> Result<File, StoreError> {
    lock(folder, File::try_lock_shared)
}

/// Takes the lock alone.
pub(super) fn take(folder: &Path) -> Result<File, StoreError> {
    lock(folder, File::try_lock)
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
