//! `tillgate entity`: creates, changes, shows and lists the entities of the tree.

use clap::{Args, Subcommand};
use serde::Serialize;
use tillgate_domain::access::level::Level;
use tillgate_gateway::access::settings::parse_name;

use crate::cli::CommonOptions;
use crate::cli::access::entity_options::EntityOptions;
use crate::cli::access::token::parse_entity_id;
use crate::cli::access::tree::EntityListItem;
use crate::cli::access::tree::describe_entity;
use crate::cli::access::tree::format_entity;
use crate::cli::access::tree::format_tree;
use crate::cli::administration::create_administration;
use crate::cli::serve::setup_check::warn_of_running_server;

/// Entities.
#[derive(Debug, Subcommand)]
pub(in crate::cli) enum EntityCommand {
    /// Create an entity with a first access token, which is shown only once.
    Create(CreateEntity),
    /// Change an entity's name and settings. A running server applies them within a second.
    Set(SetEntity),
    /// Show an entity with its settings, the entities above it, and its channels.
    Show(ShowEntity),
    /// List the entities as a tree.
    List(ListEntities),
}

/// Create an entity.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  tillgate entity create --data ./tillgate-data --name 'Corner Bakery' --json\n\nA channel of this merchant, for two brands in euros:\n  tillgate entity create --data ./tillgate-data --name 'Corner Bakery EU' --merchant 8a01… \\\n      --brands VISA,MASTER --currencies EUR\n\nA PSP with a division, and a merchant below the division:\n  tillgate entity create --data ./tillgate-data --name 'Acme Payments' --level psp --3d required\n  tillgate entity create --data ./tillgate-data --name 'Acme North' --level division --parent 8a02…\n  tillgate entity create --data ./tillgate-data --name 'Corner Bakery' --parent 8a03…"
)]
pub(in crate::cli) struct CreateEntity {
    #[command(flatten)]
    common: CommonOptions,
    /// Name of the entity, which shoppers see on their statement.
    #[arg(long, value_parser = parse_name)]
    name: String,
    #[command(flatten)]
    options: EntityOptions,
}

/// Change an entity. Settings without an option do not change.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  tillgate entity set --data ./tillgate-data --entity 8a01… --brands VISA,MASTER --currencies all --strict off --3d required"
)]
pub(in crate::cli) struct SetEntity {
    #[command(flatten)]
    common: CommonOptions,
    /// The entity's id.
    #[arg(long, value_name = "ENTITY_ID")]
    entity: String,
    /// Name of the entity.
    #[arg(long, value_parser = parse_name)]
    name: Option<String>,
    #[command(flatten)]
    options: EntityOptions,
}

/// Show an entity.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  tillgate entity show --data ./tillgate-data --entity 8a01… --json")]
pub(in crate::cli) struct ShowEntity {
    #[command(flatten)]
    common: CommonOptions,
    /// The entity's id.
    #[arg(long, value_name = "ENTITY_ID")]
    entity: String,
}

/// List the entities.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  tillgate entity list --data ./tillgate-data --json")]
pub(in crate::cli) struct ListEntities {
    #[command(flatten)]
    common: CommonOptions,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CreatedEntity {
    entity_id: String,
    name: String,
    live: bool,
    level: Level,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    merchant: Option<String>,
    user_id: String,
    password: String,
    token: String,
}

impl EntityCommand {
    pub(in crate::cli) fn run(self) -> anyhow::Result<()> {
        match self {
            Self::Create(command) => command.run(),
            Self::Set(command) => command.run(),
            Self::Show(command) => command.run(),
            Self::List(command) => command.run(),
        }
    }
}

impl CreateEntity {
    /// Creates an entity and a token, and prints both. Creates the store, too, if it is missing and the entity has no
    /// parent.
    fn run(self) -> anyhow::Result<()> {
        let change = self.options.to_change(Some(self.name));
        let administration = match change.place.has_new_parent() {
            true => self.common.open_administration()?,
            false => create_administration(&self.common.place)?,
        };
        let (entity, pair) = administration
            .create_entity(&change, |entity| warn_of_running_server(entity, self.common.place.folder()))?;
        let created = CreatedEntity {
            entity_id: entity.id.to_string(),
            merchant: entity.parent_merchant().map(ToString::to_string),
            name: entity.name,
            live: entity.live,
            level: entity.level,
            parent: entity.parent.map(|parent| parent.to_string()),
            token: pair.bearer_token(),
            user_id: pair.user_id,
            password: pair.password,
        };
        self.common.print_output(&created, |created| {
            format!("entityId  {}\ntoken     {}\n\nThe token is shown only once.", created.entity_id, created.token)
        })
    }
}

impl SetEntity {
    /// Changes an entity, and those below it that become live or sandbox with it. Prints the entity.
    fn run(self) -> anyhow::Result<()> {
        let id = parse_entity_id(&self.entity)?;
        let administration = self.common.open_administration()?;
        let change = self.options.to_change(self.name);
        let entity = administration
            .change_entity(&id, &change, |entity| warn_of_running_server(entity, self.common.place.folder()))?;
        self.common.print_output(&describe_entity(administration.describe_entity(entity)?), format_entity)
    }
}

impl ShowEntity {
    /// Prints an entity with its relatives and its effective settings.
    fn run(self) -> anyhow::Result<()> {
        let administration = self.common.open_administration()?;
        let entity = administration.load_entity(&parse_entity_id(&self.entity)?)?;
        self.common.print_output(&describe_entity(administration.describe_entity(entity)?), format_entity)
    }
}

impl ListEntities {
    /// Prints all entities of the store, as text in a tree.
    fn run(self) -> anyhow::Result<()> {
        let entities = self.common.open_administration()?.load_entities()?;
        let listed: Vec<EntityListItem> = entities.into_iter().map(EntityListItem::from).collect();
        self.common.print_output(&listed, |listed| format_tree(listed))
    }
}
