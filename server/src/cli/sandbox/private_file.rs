//! Files with a secret, which only their owner may read.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use anyhow::{Context as _, ensure};
use tillgate_os::text_file::read_text_file;
use zeroize::Zeroizing;

/// Maximum size of a file with a secret, in bytes.
const MAX_FILE: u64 = 4096;

/// Reads a text file with a secret.
///
/// # Errors
/// If the file cannot be read, or other users may read it. The error names the file.
pub(super) fn read_private_file(path: &Path) -> anyhow::Result<Zeroizing<String>> {
    let reading = || format!("reading the secret in {}", path.display());
    let text = read_text_file(path, MAX_FILE).with_context(reading)?;
    let mode = fs::metadata(path).with_context(reading)?.permissions().mode();
    ensure!(mode & 0o077 == 0, "other users can read {}: its mode has to be 0600", path.display());
    Ok(text)
}
