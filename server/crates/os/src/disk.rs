//! Space on the disk of a folder.

use std::path::Path;

/// Returns the free bytes on the disk of a folder that this user may fill.
///
/// # Errors
/// If the system does not tell, such as for a folder that does not exist.
pub fn free_bytes(folder: &Path) -> std::io::Result<u64> {
    let disk = rustix::fs::statvfs(folder)?;
    Ok(disk.f_bavail.saturating_mul(disk.f_frsize))
}
