//! Where the vault's key comes from, for the commands that seal or open something.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::Args;

use crate::vault::MasterKey;

/// Where the vault's key is.
#[derive(Debug, Args)]
pub(super) struct VaultKey {
    /// The file with the vault's key; made on first use. Default: the data folder's name with `.key` at its end, beside it.
    /// The environment variable TILLGATE_VAULT_KEY (64 hexadecimal digits) stands above it.
    #[arg(long, value_name = "FILE", env = "TILLGATE_KEY_FILE")]
    key_file: Option<PathBuf>,
}

impl VaultKey {
    /// The vault's key: from the environment, else from its file, which is never inside the data folder.
    pub(super) fn master_key(&self, data: &Path) -> anyhow::Result<MasterKey> {
        const VARIABLE: &str = "TILLGATE_VAULT_KEY";
        if let Ok(text) = std::env::var(VARIABLE) {
            return Ok(MasterKey::from_hex(&zeroize::Zeroizing::new(text), VARIABLE)?);
        }
        let path = match &self.key_file {
            Some(path) => std::path::absolute(path)?,
            None => {
                let mut beside: OsString = std::path::absolute(data)?.components().as_path().as_os_str().to_owned();
                beside.push(".key");
                beside.into()
            }
        };
        let inside = real_place(&path)?.starts_with(data.canonicalize()?);
        anyhow::ensure!(!inside, "{} is inside the data folder: a copy of the data would open itself", path.display());
        Ok(MasterKey::from_file(&path)?)
    }
}

/// Where a file really is, or will be when it is made, whatever links and dots lead there.
fn real_place(path: &Path) -> anyhow::Result<PathBuf> {
    if path.exists() {
        return Ok(path.canonicalize()?);
    }
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
        anyhow::bail!("{} is no place for a file", path.display());
    };
    Ok(folder.canonicalize().with_context(|| folder.display().to_string())?.join(name))
}
