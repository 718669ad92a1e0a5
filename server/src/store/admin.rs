//! What the command line does with the store: entities, and copies of the whole file.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use rusqlite::{Connection, OptionalExtension as _, params};

use super::{StoreError, clock, token};
use crate::directory::Credentials;
use crate::domain::entity::Entity;
use crate::domain::id::EntityId;

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
    Ok(Credentials { by_user: token::valid(connection)?, entities })
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

/// Copies the whole store, consistent, to a new or empty file, while a server may be running on it.
///
/// # Errors
/// When the target has content or cannot be written.
pub fn backup(connection: &Connection, target: &Path) -> Result<(), StoreError> {
    connection.execute("VACUUM INTO ?1", [target.to_string_lossy()])?;
    Ok(())
}
