//! `tillgate token`: who may ask in an entity's name.

use anyhow::{Context as _, bail};
use clap::{Args, Subcommand};
use jiff::Timestamp;
use rusqlite::Connection;
use serde::Serialize;

use super::{Common, open_existing};
use crate::directory::{Credential, bearer, hash_password};
use crate::domain::id::{EntityId, hex};
use crate::gateway::random;
use crate::store::admin;

/// Access tokens.
#[derive(Debug, Subcommand)]
pub(super) enum TokenCommand {
    /// Create an access token for an entity. It is shown this once; the store keeps a hash.
    Create(Create),
    /// List the tokens, without their secret half.
    List(List),
    /// Revoke a token; a running server stops taking it within a second.
    Revoke(Revoke),
}

/// Create an access token.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  tillgate token create --data ./tillgate-data --entity 8a01… --label 'web shop' --json"
)]
pub(super) struct Create {
    #[command(flatten)]
    common: Common,
    /// The entity's id.
    #[arg(long, value_name = "ENTITY_ID")]
    entity: String,
    /// What the token is for.
    #[arg(long, default_value = "")]
    label: String,
}

/// List the tokens.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  tillgate token list --data ./tillgate-data --entity 8a01…")]
pub(super) struct List {
    #[command(flatten)]
    common: Common,
    /// Only those of this entity.
    #[arg(long, value_name = "ENTITY_ID")]
    entity: Option<String>,
}

/// Revoke a token.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  tillgate token revoke --data ./tillgate-data --user 8a02…")]
pub(super) struct Revoke {
    #[command(flatten)]
    common: Common,
    /// The token's user id, as `token list` shows it.
    #[arg(long, value_name = "USER_ID")]
    user: String,
}

/// A credential pair, at the one moment when both halves are known.
pub(super) struct Pair {
    pub(super) user_id: String,
    pub(super) password: String,
}

impl Pair {
    /// The bearer token of the pair.
    pub(super) fn token(&self) -> String {
        bearer(&self.user_id, &self.password)
    }
}

/// Makes and stores a pair.
pub(super) fn issue(connection: &Connection, entity: &EntityId, label: &str, now: Timestamp) -> anyhow::Result<Pair> {
    let pair = Pair { user_id: EntityId::new(now, random()?).to_string(), password: hex(&random::<16>()?) };
    let credential =
        Credential { user_id: pair.user_id.clone(), hash: hash_password(&pair.password), entity: entity.clone() };
    admin::add_token(connection, &credential, label, now)?;
    Ok(pair)
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Created {
    entity_id: String,
    user_id: String,
    password: String,
    token: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Revoked {
    user_id: String,
    revoked: bool,
}

impl TokenCommand {
    pub(super) fn run(self) -> anyhow::Result<()> {
        match self {
            Self::Create(command) => command.run(),
            Self::List(command) => command.run(),
            Self::Revoke(command) => command.run(),
        }
    }
}

impl Create {
    fn run(self) -> anyhow::Result<()> {
        let connection = open_existing(&self.common.data)?;
        let entity = entity_id(&self.entity)?;
        if admin::entity(&connection, &entity)?.is_none() {
            bail!("there is no entity {entity}");
        }
        let pair = issue(&connection, &entity, &self.label, Timestamp::now())?;
        let created = Created {
            entity_id: entity.to_string(),
            token: pair.token(),
            user_id: pair.user_id,
            password: pair.password,
        };
        self.common.print(&created, |created| format!("{}\n\nThe token is shown this once.", created.token))
    }
}

impl List {
    fn run(self) -> anyhow::Result<()> {
        let connection = open_existing(&self.common.data)?;
        let entity = self.entity.as_deref().map(entity_id).transpose()?;
        let tokens = admin::tokens(&connection, entity.as_ref())?;
        self.common.print(&tokens, |tokens| {
            let lines = tokens.iter().map(|token| {
                let state = token.revoked.map_or("valid".to_owned(), |since| format!("revoked {since:.0}"));
                format!("{}  {}  {:.0}  {state}  {}", token.user_id, token.entity_id, token.created, token.label)
            });
            lines.collect::<Vec<_>>().join("\n")
        })
    }
}

impl Revoke {
    fn run(self) -> anyhow::Result<()> {
        let connection = open_existing(&self.common.data)?;
        if !admin::revoke_token(&connection, &self.user, Timestamp::now())? {
            bail!("there is no valid token of user {}", self.user);
        }
        let revoked = Revoked { user_id: self.user.clone(), revoked: true };
        self.common.print(&revoked, |revoked| format!("{} is revoked", revoked.user_id))
    }
}

/// Reads an entity's id from the command line.
pub(super) fn entity_id(text: &str) -> anyhow::Result<EntityId> {
    EntityId::parse(text).with_context(|| format!("{text} is not an entity id (32 lowercase hexadecimal characters)"))
}
