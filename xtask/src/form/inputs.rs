//! A hash over all inputs of the form: the form is rebuilt only if the hash has changed.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use sha2::{Digest, Sha256};

/// Folders and files that the form depends on, relative to the workspace's root.
const INPUTS: [&str; 8] = [
    "Cargo.lock",
    "Cargo.toml",
    "shared/Cargo.toml",
    "shared/src",
    "widget",
    "xtask/form-tools",
    "xtask/src/form",
    "xtask/src/form.rs",
];
/// Folders inside them that are ignored.
const SKIPPED: [&str; 6] = ["dist", "npm", "pkg", "sizes.toml", "target", "tests"];

/// Returns a hash over names and bytes of all inputs and the choice of the standard library, in hexadecimal digits.
pub fn hash_inputs(root: &Path, stock: bool) -> Result<String> {
    let mut files = Vec::new();
    for input in INPUTS {
        collect_files(&root.join(input), &mut files)?;
    }
    files.sort();
    let mut hasher = Sha256::new();
    hasher.update([u8::from(stock)]);
    for file in files {
        let bytes = fs::read(&file).with_context(|| format!("reading {}", file.display()))?;
        let name = file.strip_prefix(root).unwrap_or(&file);
        hasher.update(name.to_string_lossy().as_bytes());
        hasher.update((bytes.len() as u64).to_le_bytes());
        hasher.update(bytes);
    }
    Ok(hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Adds a file, or all files below a folder, except [`SKIPPED`] ones. A path that does not exist adds nothing.
fn collect_files(path: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    if !path.is_dir() {
        if path.exists() {
            files.push(path.to_owned());
        }
        return Ok(());
    }
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if !SKIPPED.contains(&name.as_str()) {
            collect_files(&entry.path(), files)?;
        }
    }
    Ok(())
}
