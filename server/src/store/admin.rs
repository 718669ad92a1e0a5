//! What the command line does with the store: entities and tokens, and copies of the whole file.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use rusqlite::{Connection, OptionalExtension as _, params};

use super::{StoreError, clock};
use crate::directory::{Credential, Credentials};
use crate::domain::entity::Entity;
use crate::domain::id::EntityId;

/// A token as `token list` shows it; the secret half is nowhere.
#[derive(Debug, Clone, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TokenInfo {
    /// The public half of the pair.
    pub user_id: String,
    /// Whose it is.
    pub entity_id: String,
    /// What it is for, in the operator's words.
    pub label: String,
    /// When it was made.
    pub created: Timestamp,
    /// Since when it is no longer valid.
    pub revoked: Option<Timestamp>,
}

/// Entities and valid tokens, as authentication wants them.
///
/// # Errors
/// When the store cannot be read.
pub fn credentials(connection: &Connection) -> Result<Credentials, StoreError> {
    let mut entities = HashMap::new();
    let mut statement = connection.prepare(&select_entity(""))?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let entity = read_entity(row)?;
        entities.insert(entity.id.clone(), Arc::new(entity));
    }
    let mut by_user = HashMap::new();
    let mut statement = connection.prepare("SELECT user_id, hash, entity FROM token WHERE revoked IS NULL")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let entity: String = row.get(2)?;
        let Some(entity) = EntityId::parse(&entity) else { continue };
        let credential = Credential { user_id: row.get(0)?, hash: row.get(1)?, entity };
        by_user.insert(credential.user_id.clone(), credential);
    }
    Ok(Credentials { by_user, entities })
}

/// Entities, each with the clock that it goes by.
fn select_entity(which: &str) -> String {
    format!(
        "SELECT entity.id, entity.name, entity.live, entity.settings, entity.merchant, coalesce(owner.ahead, entity.ahead)
         FROM entity LEFT JOIN entity AS owner ON owner.id = entity.merchant {which}"
    )
}

fn read_entity(row: &rusqlite::Row<'_>) -> Result<Entity, StoreError> {
    let id: String = row.get(0)?;
    let settings: String = row.get(3)?;
    let merchant: Option<String> = row.get(4)?;
    Ok(Entity {
        id: EntityId::parse(&id).ok_or(rusqlite::Error::InvalidQuery)?,
        name: row.get(1)?,
        live: row.get(2)?,
        merchant: merchant.as_deref().and_then(EntityId::parse),
        ahead: SignedDuration::from_millis(row.get(5)?),
        settings: serde_json::from_str(&settings)?,
    })
}

/// An entity by id.
///
/// # Errors
/// When the store cannot be read.
pub fn entity(connection: &Connection, id: &EntityId) -> Result<Option<Entity>, StoreError> {
    connection
        .query_row(&select_entity("WHERE entity.id = ?1"), [id.as_str()], |row| Ok(read_entity(row)))
        .optional()?
        .transpose()
}

/// Adds an entity.
///
/// # Errors
/// When the store cannot be written.
pub fn add_entity(connection: &Connection, entity: &Entity, now: Timestamp) -> Result<(), StoreError> {
    connection.execute(
        "INSERT INTO entity (id, name, live, settings, created, merchant) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        params![
            entity.id.as_str(),
            entity.name,
            entity.live,
            serde_json::to_string(&entity.settings)?,
            now.as_millisecond(),
            entity.merchant.as_ref().map(EntityId::as_str)
        ],
    )?;
    Ok(())
}

/// The channels of a merchant.
///
/// # Errors
/// When the store cannot be read.
pub fn channels(connection: &Connection, merchant: &EntityId) -> Result<Vec<Entity>, StoreError> {
    let mut statement = connection.prepare(&select_entity("WHERE entity.merchant = ?1"))?;
    let mut rows = statement.query([merchant.as_str()])?;
    let mut channels = Vec::new();
    while let Some(row) = rows.next()? {
        channels.push(read_entity(row)?);
    }
    Ok(channels)
}

/// Whether an entity has taken a payment, stored an account or opened a checkout.
///
/// # Errors
/// When the store cannot be read.
pub fn is_used(connection: &Connection, id: &EntityId) -> Result<bool, StoreError> {
    // The checkouts are looked through one by one, and only where nothing else is found.
    let query = "SELECT EXISTS (SELECT 1 FROM payment WHERE entity = ?1)
        OR EXISTS (SELECT 1 FROM registration WHERE entity = ?1)
        OR EXISTS (SELECT 1 FROM checkout WHERE json_extract(CAST(document AS TEXT), '$.entity') = ?1)";
    Ok(connection.query_row(query, [id.as_str()], |row| row.get(0))?)
}

/// Writes an entity's name, kind, merchant, clock and settings again. Returns whether there is such an entity.
///
/// # Errors
/// When the store cannot be written.
pub fn update_entity(connection: &Connection, entity: &Entity) -> Result<bool, StoreError> {
    let settings = serde_json::to_string(&entity.settings)?;
    let changed = connection.execute(
        "UPDATE entity SET name = ?2, settings = ?3, live = ?4, merchant = ?5, ahead = ?6 WHERE id = ?1",
        params![
            entity.id.as_str(),
            entity.name,
            settings,
            entity.live,
            entity.merchant.as_ref().map(EntityId::as_str),
            clock::milliseconds(entity.ahead)
        ],
    )?;
    Ok(changed == 1)
}

/// Adds a token; only the hash of its password is stored.
///
/// # Errors
/// When the store cannot be written, or there is no such entity.
pub fn add_token(
    connection: &Connection,
    credential: &Credential,
    label: &str,
    now: Timestamp,
) -> Result<(), StoreError> {
    connection.execute(
        "INSERT INTO token (user_id, entity, hash, label, created) VALUES (?1, ?2, ?3, ?4, ?5)",
        params![credential.user_id, credential.entity.as_str(), credential.hash, label, now.as_millisecond()],
    )?;
    Ok(())
}

/// All tokens, revoked ones too, oldest first.
///
/// # Errors
/// When the store cannot be read.
pub fn tokens(connection: &Connection, entity: Option<&EntityId>) -> Result<Vec<TokenInfo>, StoreError> {
    let mut statement = connection.prepare(
        "SELECT user_id, entity, label, created, revoked FROM token WHERE ?1 IS NULL OR entity = ?1 ORDER BY created, user_id",
    )?;
    let rows = statement.query_map([entity.map(EntityId::as_str)], |row| {
        Ok(TokenInfo {
            user_id: row.get(0)?,
            entity_id: row.get(1)?,
            label: row.get(2)?,
            created: instant(row.get(3)?),
            revoked: row.get::<_, Option<i64>>(4)?.map(instant),
        })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Makes a token invalid. Returns whether there was a valid one with this user id.
///
/// # Errors
/// When the store cannot be written.
pub fn revoke_token(connection: &Connection, user_id: &str, now: Timestamp) -> Result<bool, StoreError> {
    let changed = connection.execute(
        "UPDATE token SET revoked = ?2 WHERE user_id = ?1 AND revoked IS NULL",
        params![user_id, now.as_millisecond()],
    )?;
    Ok(changed == 1)
}

/// Copies the whole store, consistent, to a new or empty file, while a server may be running on it.
///
/// # Errors
/// When the target has content or cannot be written.
pub fn backup(connection: &Connection, target: &Path) -> Result<(), StoreError> {
    connection.execute("VACUUM INTO ?1", [target.to_string_lossy()])?;
    Ok(())
}

fn instant(milliseconds: i64) -> Timestamp {
    Timestamp::from_millisecond(milliseconds).unwrap_or(Timestamp::UNIX_EPOCH)
}
