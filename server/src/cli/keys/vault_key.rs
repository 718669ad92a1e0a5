//! The keys of the vault, for the commands that seal or open records.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use anyhow::{Context as _, bail, ensure};
use clap::{Arg, ArgMatches, Args, Command, value_parser};
use jiff::Timestamp;
use tillgate_store::AdminStore;
use tillgate_vault::{KeyId, KeySource, MasterKey, Vault};

use crate::cli::data_place::DataPlace;

const VARIABLE: &str = "TILLGATE_VAULT_KEY";

/// Name of the option, of every command that opens a store.
const OPTION: &str = "key_file";

/// The option of the command that runs.
static KEY_FILE: OnceLock<PathBuf> = OnceLock::new();

/// Gives every command that opens a store the option `--key-file`: to write to a sealed store needs the vault's key.
pub(in crate::cli) fn add_key_option(command: Command) -> Command {
    let has_argument = |id: &str| command.get_arguments().any(|argument| argument.get_id() == id);
    let is_opening = has_argument("data") && !has_argument(OPTION);
    let command = command.mut_subcommands(add_key_option);
    if !is_opening {
        return command;
    }
    let option = Arg::new(OPTION).long("key-file").value_name("FILE").env("TILLGATE_KEY_FILE");
    command.arg(option.value_parser(value_parser!(PathBuf)).help("File with the vault's keys, as for `serve`"))
}

/// Keeps the option of the command that runs.
pub(in crate::cli) fn keep_key_option(matches: &ArgMatches) {
    match matches.subcommand() {
        Some((_, inner)) => keep_key_option(inner),
        None => {
            let found = matches.try_get_one::<PathBuf>(OPTION).ok().flatten();
            found.into_iter().for_each(|path| drop(KEY_FILE.set(path.clone())));
        }
    }
}

/// Opens the vault with the keys that are there. `None` if there are none yet.
///
/// # Errors
/// If the keys cannot be read.
pub(in crate::cli) fn read_vault(place: &DataPlace) -> anyhow::Result<Option<Vault>> {
    if !place.is_database() && !place.folder().exists() {
        return Ok(None);
    }
    let keys = VaultKeyOptions::of_command().find_source(place.folder())?.read_keys()?;
    Ok(keys.as_deref().and_then(Vault::with_keys))
}

/// Opens the vault with the keys that are there. `None` if there are none, or they cannot be read: the reason is
/// printed to the standard error stream, because commands that only read need no key.
pub(in crate::cli) fn find_vault(place: &DataPlace) -> Option<Vault> {
    read_vault(place).unwrap_or_else(|error| {
        eprintln!("tillgate: the vault's keys cannot be read: {error:#}");
        None
    })
}

/// The source of the vault's keys.
#[derive(Debug, Clone, Args)]
pub(in crate::cli) struct VaultKeyOptions {
    /// File with the vault's keys, one per line: the first encrypts, and all decrypt. Created on first use. Default:
    /// the path of the data folder with `.key` appended. The environment variable TILLGATE_VAULT_KEY, with the keys
    /// themselves, overrides the file.
    #[arg(long, value_name = "FILE", env = "TILLGATE_KEY_FILE")]
    key_file: Option<PathBuf>,
}

impl VaultKeyOptions {
    /// Returns the option of the command that runs.
    pub(in crate::cli) fn of_command() -> Self {
        Self { key_file: KEY_FILE.get().cloned() }
    }

    /// Returns the source of the keys: the environment variable, or else the file of the option, or else the file
    /// beside the data folder. A file inside the data folder is refused.
    pub(in crate::cli) fn find_source(&self, data: &Path) -> anyhow::Result<KeySource> {
        if std::env::var_os(VARIABLE).is_some() {
            return Ok(KeySource::Variable(VARIABLE));
        }
        let path = match &self.key_file {
            Some(path) => std::path::absolute(path)?,
            None => {
                let mut beside: OsString = std::path::absolute(data)?.components().as_path().as_os_str().to_owned();
                beside.push(".key");
                beside.into()
            }
        };
        // With a database, the folder of this machine may not exist yet.
        let inside = data.exists() && resolve_path(&path)?.starts_with(data.canonicalize()?);
        anyhow::ensure!(
            !inside,
            "{} is inside the data folder: a copy of the data folder would contain its own key",
            path.display()
        );
        Ok(KeySource::File(path))
    }

    /// Reads the keys and their source, and checks them. Creates a key file if there is none, but never if the store
    /// already has sealed records.
    ///
    /// # Errors
    /// If a key is missing that records are sealed under, the variable is empty, or the first key is retired.
    pub(in crate::cli) fn load_keys(
        &self,
        store: &AdminStore,
        place: &DataPlace,
    ) -> anyhow::Result<(KeySource, Vec<MasterKey>)> {
        let source = self.find_source(place.folder())?;
        let found = source.read_keys()?;
        let ids: Vec<KeyId> = found.iter().flatten().map(MasterKey::id).collect();
        let missing = store.find_missing_vault_keys(&ids)?;
        if !missing.is_empty() && found.is_none() {
            bail!(
                "the store holds records that are sealed under the vault key {}, and the key file {source} does not exist: \
                 {}. No new key is created while the store has sealed records",
                list_keys(&missing),
                match place.is_database() {
                    true =>
                        "restore it, copy it from another machine that uses the database, or name it with --key-file",
                    false => "restore it, or name it with --key-file",
                }
            );
        }
        ensure!(missing.is_empty(), describe_missing(&missing, &source, place));
        let keys = match (found, &source) {
            (Some(keys), _) => keys,
            (None, KeySource::File(path)) => KeySource::create_file(path)?,
            (None, KeySource::Variable(name)) => bail!("{name} is empty"),
        };
        let retired = store.load_vault_keys()?;
        let retired: Vec<KeyId> = retired.iter().filter(|key| key.retired.is_some()).map(|key| key.id).collect();
        if let Some(first) = keys.first().map(MasterKey::id).filter(|first| retired.contains(first)) {
            bail!("the vault key {first} is retired, and is the first in {source}: remove its line");
        }
        Ok((source, keys))
    }

    /// Opens the vault, whose first key seals. Records that key in the store before anything is sealed.
    pub(in crate::cli) fn open_vault(
        &self,
        store: &AdminStore,
        place: &DataPlace,
    ) -> anyhow::Result<(KeySource, Vault)> {
        let (source, keys) = self.load_keys(store, place)?;
        let vault = Vault::with_keys(&keys).context("the vault has no key")?;
        // Another process may have begun to use the store with its own new key since the keys were loaded.
        let missing = store.register_first_key(&vault.key_ids(), Timestamp::now())?;
        ensure!(missing.is_empty(), describe_missing(&missing, &source, place));
        Ok((source, vault))
    }
}

fn list_keys(keys: &[KeyId]) -> String {
    keys.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

/// Describes that a source lacks keys of the store, and the remedy.
fn describe_missing(missing: &[KeyId], source: &KeySource, place: &DataPlace) -> String {
    let remedy = match place.is_database() {
        // A file with both keys would make this machine seal records that no other one can open.
        true => "every machine that uses a database needs the same keys, so replace them by those of the others",
        false => "add that key on a separate line",
    };
    let missing = list_keys(missing);
    format!("the store holds records that are sealed under the vault key {missing}, which is not in {source}: {remedy}")
}

/// Resolves symbolic links and dots in the path of a file. The file may not exist yet, but its folder has to.
fn resolve_path(path: &Path) -> anyhow::Result<PathBuf> {
    if path.exists() {
        return Ok(path.canonicalize()?);
    }
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
        anyhow::bail!("{} is not the path of a file", path.display());
    };
    Ok(folder.canonicalize().with_context(|| folder.display().to_string())?.join(name))
}
