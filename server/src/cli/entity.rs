//! `tillgate entity`: who takes money.

use clap::{Args, Subcommand};
use jiff::Timestamp;
use rusqlite::Connection;
use serde::Serialize;

use super::token::issue;
use super::{Common, open_existing};
use crate::domain::entity::{Entity, Settings};
use crate::domain::id::EntityId;
use crate::gateway::random;
use crate::store::{admin, open_connection};

/// Entities.
#[derive(Debug, Subcommand)]
pub(super) enum EntityCommand {
    /// Create an entity with a first access token, which is shown this once.
    Create(Create),
    /// List the entities.
    List(List),
}

/// Create an entity.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  tillgate entity create --data ./tillgate-data --name 'Corner Bakery' --json")]
pub(super) struct Create {
    #[command(flatten)]
    common: Common,
    /// Its name; shoppers see it on their statement.
    #[arg(long, value_parser = name)]
    name: String,
    /// Real money. Without it the entity is a sandbox.
    #[arg(long)]
    live: bool,
    /// Refuse parameters that the specification does not know, instead of ignoring them.
    #[arg(long)]
    strict: bool,
    /// Take customer parameters without given name and surname.
    #[arg(long)]
    customer_names_optional: bool,
    /// An origin whose pages may embed the form, such as https://shop.example; any when none is given.
    #[arg(long = "origin", value_name = "ORIGIN", value_parser = origin)]
    origins: Vec<String>,
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
    user_id: String,
    password: String,
    token: String,
}

impl EntityCommand {
    pub(super) fn run(self) -> anyhow::Result<()> {
        match self {
            Self::Create(command) => command.run(),
            Self::List(command) => command.run(),
        }
    }
}

impl Create {
    fn run(self) -> anyhow::Result<()> {
        let settings = Settings {
            strict: self.strict,
            customer_names_optional: self.customer_names_optional,
            origins: self.origins.clone(),
        };
        let mut connection = open_connection(&self.common.data)?;
        let (entity, pair) = create(&mut connection, &self.name, self.live, settings)?;
        let created = Created {
            entity_id: entity.id.to_string(),
            name: entity.name,
            live: entity.live,
            token: pair.token(),
            user_id: pair.user_id,
            password: pair.password,
        };
        self.common.print(&created, |created| {
            format!("entityId  {}\ntoken     {}\n\nThe token is shown this once.", created.entity_id, created.token)
        })
    }
}

/// Creates an entity and its first token in one transaction.
pub(super) fn create(
    connection: &mut Connection,
    name: &str,
    live: bool,
    settings: Settings,
) -> anyhow::Result<(Entity, super::token::Pair)> {
    let now = Timestamp::now();
    let entity = Entity { id: EntityId::new(now, random()?), name: name.to_owned(), live, settings };
    let transaction = connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
    admin::add_entity(&transaction, &entity, now)?;
    let pair = issue(&transaction, &entity.id, "first token", now)?;
    transaction.commit()?;
    Ok((entity, pair))
}

impl List {
    fn run(self) -> anyhow::Result<()> {
        let connection = open_existing(&self.common.data)?;
        let credentials = admin::credentials(&connection)?;
        let mut entities: Vec<&Entity> = credentials.entities.values().map(std::convert::AsRef::as_ref).collect();
        entities.sort_by(|a, b| a.id.cmp(&b.id));
        self.common.print(&entities, |entities| {
            let lines = entities.iter().map(|entity| {
                format!("{}  {}  {}", entity.id, if entity.live { "live   " } else { "sandbox" }, entity.name)
            });
            lines.collect::<Vec<_>>().join("\n")
        })
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

/// Checks an origin: scheme, host and perhaps a port, nothing else; it goes into a policy header as it is.
fn origin(text: &str) -> Result<String, String> {
    let host = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    let valid = host.is_some_and(|host| {
        !host.is_empty() && host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-:[]".contains(&byte))
    });
    if valid {
        Ok(text.to_owned())
    } else {
        Err("an origin looks like https://shop.example or http://localhost:8080".to_owned())
    }
}
