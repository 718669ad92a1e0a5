//! `tillgate entity`: creates, changes, shows and lists the entities of the tree.

use clap::{Args, Subcommand};
use jiff::{SignedDuration, Timestamp};
use serde::Serialize;
use tillgate_domain::access::entity::{Entity, EntitySettings};
use tillgate_domain::access::level::Level;
use tillgate_domain::id::EntityId;
use tillgate_domain::plain_line::PlainLine;
use tillgate_gateway::random_bytes;
use tillgate_store::AdminStore;

use crate::cli::access::token::issue_credentials;
use crate::cli::access::token::parse_entity_id;
use crate::cli::access::tree::EntityListItem;
use crate::cli::access::tree::collect_output;
use crate::cli::access::tree::format_entity;
use crate::cli::access::tree::format_tree;
use crate::cli::options::{EntityOptions, load_existing_entity};
use crate::cli::serve::setup_check::warn_of_running_server;
use crate::cli::{CommonOptions, open_existing, open_store};

/// Entities.
#[derive(Debug, Subcommand)]
pub(in crate::cli) enum EntityCommand {
    /// Create an entity with a first access token, which is shown this once.
    Create(CreateEntity),
    /// Change an entity's name and settings; a running server follows within a second.
    Set(SetEntity),
    /// Show an entity with its settings, what it is below, and its channels.
    Show(ShowEntity),
    /// List the entities as a tree.
    List(ListEntities),
}

/// Create an entity.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  tillgate entity create --data ./tillgate-data --name 'Corner Bakery' --json\n\nA channel of it, for two brands in euro:\n  tillgate entity create --data ./tillgate-data --name 'Corner Bakery EU' --merchant 8a01… \\\n      --brands VISA,MASTER --currencies EUR\n\nA PSP with a division, and a merchant below that:\n  tillgate entity create --data ./tillgate-data --name 'Acme Payments' --level psp --3d required\n  tillgate entity create --data ./tillgate-data --name 'Acme North' --level division --parent 8a02…\n  tillgate entity create --data ./tillgate-data --name 'Corner Bakery' --parent 8a03…"
)]
pub(in crate::cli) struct CreateEntity {
    #[command(flatten)]
    common: CommonOptions,
    /// Its name; shoppers see it on their statement.
    #[arg(long, value_parser = parse_name)]
    name: String,
    #[command(flatten)]
    options: EntityOptions,
}

/// Change an entity. Settings that are not given stay as they are.
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
    /// Its name.
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
        let store = match self.options.has_new_parent() {
            true => open_existing(&self.common.data)?,
            false => open_store(&self.common.data)?,
        };
        let options = &self.options;
        let (entity, pair) = create_entity(&store, &self.name, |entity| {
            options.apply(&store, entity)?;
            warn_of_running_server(entity, &self.common.data)
        })?;
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
            format!("entityId  {}\ntoken     {}\n\nThe token is shown this once.", created.entity_id, created.token)
        })
    }
}

/// Creates an entity and its first token in one transaction, after `configure` has changed it or refused. Before that
/// it is a sandbox merchant at the top, with default settings.
pub(in crate::cli) fn create_entity(
    store: &AdminStore,
    name: &str,
    configure: impl FnOnce(&mut Entity) -> anyhow::Result<()>,
) -> anyhow::Result<(Entity, crate::cli::access::token::IssuedCredentials)> {
    let now = Timestamp::now();
    store.in_transaction(|store| {
        let mut entity = Entity {
            id: EntityId::new(now, random_bytes()?),
            name: name.to_owned(),
            live: false,
            level: Level::Merchant,
            parent: None,
            ahead: SignedDuration::ZERO,
            settings: EntitySettings::default(),
        };
        configure(&mut entity)?;
        store.add_entity(&entity, now)?;
        let pair = issue_credentials(store, &entity.id, "first token", now)?;
        Ok((entity, pair))
    })
}

impl SetEntity {
    /// Changes an entity, and those below it that become live or sandbox with it, in one transaction. Prints the
    /// entity.
    fn run(self) -> anyhow::Result<()> {
        let id = parse_entity_id(&self.entity)?;
        let store = open_existing(&self.common.data)?;
        let entity = store.in_transaction(|store| {
            let mut entity = load_existing_entity(store, &id)?;
            if let Some(name) = self.name {
                entity.name = name;
            }
            let was_live = entity.live;
            let changed = self.options.apply(store, &mut entity)?;
            if !was_live {
                warn_of_running_server(&entity, &self.common.data)?;
            }
            for channel in changed {
                store.update_entity(&channel)?;
            }
            store.update_entity(&entity)?;
            anyhow::Ok(entity)
        })?;
        self.common.print_output(&collect_output(&store, entity)?, format_entity)
    }
}

impl ShowEntity {
    /// Prints an entity with its relatives and its effective settings.
    fn run(self) -> anyhow::Result<()> {
        let store = open_existing(&self.common.data)?;
        let entity = load_existing_entity(&store, &parse_entity_id(&self.entity)?)?;
        self.common.print_output(&collect_output(&store, entity)?, format_entity)
    }
}

impl ListEntities {
    /// Prints all entities of the store, as text in a tree.
    fn run(self) -> anyhow::Result<()> {
        let entities = open_existing(&self.common.data)?.load_entities()?;
        let listed: Vec<EntityListItem> = entities.into_iter().map(EntityListItem::from).collect();
        self.common.print_output(&listed, |listed| format_tree(listed))
    }
}

/// Checks a name and removes the spaces around it: 1 to 100 characters on one line.
fn parse_name(text: &str) -> Result<String, String> {
    // A line break at either end is refused, not removed: it is more often a mistake in a script.
    let text = text.trim_matches(|c: char| c.is_whitespace() && !c.is_control());
    PlainLine::<100>::parse_filled(text)
        .map(String::from)
        .map_err(|_| "a name has 1 to 100 characters on one line".to_owned())
}
