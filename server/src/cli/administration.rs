//! Opening of the acts of administrators for one command.

use std::error::Error;
use std::sync::Arc;

use tillgate_gateway::administration::{Administration, VaultSource};
use tillgate_os::clock::SystemClock;
use tillgate_os::process;
use tillgate_store::AdminStore;
use tillgate_vault::Vault;

use super::CommonOptions;
use super::data_place::DataPlace;
use super::keys::vault_key::VaultKeyOptions;

/// The vault of a store, with the keys that the options of the command name.
struct CommandVault {
    options: VaultKeyOptions,
    place: DataPlace,
}

impl VaultSource for CommandVault {
    fn open_vault(&self, store: &AdminStore) -> Result<Arc<Vault>, Box<dyn Error + Send + Sync>> {
        let (_, vault) = self.options.open_vault(store, &self.place)?;
        Ok(Arc::new(vault))
    }
}

impl CommonOptions {
    /// Opens the existing store for acts. The vault's keys are those of the command's `--key-file`.
    pub(super) fn open_administration(&self) -> anyhow::Result<Administration> {
        VaultKeyOptions::of_command().open_administration(&self.place)
    }
}

impl VaultKeyOptions {
    /// Opens the existing store for acts, which use the vault's keys of these options.
    pub(super) fn open_administration(&self, place: &DataPlace) -> anyhow::Result<Administration> {
        Ok(prepare_administration(place.open_existing()?, self.clone(), place))
    }
}

/// Opens the store for acts, or creates it.
pub(super) fn create_administration(place: &DataPlace) -> anyhow::Result<Administration> {
    Ok(prepare_administration(place.open_store()?, VaultKeyOptions::of_command(), place))
}

/// Prepares acts on an open store.
pub(super) fn prepare_administration(store: AdminStore, options: VaultKeyOptions, place: &DataPlace) -> Administration {
    let vault = CommandVault { options, place: place.clone() };
    Administration::new(store.for_actor(process::describe_user()), Box::new(vault), Arc::new(SystemClock))
}
