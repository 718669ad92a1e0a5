//! `tillgate entity`: creates, changes, shows and lists the entities of the tree.

use clap::{Args, Subcommand};
use jiff::{SignedDuration, Timestamp};
use serde::Serialize;

use super::entity_tree::{Listed, list_text, shown, text};
use super::options::{EntityOptions, existing};
use super::token::{entity_id, issue};
use super::{Common, open_existing};
use crate::domain::entity::{Entity, Settings};
use crate::domain::id::EntityId;
use crate::domain::level::Level;
use crate::gateway::random;
use crate::store::AdminStore;

/// Entities.
#[derive(Debug, Subcommand)]
pub(super) enum EntityCommand {
    /// Create an entity with a first access token, which is shown this once.
    Create(Create),
    /// Change an entity's name and settings; a running server follows within a second.
    Set(Set),
    /// Show an entity with its settings, what it is below, and its channels.
    Show(Show),
    /// List the entities as a tree.
    List(List),
}

/// Create an entity.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  tillgate entity create --data ./tillgate-data --name 'Corner Bakery' --json\n\nA channel of it, for two brands in euro:\n  tillgate entity create --data ./tillgate-data --name 'Corner Bakery EU' --merchant 8a01… \\\n      --brands VISA,MASTER --currencies EUR\n\nA PSP with a division, and a merchant below that:\n  tillgate entity create --data ./tillgate-data --name 'Acme Payments' --level psp --3d required\n  tillgate entity create --data ./tillgate-data --name 'Acme North' --level division --parent 8a02…\n  tillgate entity create --data ./tillgate-data --name 'Corner Bakery' --parent 8a03…"
)]
pub(super) struct Create {
    #[command(flatten)]
    common: Common,
    /// Its name; shoppers see it on their statement.
    #[arg(long, value_parser = name)]
    name: String,
    #[command(flatten)]
    options: EntityOptions,
}

/// Change an entity. What is not given stays as it is.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  tillgate entity set --data ./tillgate-data --entity 8a01… --brands VISA,MASTER --currencies all --strict off --3d required"
)]
pub(super) struct Set {
    #[command(flatten)]
    common: Common,
    /// The entity's id.
    #[arg(long, value_name = "ENTITY_ID")]
    entity: String,
    /// Its name.
    #[arg(long, value_parser = name)]
    name: Option<String>,
    #[command(flatten)]
    options: EntityOptions,
}

/// Show an entity.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  tillgate entity show --data ./tillgate-data --entity 8a01… --json")]
pub(super) struct Show {
    #[command(flatten)]
    common: Common,
    /// The entity's id.
    #[arg(long, value_name = "ENTITY_ID")]
    entity: String,
}

/// List the entities.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  tillgate entity list --data ./tillgate-data --json")]
pub(super) struct List {
    #[command(flatten)]
    common: Common,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Created {
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
    pub(super) fn run(self) -> anyhow::Result<()> {
        match self {
            Self::Create(command) => command.run(),
            Self::Set(command) => command.run(),
            Self::Show(command) => command.run(),
            Self::List(command) => command.run(),
        }
    }
}

impl Create {
    fn run(self) -> anyhow::Result<()> {
        let store = match self.options.names_parent() {
            true => open_existing(&self.common.data)?,
            false => AdminStore::open(&self.common.data)?,
        };
        let options = &self.options;
        let (entity, pair) = create(&store, &self.name, |entity| options.apply(&store, entity).map(drop))?;
        let created = Created {
            entity_id: entity.id.to_string(),
            merchant: entity.merchant().map(ToString::to_string),
            name: entity.name,
            live: entity.live,
            level: entity.level,
            parent: entity.parent.map(|parent| parent.to_string()),
            token: pair.token(),
            user_id: pair.user_id,
            password: pair.password,
        };
        self.common.print(&created, |created| {
            format!("entityId  {}\ntoken     {}\n\nThe token is shown this once.", created.entity_id, created.token)
        })
    }
}

/// Creates an entity, a sandbox unless `choose` says otherwise, and its first token in one transaction.
pub(super) fn create(
    store: &AdminStore,
    name: &str,
    choose: impl FnOnce(&mut Entity) -> anyhow::Result<()>,
) -> anyhow::Result<(Entity, super::token::Pair)> {
    let now = Timestamp::now();
    store.in_transaction(|store| {
        let mut entity = Entity {
            id: EntityId::new(now, random()?),
            name: name.to_owned(),
            live: false,
            level: Level::Merchant,
            parent: None,
            ahead: SignedDuration::ZERO,
            settings: Settings::default(),
        };
        choose(&mut entity)?;
        store.add_entity(&entity, now)?;
        let pair = issue(store, &entity.id, "first token", now)?;
        Ok((entity, pair))
    })
}

impl Set {
    fn run(self) -> anyhow::Result<()> {
        let id = entity_id(&self.entity)?;
        let store = open_existing(&self.common.data)?;
        let entity = store.in_transaction(|store| {
            let mut entity = existing(store, &id)?;
            if let Some(name) = self.name {
                entity.name = name;
            }
            for channel in self.options.apply(store, &mut entity)? {
                store.update_entity(&channel)?;
            }
            store.update_entity(&entity)?;
            anyhow::Ok(entity)
        })?;
        self.common.print(&shown(&store, entity)?, text)
    }
}

impl Show {
    fn run(self) -> anyhow::Result<()> {
        let store = open_existing(&self.common.data)?;
        let entity = existing(&store, &entity_id(&self.entity)?)?;
        self.common.print(&shown(&store, entity)?, text)
    }
}

impl List {
    fn run(self) -> anyhow::Result<()> {
        let entities = open_existing(&self.common.data)?.entities()?;
        let listed: Vec<Listed> = entities.into_iter().map(Listed::from).collect();
        self.common.print(&listed, |listed| list_text(listed))
    }
}

/// Checks a name: something to read, on one line, that fits on a statement.
fn name(text: &str) -> Result<String, String> {
    let length = text.trim().chars().count();
    if (1..=100).contains(&length) && !text.chars().any(char::is_control) {
        Ok(text.trim().to_owned())
    } else {
        Err("a name has 1 to 100 characters on one line".to_owned())
    }
}
