//! The place of the store, as the options of a command name it, and the ways to open it.

use std::fmt;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, bail, ensure};
use clap::Args;
use tillgate_os::text_file::read_text_file;
use tillgate_store::entity_directory::Directory;
use tillgate_store::read::snapshot::StoreSnapshot;
use tillgate_store::{
    AdminStore, PaymentHistory, Sources, Store, StoreError, StoreLocation, WriteLimits, is_served, truncate_wal,
};
use tillgate_vault::{KeyId, Keyring, Vault};
use zeroize::Zeroizing;

use super::keys::vault_key::{find_vault, read_vault};

/// Largest size of the file with the password of a database in bytes.
const MAX_PASSWORD_FILE: u64 = 4096;

/// The place of the store, and of what a node keeps beside it.
#[derive(Debug, Clone, Args)]
pub(crate) struct DataPlace {
    /// Data folder. It contains one SQLite file, or with `--database` only what belongs to this machine.
    #[arg(long, value_name = "DIR", env = "TILLGATE_DATA", default_value = "tillgate-data")]
    data: PathBuf,
    /// Address of a PostgreSQL database with the store, such as postgres://name@host/database, instead of the SQLite
    /// file. An address with a password is accepted from the variable only.
    // Help texts show the values of variables, and this one may have a password.
    #[arg(long, value_name = "ADDRESS", env = "TILLGATE_DATABASE", hide_env_values = true)]
    #[arg(value_parser = PlaceText::accept)]
    database: Option<PlaceText>,
    /// File with the password of the database, readable only by its owner.
    #[arg(long, value_name = "FILE", env = "TILLGATE_DATABASE_PASSWORD_FILE")]
    database_password_file: Option<PathBuf>,
}

/// The address of a database, or the path of a data folder, as it was given. Never shown, because an address may have a
/// password.
#[derive(Clone)]
pub(super) struct PlaceText(Zeroizing<String>);

impl PlaceText {
    /// Accepts any text. It is checked later, because an error of the command line would show it.
    pub(super) fn accept(text: &str) -> Result<Self, std::convert::Infallible> {
        Ok(Self(Zeroizing::new(text.to_owned())))
    }

    /// Returns true if it is an address, or a text with a password that is none: it must not be taken for a path, which
    /// errors show.
    pub(super) fn is_database(&self) -> bool {
        self.0.contains("://") || self.0.contains("password=")
    }

    /// Returns the path of a folder.
    pub(super) fn folder(&self) -> &Path {
        Path::new(self.0.as_str())
    }

    /// Returns true if the list of processes shows the address.
    fn is_in_process_list(&self) -> bool {
        std::env::args_os().any(|argument| argument.as_encoded_bytes().ends_with(self.0.as_bytes()))
    }
}

impl fmt::Debug for PlaceText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PlaceText")
    }
}

/// The names of the options that an address and its password come from, for errors.
pub(super) struct AddressNames {
    /// The option with the address.
    pub(super) address: &'static str,
    /// Its variable.
    pub(super) variable: &'static str,
    /// The option with the file of the password.
    pub(super) password_file: &'static str,
}

/// The options of the place of most commands.
const DATABASE: AddressNames =
    AddressNames { address: "--database", variable: "TILLGATE_DATABASE", password_file: "--database-password-file" };

impl AddressNames {
    /// Returns the location of the store in a database. `folder` is that of the node.
    ///
    /// # Errors
    /// If the address of the database cannot be used, or the list of processes shows its password.
    fn locate(
        &self,
        folder: &Path,
        address: &PlaceText,
        password_file: Option<&Path>,
    ) -> anyhow::Result<StoreLocation> {
        let Self { address: option, variable, password_file: file_option } = self;
        let password = password_file.map(|path| read_password(path, file_option)).transpose()?;
        let password = password.as_ref().map(|password| password.as_str());
        let location = StoreLocation::in_database(folder, &address.0, password);
        let location = location.with_context(|| format!("{option} ({variable})"))?;
        if location.has_password() && address.is_in_process_list() {
            bail!(
                "{option} has a password, which the list of processes shows to every user of this machine: pass the address \
                 in {variable}, or the password in the file of {file_option}"
            );
        }
        Ok(location)
    }

    /// Returns the location of a store that is in a database or in a data folder. `folder` is that of a node.
    ///
    /// # Errors
    /// Same as [`Self::locate`], or if a password is given for a folder.
    pub(super) fn locate_either(
        &self,
        place: &PlaceText,
        folder: &Path,
        password_file: Option<&Path>,
    ) -> anyhow::Result<StoreLocation> {
        if place.is_database() {
            return self.locate(folder, place, password_file);
        }
        ensure!(
            password_file.is_none(),
            "{} is the password of a database, and {} names a folder",
            self.password_file,
            self.address
        );
        Ok(StoreLocation::in_folder(place.folder()))
    }
}

/// Reads the file with a password, which an option names.
fn read_password(path: &Path, option: &str) -> anyhow::Result<Zeroizing<String>> {
    let reading = || format!("{option} {}", path.display());
    let mode = fs::metadata(path).with_context(reading)?.permissions().mode();
    ensure!(mode & 0o077 == 0, "{}: other users can read it, use chmod 600", reading());
    let text = read_text_file(path, MAX_PASSWORD_FILE).with_context(reading)?;
    let password = Zeroizing::new(text.strip_suffix('\n').unwrap_or(&text).to_owned());
    ensure!(!password.is_empty() && !password.contains('\n'), "{}: it has to be one line", reading());
    Ok(password)
}

impl DataPlace {
    /// Returns the data folder, which with a database contains only what belongs to this machine.
    pub(crate) fn folder(&self) -> &Path {
        &self.data
    }

    /// Returns true if the store is in a database.
    pub(in crate::cli) fn is_database(&self) -> bool {
        self.database.is_some()
    }

    /// Refuses a database for a command that works with the file in the data folder only.
    pub(super) fn refuse_database(&self, reason: &str) -> anyhow::Result<()> {
        ensure!(self.database.is_none(), "--database (TILLGATE_DATABASE) is not possible here: {reason}");
        Ok(())
    }

    /// Returns the location of the store.
    ///
    /// # Errors
    /// If the address of the database cannot be used, or the list of processes shows its password.
    pub(super) fn locate(&self) -> anyhow::Result<StoreLocation> {
        let Some(address) = &self.database else {
            ensure!(
                self.database_password_file.is_none(),
                "--database-password-file is the password of a database: name the database with --database"
            );
            return Ok(StoreLocation::in_folder(&self.data));
        };
        DATABASE.locate(&self.data, address, self.database_password_file.as_deref())
    }

    /// Opens the existing store. A mistyped folder or database is reported as an error; no store is created in it.
    pub(super) fn open_existing(&self) -> anyhow::Result<AdminStore> {
        let location = self.locate()?;
        let opened = AdminStore::open_existing(&location, find_vault(self).as_ref());
        let store = opened.map_err(|error| describe_failure(&location, error))?;
        store.with_context(|| format!("there is no store in {}", location.describe()))
    }

    /// Opens the store, or creates it.
    pub(super) fn open_store(&self) -> anyhow::Result<AdminStore> {
        // A key that cannot be read is reported when the vault is opened, or when the sealed store refuses a write.
        self.open_with_vault(read_vault(self).ok().flatten().as_ref())
    }

    /// Opens the store with the vault's keys, or creates it.
    pub(super) fn open_with_vault(&self, vault: Option<&Vault>) -> anyhow::Result<AdminStore> {
        let location = self.locate()?;
        AdminStore::open_with_vault(&location, vault).map_err(|error| describe_failure(&location, error))
    }

    /// Opens the store to serve it, or creates it.
    pub(super) fn open_to_serve(
        &self,
        directory: Arc<Directory>,
        keys: Keyring,
        limits: WriteLimits,
    ) -> anyhow::Result<Store> {
        let location = self.locate()?;
        let opened = Store::open_to_serve(&location, directory, keys, limits, Sources::system());
        opened.map_err(|error| describe_failure(&location, error))
    }

    /// Opens the stored payments of the existing store for a replay or a report.
    pub(super) fn open_history(&self) -> anyhow::Result<PaymentHistory> {
        let location = self.locate()?;
        AdminStore::open_history(&location).map_err(|error| describe_failure(&location, error))
    }

    /// Opens a snapshot of the existing store.
    pub(super) fn open_snapshot(&self) -> anyhow::Result<StoreSnapshot> {
        let location = self.locate()?;
        let opened = AdminStore::open_snapshot(&location, find_vault(self).as_ref());
        opened.map_err(|error| describe_failure(&location, error))
    }

    /// Overwrites deleted data in the write-ahead log of the file. A database does that itself, at its next checkpoint.
    pub(super) fn truncate_wal(&self) -> Result<(), StoreError> {
        if self.is_database() { Ok(()) } else { truncate_wal(&self.data) }
    }

    /// Returns true if a server has the store open: on a database any one, otherwise one of this data folder.
    pub(super) fn is_served(&self, store: &AdminStore) -> Result<bool, StoreError> {
        if self.is_database() { Ok(store.count_servers()? > 0) } else { is_served(&self.data) }
    }

    /// Returns true if all servers that have the store open have loaded a key of the vault.
    pub(super) fn is_key_loaded(&self, store: &AdminStore, id: KeyId) -> Result<bool, StoreError> {
        if self.is_database() { store.has_every_server_key(id) } else { store.is_vault_key_loaded(id) }
    }
}

/// Describes why a store cannot be opened, with the remedy of a fault of its disk or database.
fn describe_failure(location: &StoreLocation, error: StoreError) -> anyhow::Error {
    let remedy = describe_remedy(&error);
    anyhow::Error::new(error).context(format!("opening the store in {}{remedy}", location.describe()))
}

/// Describes the remedy of a fault of a disk or database, as a sentence after another one. Empty for other failures.
pub(super) fn describe_remedy(error: &StoreError) -> String {
    error.disk_fault().map(|fault| format!(". {}", fault.description())).unwrap_or_default()
}
