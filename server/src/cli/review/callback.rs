//! `tillgate review-callback`: the callbacks that tell a merchant's server of decisions about held payments.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use ipnet::IpNet;
use serde::Serialize;
use tillgate_domain::ip_text;
use tillgate_message::review_callback::parse_config;
use tillgate_net::outgoing::OutgoingClient;

use crate::cli::CommonOptions;
use crate::cli::access::token::parse_entity_id;
use crate::cli::input_file::read_input_file;
use crate::cli::keys::vault_key::VaultKeyOptions;
use crate::cli::review::callback_list::{DeleteCallback, ListFailedCallbacks, ResubmitCallback, ShowCallbackLog};
use crate::cli::review::callback_output::CallbackOutput;
use crate::cli::review::callback_output::format_config;
use crate::cli::review::callback_test::TestCallback;
use crate::cli::serve::ports::PortOptions;

/// Largest size of a configuration file, in bytes.
const MAX_FILE: u64 = 64 * 1024;

/// The callbacks about review decisions.
#[derive(Debug, Subcommand)]
pub(in crate::cli) enum ReviewCallbackCommand {
    /// Set the configuration of an entity and the entities below it from a file, replacing the previous one.
    Set(SetCallback),
    /// Show the configuration that applies to an entity, without its secrets.
    Show(ShowCallback),
    /// Select the destination of the callbacks.
    Activate(ActivateDestination),
    /// Remove an entity's configuration.
    Remove(RemoveCallback),
    /// Send a sample decision.
    Test(TestCallback),
    /// List the callbacks whose delivery failed.
    Failed(ListFailedCallbacks),
    /// Resend a failed callback, which is possible once.
    Resubmit(ResubmitCallback),
    /// Delete a failed callback.
    Delete(DeleteCallback),
    /// Show delivery attempts with their responses, or the callback log.
    Log(ShowCallbackLog),
}

/// The person that a command is recorded for.
#[derive(Debug, Args)]
pub(in crate::cli) struct ActorOptions {
    /// Name of the operator, for the callback log.
    #[arg(long = "by", value_name = "NAME", env = "USER", default_value = "operator")]
    actor: String,
}

impl ActorOptions {
    /// Returns the name.
    pub(in crate::cli) fn name(&self) -> &str {
        &self.actor
    }
}

/// Set an entity's configuration. Errors are printed as FILE:LINE:COLUMN: message, and a file with errors changes
/// nothing.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  tillgate review-callback set --data ./tillgate-data --entity 8a01… callback.toml\n\n\
    docs/review-callbacks.md contains an example file."
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
    /// Network that is not public but allowed for destinations, as for `serve`. May be repeated.
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
    /// The entity's id. If it has no configuration, the configuration of the nearest entity above is shown.
    #[arg(long, value_name = "ENTITY_ID")]
    entity: String,
}

/// Select the destination of the callbacks, including waiting callbacks.
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
    /// Number of the destination in the configuration, starting at 1.
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
    /// Also delete the callbacks that wait or are in the failed list.
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
        let administration = self.vault.open_administration(&self.common.place)?;
        let entity = administration.load_entity(&parse_entity_id(&self.entity)?)?;
        let shown = self.file.display();
        let text = read_input_file(&self.file, MAX_FILE)?;
        let config = parse_config(&text, entity.live).map_err(|faults| {
            let lines: Vec<String> = faults.iter().map(|fault| format!("{shown}:{fault}")).collect();
            anyhow::anyhow!("the configuration is not set:\n{}", lines.join("\n"))
        })?;
        let client = self.addresses.create_client()?;
        administration.set_review_callback(&entity, &config, &client, self.actor.name())?;
        self.common.print_output(&CallbackOutput::new(&entity.id, &entity.id, &config), format_config)
    }
}

impl ShowCallback {
    fn run(self) -> anyhow::Result<()> {
        let administration = self.vault.open_administration(&self.common.place)?;
        let entity = administration.load_entity(&parse_entity_id(&self.entity)?)?;
        let (owner, config) = administration.find_review_callback(&entity)?;
        self.common.print_output(&CallbackOutput::new(&entity.id, &owner, &config), format_config)
    }
}

impl ActivateDestination {
    fn run(self) -> anyhow::Result<()> {
        let administration = self.vault.open_administration(&self.common.place)?;
        let entity = administration.load_entity(&parse_entity_id(&self.entity)?)?;
        let config = administration.activate_destination(&entity, self.url, self.actor.name())?;
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
        let administration = self.common.open_administration()?;
        let entity = administration.load_entity(&parse_entity_id(&self.entity)?)?;
        administration.remove_review_callback(&entity, self.discard, self.actor.name())?;
        let removed = RemovedOutput { entity_id: entity.id.to_string(), removed: true };
        self.common.print_output(&removed, |removed| format!("{} has no own configuration now", removed.entity_id))
    }
}
