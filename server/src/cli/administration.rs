//! Opening of the acts of administrators for one command.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tillgate_gateway::administration::{Administration, VaultSource};
use tillgate_os::clock::SystemClock;
use tillgate_os::process;
use tillgate_store::{AdminStore, StoreError};
use tillgate_vault::Vault;

use super::keys::vault_key::VaultKeyOptions;
use super::{CommonOptions, open_existing, open_store};

/// The vault of a data folder, with the keys that the options of the command name.
struct CommandVault {
    options: VaultKeyOptions,
    data: PathBuf,
}

impl VaultSource for CommandVault {
    fn open_vault(&self, store: &AdminStore) -> Result<Arc<Vault>, Box<dyn Error + Send + Sync>> {
        let (_, vault) = self.options.open_vault(store, &self.data)?;
        Ok(Arc::new(vault))
    }
}

impl CommonOptions {
    /// Opens the existing store of the data folder for acts. The vault's keys are those of the command's `--key-file`.
    pub(super) fn open_administration(&self) -> anyhow::Result<Administration> {
        VaultKeyOptions::of_command().open_administration(&self.data)
    }
}

impl VaultKeyOptions {
    /// Opens the existing store of a data folder for acts, which use the vault's keys of these options.
    pub(super) fn open_administration(&self, data: &Path) -> anyhow::Result<Administration> {
        Ok(prepare_administration(open_existing(data)?, self.clone(), data))
    }
}

/// Opens the store of a data folder for acts, or creates it.
pub(super) fn create_administration(data: &Path) -> Result<Administration, StoreError> {
    Ok(prepare_administration(open_store(data)?, VaultKeyOptions::of_command(), data))
}

/// Prepares acts on an open store.
pub(super) fn prepare_administration(store: AdminStore, options: VaultKeyOptions, data: &Path) -> Administration {
    let vault = CommandVault { options, data: data.to_owned() };
    Administration::new(store.for_actor(process::describe_user()), Box::new(vault), Arc::new(SystemClock))
}
