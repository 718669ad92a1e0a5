//! `tillgate vault`: rotates the vault's key while a server may be running, and retires earlier keys.

use std::io::Write as _;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};
use clap::{Args, Subcommand};
use jiff::Timestamp;
use serde::Serialize;
use tillgate_gateway::keys::vault_key::VaultKeyReport;
use tillgate_store::AdminStore;
use tillgate_vault::{KeyId, KeySource, MasterKey, Sealed, Vault};

use crate::cli::CommonOptions;
use crate::cli::administration::prepare_administration;
use crate::cli::keys::vault_key::VaultKeyOptions;

/// Maximum time for a running server to load a new key.
const RELOAD_TIMEOUT: Duration = Duration::from_secs(30);
/// Minimum time between two progress lines.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(200);

#[derive(Debug, Subcommand)]
pub(in crate::cli) enum VaultCommand {
    Rotate(RotateVaultKey),
    List(ListVaultKeys),
    Retire(RetireVaultKey),
}

/// Create a new key and encrypt all sealed records with it. A server may be running. If the command was interrupted,
/// run it again to continue.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  tillgate vault rotate --data ./tillgate-data\n\n\
    Progress is printed as lines, or with --json as objects. The command creates no key if the keys are in\n\
    TILLGATE_VAULT_KEY: add the new key on a line before the old one, restart the server, and run the command with the\n\
    same variable.")]
pub(in crate::cli) struct RotateVaultKey {
    #[command(flatten)]
    common: CommonOptions,
    #[command(flatten)]
    vault: VaultKeyOptions,
}

/// List the vault's keys with the number of records that each encrypts. The keys themselves are never shown.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  tillgate vault list --data ./tillgate-data")]
pub(in crate::cli) struct ListVaultKeys {
    #[command(flatten)]
    common: CommonOptions,
    #[command(flatten)]
    vault: VaultKeyOptions,
}

/// Retire a key that no longer encrypts any record, and remove it from the key file.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  tillgate vault retire --key 1a2b3c4d\n\n\
    A backup from before the rotation needs the retired key: keep the key with that backup, or destroy both.")]
pub(in crate::cli) struct RetireVaultKey {
    #[command(flatten)]
    common: CommonOptions,
    #[command(flatten)]
    vault: VaultKeyOptions,
    /// Id of the key, from `vault list`.
    #[arg(long, value_name = "ID", value_parser = parse_key_id)]
    key: KeyId,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RotationProgress {
    resealed: u64,
    of: u64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RotationOutput {
    key: String,
    resealed: u64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct VaultKeyOutput {
    key: String,
    state: &'static str,
    created: Timestamp,
    records: u64,
}

impl VaultCommand {
    pub(in crate::cli) fn run(self) -> anyhow::Result<()> {
        match self {
            Self::Rotate(command) => command.run(),
            Self::List(command) => command.run(),
            Self::Retire(command) => command.run(),
        }
    }
}

impl RotateVaultKey {
    /// Makes a key (or takes the first one of the variable), waits until a running server has it, and seals every
    /// record under it. Continues an interrupted rotation, prints progress, and truncates the write-ahead log. Records
    /// that cannot be opened stay as they are; they are an error at the end.
    fn run(self) -> anyhow::Result<()> {
        let store = self.common.place.open_existing()?;
        self.refuse_several_servers(&store)?;
        let (source, keys) = self.vault.load_keys(&store, &self.common.place)?;
        let keys = prepare_rotation_keys(&store, &source, keys)?;
        let vault = Vault::with_keys(&keys).context("the vault has no key")?;
        let id = *vault.key_ids().first().context("the vault has no key")?;
        store.register_vault_key(id, Timestamp::now())?;
        self.wait_for_server(&store, id, &source)?;
        let total = store.count_sealed_by_others(id)?.iter().map(|(_, count)| count).sum();
        let (mut resealed, mut printed) = (0, None::<Instant>);
        let reseal = |record: &str, sealed: &Sealed| vault.seal(record, &vault.open(record, sealed)?);
        let failed = store.reseal_all(id, reseal, |done| {
            resealed = done;
            if printed.is_none_or(|printed| printed.elapsed() >= PROGRESS_INTERVAL) {
                printed = Some(Instant::now());
                let progress = RotationProgress { resealed, of: total };
                let _ = self
                    .common
                    .print_output(&progress, |RotationProgress { resealed, of }| format!("{resealed} of {of} records"));
                let _ = std::io::stdout().flush();
            }
        })?;
        self.common.place.truncate_wal()?;
        ensure!(failed == 0, "{failed} records cannot be opened, and stay as they are: their bytes are damaged");
        self.common.print_output(&RotationOutput { key: id.to_string(), resealed }, |rotated| {
            format!(
                "{} records sealed under {}\n\n`tillgate vault list` shows the previous keys, and `vault retire` retires them",
                rotated.resealed, rotated.key
            )
        })
    }

    /// Refuses a rotation while several servers use a database: only one of them would get the new key.
    fn refuse_several_servers(&self, store: &AdminStore) -> anyhow::Result<()> {
        let servers = if self.common.place.is_database() { store.count_servers()? } else { 1 };
        ensure!(
            servers <= 1,
            "{servers} servers use the database, and the new key would reach one of them only: stop the others, repeat the \
             command, copy the keys to the other machines, and start the servers again"
        );
        Ok(())
    }

    /// Waits up to 30 s until a running server has loaded the key: without it, the server could not open the records
    /// sealed under it. Returns at once if no server is running.
    fn wait_for_server(&self, store: &AdminStore, id: KeyId, source: &KeySource) -> anyhow::Result<()> {
        let began = Instant::now();
        while self.common.place.is_served(store)? && !self.common.place.is_key_loaded(store, id)? {
            ensure!(
                began.elapsed() < RELOAD_TIMEOUT,
                "the running server has not loaded the key {id}: it does not read its keys from {source}, or it \
                 cannot read them; see its log. No record was changed"
            );
            store.touch_vault_key(id)?;
            std::thread::sleep(Duration::from_millis(50));
        }
        Ok(())
    }
}

/// Returns the keys for the rotation, the one that seals first. If records are still sealed under others than the
/// first, these are the existing keys. Otherwise a new key is put before them, and the key file replaced; an error if
/// the keys come from a variable.
fn prepare_rotation_keys(
    store: &AdminStore,
    source: &KeySource,
    keys: Vec<MasterKey>,
) -> anyhow::Result<Vec<MasterKey>> {
    let first = keys.first().map(MasterKey::id).context("the vault has no key")?;
    if !store.count_sealed_by_others(first)?.is_empty() {
        return Ok(keys);
    }
    match source {
        KeySource::Variable(name) => {
            bail!("everything is sealed under {first}, the first key in {name}: put a new key on a line before it")
        }
        KeySource::File(path) => {
            let keys: Vec<MasterKey> = std::iter::once(MasterKey::random()?).chain(keys).collect();
            KeySource::replace_file(path, &keys)?;
            Ok(keys)
        }
    }
}

impl ListVaultKeys {
    /// Prints the keys that the store has recorded, each with its state (it seals, opens, is missing or is retired),
    /// and the number of records sealed under it.
    fn run(self) -> anyhow::Result<()> {
        let administration = self.vault.open_administration(&self.common.place)?;
        let held = self.vault.find_source(self.common.place.folder())?.read_keys()?.unwrap_or_default();
        let held: Vec<KeyId> = held.iter().map(MasterKey::id).collect();
        let describe = |VaultKeyReport { key, state, created, records }| VaultKeyOutput {
            key: key.to_string(),
            state,
            created,
            records,
        };
        let shown: Vec<_> = administration.list_vault_keys(&held)?.into_iter().map(describe).collect();
        self.common.print_output(&shown, |shown| {
            let lines = shown.iter().map(|VaultKeyOutput { key, state, created, records }| {
                format!("{key}  {state:<8}  {records} records  since {created:.0}")
            });
            lines.collect::<Vec<_>>().join("\n")
        })
    }
}

impl RetireVaultKey {
    /// Retires a key in the store, and removes it from the key file. Refuses a key that is unknown, seals, or is still
    /// needed by records or by responses that may be replayed.
    fn run(self) -> anyhow::Result<()> {
        let store = self.common.place.open_existing()?;
        let (source, keys) = self.vault.load_keys(&store, &self.common.place)?;
        let (id, first) = (self.key, keys.first().map(MasterKey::id));
        if first != Some(id) && self.common.place.is_database() {
            // The store would refuse what a server seals whose machine has an earlier key file.
            ensure!(
                !store.may_server_seal_under(id)?,
                "a server of the database still seals under {id}: copy the key file of this machine to the other machines, \
                 and restart their servers"
            );
        }
        let administration = prepare_administration(store, self.vault.clone(), &self.common.place);
        administration.retire_vault_key(id, first, || -> anyhow::Result<()> {
            if let KeySource::File(path) = &source {
                let keys: Vec<MasterKey> = keys.into_iter().filter(|key| key.id() != id).collect();
                KeySource::replace_file(path, &keys)?;
            }
            Ok(())
        })?;
        let retired = serde_json::json!({ "key": id.to_string(), "state": "retired" });
        self.common.print_output(&retired, |_| match source {
            KeySource::File(path) => format!("{id} is retired, and removed from {}", path.display()),
            KeySource::Variable(name) => format!("{id} is retired: remove it from {name}, and restart the server"),
        })
    }
}

fn parse_key_id(text: &str) -> Result<KeyId, String> {
    KeyId::parse(text).ok_or_else(|| "a key's id has eight lowercase hexadecimal digits".to_owned())
}
