//! `tillgate vault`: another key for everything that is sealed, beside a running server, and the end of the keys of before.

use std::io::Write as _;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};
use clap::{Args, Subcommand};
use jiff::Timestamp;
use serde::Serialize;

use super::vault_key::VaultKey;
use super::{Common, open_existing};
use crate::gateway::on_file::reseal;
use crate::store::{self, AdminStore};
use crate::vault::{KeyId, KeySource, MasterKey, Vault};

/// A running server loads a new key within so long.
const PATIENCE: Duration = Duration::from_secs(30);
/// Progress is printed so often at most.
const OFTEN: Duration = Duration::from_millis(200);

#[derive(Debug, Subcommand)]
pub(super) enum VaultCommand {
    Rotate(Rotate),
    List(List),
    Retire(Retire),
}

/// Make a new key and seal everything under it, while a server may be running. Run it again if it was interrupted: it goes on.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  tillgate vault rotate --data ./tillgate-data\n\n\
    Progress is printed as lines, with --json as objects. Keys that come from TILLGATE_VAULT_KEY are not made here: put\n\
    the new key on a line before the old one, restart the server, and run this command with the same variable.")]
pub(super) struct Rotate {
    #[command(flatten)]
    common: Common,
    #[command(flatten)]
    vault: VaultKey,
}

/// List the vault's keys with what is sealed under each. The keys themselves are never shown.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  tillgate vault list --data ./tillgate-data")]
pub(super) struct List {
    #[command(flatten)]
    common: Common,
    #[command(flatten)]
    vault: VaultKey,
}

/// End a key under which nothing is sealed any more, and remove it from the key file.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  tillgate vault retire --key 1a2b3c4d\n\n\
    A backup from before the rotation needs the retired key: keep the key with that backup, or destroy both.")]
pub(super) struct Retire {
    #[command(flatten)]
    common: Common,
    #[command(flatten)]
    vault: VaultKey,
    /// The key's id, as `vault list` shows it.
    #[arg(long, value_name = "ID", value_parser = key_id)]
    key: KeyId,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Progress {
    resealed: u64,
    of: u64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Rotated {
    key: String,
    resealed: u64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ShownKey {
    key: String,
    state: &'static str,
    created: Timestamp,
    records: u64,
}

impl VaultCommand {
    pub(super) fn run(self) -> anyhow::Result<()> {
        match self {
            Self::Rotate(command) => command.run(),
            Self::List(command) => command.run(),
            Self::Retire(command) => command.run(),
        }
    }
}

impl Rotate {
    fn run(self) -> anyhow::Result<()> {
        let store = open_existing(&self.common.data)?;
        let (source, keys) = self.vault.keys(&store, &self.common.data)?;
        let keys = rotated(&store, &source, keys)?;
        let vault = Vault::with_keys(&keys).context("the vault has no key")?;
        let id = *vault.key_ids().first().context("the vault has no key")?;
        store.register_vault_key(id, Timestamp::now())?;
        self.await_server(&store, id, &source)?;
        let of = store.count_sealed_by_others(id)?.iter().map(|(_, count)| count).sum();
        let (mut resealed, mut told) = (0, None::<Instant>);
        let reseal = |record: &str, entity: Option<&_>, sealed: &[u8]| reseal(&vault, record, entity, sealed);
        let failed = store.reseal_all(id, reseal, |done| {
            resealed = done;
            if told.is_none_or(|told| told.elapsed() >= OFTEN) {
                told = Some(Instant::now());
                let progress = Progress { resealed, of };
                let _ = self.common.print(&progress, |Progress { resealed, of }| format!("{resealed} of {of} records"));
                let _ = std::io::stdout().flush();
            }
        })?;
        store::empty_log(&self.common.data)?;
        ensure!(failed == 0, "{failed} records cannot be opened, and stay as they are: their bytes are damaged");
        self.common.print(&Rotated { key: id.to_string(), resealed }, |rotated| {
            format!(
                "{} records sealed under {}\n\n`tillgate vault list` shows the keys of before, and `vault retire` ends them",
                rotated.resealed, rotated.key
            )
        })
    }

    /// Waits until a running server has loaded the key: it could not open what is sealed under it.
    fn await_server(&self, store: &AdminStore, id: KeyId, source: &KeySource) -> anyhow::Result<()> {
        let began = Instant::now();
        while store::is_served(&self.common.data)? && !store.is_vault_key_loaded(id)? {
            ensure!(
                began.elapsed() < PATIENCE,
                "the running server has not loaded the key {id}: it reads its keys from another place than {source}, or \
                 cannot read them; see its log. Nothing was sealed anew"
            );
            store.announce_vault_key(id)?;
            std::thread::sleep(Duration::from_millis(50));
        }
        Ok(())
    }
}

/// The keys to go on with: those that are there if a rotation was interrupted, else a new one before them.
fn rotated(store: &AdminStore, source: &KeySource, keys: Vec<MasterKey>) -> anyhow::Result<Vec<MasterKey>> {
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
            KeySource::replace(path, &keys)?;
            Ok(keys)
        }
    }
}

impl List {
    fn run(self) -> anyhow::Result<()> {
        let store = open_existing(&self.common.data)?;
        let held = self.vault.source(&self.common.data)?.read()?.unwrap_or_default();
        let held: Vec<KeyId> = held.iter().map(MasterKey::id).collect();
        let mut shown = Vec::new();
        for key in store.vault_keys()? {
            let state = match held.iter().position(|id| *id == key.id) {
                _ if key.retired.is_some() => "retired",
                Some(0) => "seals",
                Some(_) => "opens",
                None => "missing",
            };
            let records = store.count_sealed_by(key.id)?.iter().map(|(_, count)| count).sum();
            shown.push(ShownKey { key: key.id.to_string(), state, created: key.created, records });
        }
        self.common.print(&shown, |shown| {
            let lines = shown.iter().map(|ShownKey { key, state, created, records }| {
                format!("{key}  {state:<8}  {records} records  since {created:.0}")
            });
            lines.collect::<Vec<_>>().join("\n")
        })
    }
}

impl Retire {
    fn run(self) -> anyhow::Result<()> {
        let store = open_existing(&self.common.data)?;
        let (source, keys) = self.vault.keys(&store, &self.common.data)?;
        let id = self.key;
        let known = store.vault_keys()?.iter().any(|key| key.id == id);
        ensure!(known, "the store knows no vault key {id}; `tillgate vault list` shows those it knows");
        let first = keys.first().map(MasterKey::id);
        ensure!(first != Some(id), "{id} is the key that seals: run `tillgate vault rotate` first");
        let left = store.retire_vault_key(id, Timestamp::now())?;
        if !left.is_empty() {
            let left: Vec<String> = left.iter().map(|(table, count)| format!("{count} {table}")).collect();
            bail!("{id} is in use ({}): run `tillgate vault rotate`, or try again later", left.join(", "));
        }
        if let KeySource::File(path) = &source {
            let keys: Vec<MasterKey> = keys.into_iter().filter(|key| key.id() != id).collect();
            KeySource::replace(path, &keys)?;
        }
        store.announce_vault_key(id)?;
        let retired = serde_json::json!({ "key": id.to_string(), "state": "retired" });
        self.common.print(&retired, |_| match source {
            KeySource::File(path) => format!("{id} is retired, and removed from {}", path.display()),
            KeySource::Variable(name) => format!("{id} is retired: remove it from {name}, and restart the server"),
        })
    }
}

fn key_id(text: &str) -> Result<KeyId, String> {
    KeyId::parse(text).ok_or_else(|| "a key's id has eight lowercase hexadecimal digits".to_owned())
}
