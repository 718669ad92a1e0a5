//! `tillgate review-callback`: the callbacks that tell a merchant's server of decisions about held payments.

use std::path::PathBuf;

use anyhow::{Context as _, bail, ensure};
use clap::{Args, Subcommand};
use ipnet::IpNet;
use jiff::Timestamp;
use serde::Serialize;
use tillgate_delivery::review_callback::{CallbackConfig, parse_config, vault_record_id};
use tillgate_domain::access::entity::Entity;
use tillgate_domain::delivery::target_url::TargetUrl;
use tillgate_domain::id::EntityId;
use tillgate_domain::ip_text;
use tillgate_net::outgoing::OutgoingClient;
use tillgate_store::AdminStore;
use tillgate_store::review::callback::StoredCallback;
use tillgate_vault::Vault;

use crate::cli::access::token::parse_entity_id;
use crate::cli::input_file::read_input_file;
use crate::cli::keys::vault_key::VaultKeyOptions;
use crate::cli::options::load_existing_entity;
use crate::cli::review::callback_list::{DeleteCallback, ListFailedCallbacks, ResubmitCallback, ShowCallbackLog};
use crate::cli::review::callback_output::CallbackOutput;
use crate::cli::review::callback_output::format_config;
use crate::cli::review::callback_test::TestCallback;
use crate::cli::serve::ports::PortOptions;
use crate::cli::{CommonOptions, open_existing};

/// Largest size of a configuration file, in bytes.
const MAX_FILE: u64 = 64 * 1024;

/// The callbacks about review decisions.
#[derive(Debug, Subcommand)]
pub(in crate::cli) enum ReviewCallbackCommand {
    /// Set an entity's configuration from a file, in place of the one before. It holds for the entities below, too.
    Set(SetCallback),
    /// Show the configuration that applies to an entity, without its secrets.
    Show(ShowCallback),
    /// Choose the destination that gets the callbacks.
    Activate(ActivateDestination),
    /// Remove an entity's configuration.
    Remove(RemoveCallback),
    /// Send a sample decision, marked as such by its ids.
    Test(TestCallback),
    /// List the callbacks that no attempt delivered.
    Failed(ListFailedCallbacks),
    /// Send a callback of that list again, which is possible once.
    Resubmit(ResubmitCallback),
    /// Delete a callback of that list.
    Delete(DeleteCallback),
    /// Show what was sent and how it was taken, or who did what.
    Log(ShowCallbackLog),
}

/// The person that a command is recorded for.
#[derive(Debug, Args)]
pub(in crate::cli) struct ActorOptions {
    /// Name of the person who acts, for the audit.
    #[arg(long = "by", value_name = "NAME", env = "USER", default_value = "operator")]
    actor: String,
}

impl ActorOptions {
    /// Returns the name.
    pub(in crate::cli) fn name(&self) -> &str {
        &self.actor
    }
}

/// Set an entity's configuration. Faults are printed as FILE:LINE:COLUMN: message, and nothing is changed then.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  tillgate review-callback set --data ./tillgate-data --entity 8a01… callback.toml\n\n\
    docs/review-callbacks.md has a file to begin with."
)]
pub(in crate::cli) struct SetCallback {
    #[command(flatten)]
    common: CommonOptions,
    #[command(flatten)]
    vault: VaultKeyOptions,
    #[command(flatten)]
    actor: ActorOptions,
    #[command(flatten)]
    addresses: AddressOptions,
    /// The entity's id.
    #[arg(long, value_name = "ENTITY_ID")]
    entity: String,
    /// The configuration, in TOML. `-` is the standard input.
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

/// Networks and ports of destinations, as for `serve`.
#[derive(Debug, Args)]
pub(in crate::cli) struct AddressOptions {
    /// A network that a destination may be in although it is not public, as for `serve`. May be repeated.
    #[arg(long = "allow-network", value_name = "CIDR", env = "TILLGATE_ALLOW_NETWORKS", value_delimiter = ',',
        value_parser = ip_text::parse_network)]
    allowed_networks: Vec<IpNet>,
    #[command(flatten)]
    ports: PortOptions,
}

impl AddressOptions {
    /// Creates a client with the rules for addresses.
    pub(in crate::cli) fn create_client(&self) -> anyhow::Result<OutgoingClient> {
        Ok(OutgoingClient::new(&self.allowed_networks, self.ports.allowed_ports())?)
    }
}

/// Show the configuration that applies to an entity.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  tillgate review-callback show --data ./tillgate-data --entity 8a01… --json")]
pub(in crate::cli) struct ShowCallback {
    #[command(flatten)]
    common: CommonOptions,
    #[command(flatten)]
    vault: VaultKeyOptions,
    /// The entity's id. One without a configuration shows that of the nearest entity above.
    #[arg(long, value_name = "ENTITY_ID")]
    entity: String,
}

/// Choose the destination that gets the callbacks, including those that wait.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  tillgate review-callback activate --data ./tillgate-data --entity 8a01… --url 2")]
pub(in crate::cli) struct ActivateDestination {
    #[command(flatten)]
    common: CommonOptions,
    #[command(flatten)]
    vault: VaultKeyOptions,
    #[command(flatten)]
    actor: ActorOptions,
    /// The entity that has the configuration.
    #[arg(long, value_name = "ENTITY_ID")]
    entity: String,
    /// The destination's number in the configuration; the first is 1.
    #[arg(long, value_name = "NUMBER")]
    url: usize,
}

/// Remove an entity's configuration. Refused while callbacks wait or are in the failed list.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  tillgate review-callback remove --data ./tillgate-data --entity 8a01…")]
pub(in crate::cli) struct RemoveCallback {
    #[command(flatten)]
    common: CommonOptions,
    #[command(flatten)]
    actor: ActorOptions,
    /// The entity that has the configuration.
    #[arg(long, value_name = "ENTITY_ID")]
    entity: String,
    /// Delete the callbacks that wait or are in the failed list, too.
    #[arg(long)]
    discard: bool,
}

impl ReviewCallbackCommand {
    pub(in crate::cli) fn run(self) -> anyhow::Result<()> {
        match self {
            Self::Set(command) => command.run(),
            Self::Show(command) => command.run(),
            Self::Activate(command) => command.run(),
            Self::Remove(command) => command.run(),
            Self::Test(command) => command.run(),
            Self::Failed(command) => command.run(),
            Self::Resubmit(command) => command.run(),
            Self::Delete(command) => command.run(),
            Self::Log(command) => command.run(),
        }
    }
}

impl SetCallback {
    fn run(self) -> anyhow::Result<()> {
        let store = open_existing(&self.common.data)?;
        let entity = load_existing_entity(&store, &parse_entity_id(&self.entity)?)?;
        let shown = self.file.display();
        let text = read_input_file(&self.file, MAX_FILE)?;
        let config = parse_config(&text, entity.live).map_err(|faults| {
            let lines: Vec<String> = faults.iter().map(|fault| format!("{shown}:{fault}")).collect();
            anyhow::anyhow!("the configuration is not set:\n{}", lines.join("\n"))
        })?;
        let client = self.addresses.create_client()?;
        for url in &config.urls {
            let target = TargetUrl::parse(url).with_context(|| format!("{url} is no address"))?;
            client.check_target(target.uri()).with_context(|| {
                format!("{url} may not be called; an operator may allow it: --allow-network, --allow-port")
            })?;
        }
        let (_, vault) = self.vault.open_vault(&store, &self.common.data)?;
        let now = Timestamp::now();
        store.in_transaction(|store| {
            save_config(store, &vault, &entity.id, &config, now)?;
            let detail = config.active_url();
            anyhow::Ok(store.record_callback_action(entity.id.as_str(), "set", self.actor.name(), None, detail, now)?)
        })?;
        self.common.print_output(&CallbackOutput::new(&entity.id, &entity.id, &config), format_config)
    }
}

impl ShowCallback {
    fn run(self) -> anyhow::Result<()> {
        let store = open_existing(&self.common.data)?;
        let entity = load_existing_entity(&store, &parse_entity_id(&self.entity)?)?;
        let (_, vault) = self.vault.open_vault(&store, &self.common.data)?;
        let (stored, config) = find_config(&store, &vault, &entity)?;
        self.common.print_output(&CallbackOutput::new(&entity.id, &stored.entity, &config), format_config)
    }
}

impl ActivateDestination {
    fn run(self) -> anyhow::Result<()> {
        let store = open_existing(&self.common.data)?;
        let entity = load_existing_entity(&store, &parse_entity_id(&self.entity)?)?;
        let (_, vault) = self.vault.open_vault(&store, &self.common.data)?;
        let now = Timestamp::now();
        let config = store.in_transaction(|store| {
            let stored = load_own_callback(store, &entity.id)?;
            let mut config = open_config(&vault, &stored)?;
            let count = config.urls.len();
            ensure!((1..=count).contains(&self.url), "the configuration has {count} destinations, no {}", self.url);
            config.active = self.url;
            save_config(store, &vault, &entity.id, &config, now)?;
            let detail = config.active_url();
            store.record_callback_action(entity.id.as_str(), "activate", self.actor.name(), None, detail, now)?;
            anyhow::Ok(config)
        })?;
        self.common.print_output(&CallbackOutput::new(&entity.id, &entity.id, &config), |output| {
            format!("callbacks go to {}", output.active_url.as_deref().unwrap_or_default())
        })
    }
}

/// An entity whose configuration was removed, in the output.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RemovedOutput {
    entity_id: String,
    removed: bool,
}

impl RemoveCallback {
    fn run(self) -> anyhow::Result<()> {
        let store = open_existing(&self.common.data)?;
        let entity = load_existing_entity(&store, &parse_entity_id(&self.entity)?)?;
        store.in_transaction(|store| {
            load_own_callback(store, &entity.id)?;
            let (waiting, failed) = store.count_open_callbacks(&entity.id)?;
            if waiting + failed > 0 && !self.discard {
                bail!(
                    "{waiting} callbacks wait and {failed} are in the failed list: see `review-callback failed`, or \
                     delete them, too, with --discard"
                );
            }
            store.remove_review_callback(&entity.id)?;
            let detail = format!("{waiting} waiting and {failed} failed callbacks deleted");
            let (id, actor) = (entity.id.as_str(), self.actor.name());
            Ok(store.record_callback_action(id, "remove", actor, None, Some(&detail), Timestamp::now())?)
        })?;
        let removed = RemovedOutput { entity_id: entity.id.to_string(), removed: true };
        self.common.print_output(&removed, |removed| format!("{} has no configuration of its own", removed.entity_id))
    }
}

/// Seals and stores a configuration.
fn save_config(
    store: &AdminStore,
    vault: &Vault,
    entity: &EntityId,
    config: &CallbackConfig,
    now: Timestamp,
) -> anyhow::Result<()> {
    let sealed = vault.seal(&vault_record_id(entity), &serde_json::to_vec(config)?)?;
    let sends = config.active_url().is_some();
    Ok(store.save_review_callback(&StoredCallback { entity: entity.clone(), sealed, sends, changed: now })?)
}

/// Loads an entity's own configuration. An entity without one is an error.
pub(in crate::cli) fn load_own_callback(store: &AdminStore, entity: &EntityId) -> anyhow::Result<StoredCallback> {
    store
        .load_review_callback(entity)?
        .with_context(|| format!("{entity} has no review callback of its own; set one: tillgate review-callback set"))
}

/// Loads and opens the configuration that applies to an entity. None at all is an error.
pub(in crate::cli) fn find_config(
    store: &AdminStore,
    vault: &Vault,
    entity: &Entity,
) -> anyhow::Result<(StoredCallback, CallbackConfig)> {
    let stored = store.find_review_callback(&entity.id)?.with_context(|| {
        format!("no review callback applies to {}; set one: tillgate review-callback set", entity.id)
    })?;
    let config = open_config(vault, &stored)?;
    Ok((stored, config))
}

/// Opens a sealed configuration.
fn open_config(vault: &Vault, stored: &StoredCallback) -> anyhow::Result<CallbackConfig> {
    let opened = vault.open(&vault_record_id(&stored.entity), &stored.sealed)?;
    serde_json::from_slice(&opened).context("the stored configuration is damaged")
}
