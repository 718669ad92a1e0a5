//! Entities as rows of a tree: PSPs, divisions, merchants and channels.

use std::collections::HashMap;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use rusqlite::{Connection, OptionalExtension as _, params, params_from_iter};

use super::{AdminStore, StoreError, clock, token};
use crate::directory::Credentials;
use crate::domain::entity::Entity;
use crate::domain::id::EntityId;
use crate::domain::level::Level;

/// Loads entities and valid tokens, as authentication wants them.
pub(super) fn credentials(connection: &Connection) -> Result<Credentials, StoreError> {
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
        "SELECT entity.id, entity.name, entity.live, entity.settings, entity.parent, coalesce(owner.ahead, entity.ahead),
             entity.level
         FROM entity LEFT JOIN entity AS owner ON owner.id = entity.merchant {which}"
    )
}

fn read_entity(row: &rusqlite::Row<'_>) -> Result<Entity, StoreError> {
    let id: String = row.get(0)?;
    let settings: String = row.get(3)?;
    let parent: Option<String> = row.get(4)?;
    let level: String = row.get(6)?;
    Ok(Entity {
        id: EntityId::parse(&id).ok_or(rusqlite::Error::InvalidQuery)?,
        name: row.get(1)?,
        live: row.get(2)?,
        level: Level::parse(&level).ok_or(rusqlite::Error::InvalidQuery)?,
        parent: parent.as_deref().and_then(EntityId::parse),
        ahead: SignedDuration::from_millis(row.get(5)?),
        settings: serde_json::from_str(&settings)?,
    })
}

impl AdminStore {
    /// Loads an entity by id.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn entity(&self, id: &EntityId) -> Result<Option<Entity>, StoreError> {
        self.connection
            .query_row(&select_entity("WHERE entity.id = ?1"), [id.as_str()], |row| Ok(read_entity(row)))
            .optional()?
            .transpose()
    }

    /// Loads all entities, in the order of their ids.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn entities(&self) -> Result<Vec<Entity>, StoreError> {
        self.select_entities("ORDER BY entity.id", None)
    }

    /// Loads the channels of a merchant.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn channels(&self, merchant: &EntityId) -> Result<Vec<Entity>, StoreError> {
        self.select_entities("WHERE entity.merchant = ?1", Some(merchant))
    }

    /// Loads the entities above one, nearest first.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn entities_above(&self, entity: &Entity) -> Result<Vec<Entity>, StoreError> {
        let mut above: Vec<Entity> = Vec::new();
        while let Some(id) = &above.last().unwrap_or(entity).parent
            && above.len() < Level::ALL.len()
            && let Some(parent) = self.entity(id)?
        {
            above.push(parent);
        }
        Ok(above)
    }

    /// Loads the entities below one, at every level, in the order of their ids.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn entities_below(&self, id: &EntityId) -> Result<Vec<Entity>, StoreError> {
        let which = "WHERE entity.id IN (
            WITH RECURSIVE below (id) AS (
                SELECT id FROM entity WHERE parent = ?1
                UNION SELECT entity.id FROM below JOIN entity ON entity.parent = below.id
            ) SELECT id FROM below) ORDER BY entity.id";
        self.select_entities(which, Some(id))
    }

    fn select_entities(&self, which: &str, given: Option<&EntityId>) -> Result<Vec<Entity>, StoreError> {
        let mut statement = self.connection.prepare(&select_entity(which))?;
        let mut rows = statement.query(params_from_iter(given.map(EntityId::as_str)))?;
        let mut entities = Vec::new();
        while let Some(row) = rows.next()? {
            entities.push(read_entity(row)?);
        }
        Ok(entities)
    }

    /// Adds an entity.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub fn add_entity(&self, entity: &Entity, now: Timestamp) -> Result<(), StoreError> {
        self.connection.execute(
            "INSERT INTO entity (id, name, live, settings, created, parent, level)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            params![
                entity.id.as_str(),
                entity.name,
                entity.live,
                serde_json::to_string(&entity.settings)?,
                now.as_millisecond(),
                entity.parent.as_ref().map(EntityId::as_str),
                entity.level.as_str()
            ],
        )?;
        Ok(())
    }

    /// Returns true if an entity has taken a payment, stored an account or opened a checkout.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn is_used(&self, id: &EntityId) -> Result<bool, StoreError> {
        // The checkouts are looked through one by one, and only where nothing else is found.
        let query = "SELECT EXISTS (SELECT 1 FROM payment WHERE entity = ?1)
            OR EXISTS (SELECT 1 FROM registration WHERE entity = ?1)
            OR EXISTS (SELECT 1 FROM checkout WHERE json_extract(CAST(document AS TEXT), '$.entity') = ?1)";
        Ok(self.connection.query_row(query, [id.as_str()], |row| row.get(0))?)
    }

    /// Writes an entity's name, kind, level, parent, clock and settings again. Returns true if there is such an entity.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub fn update_entity(&self, entity: &Entity) -> Result<bool, StoreError> {
        let settings = serde_json::to_string(&entity.settings)?;
        let changed = self.connection.execute(
            "UPDATE entity SET name = ?2, settings = ?3, live = ?4, parent = ?5, ahead = ?6, level = ?7
             WHERE id = ?1",
            params![
                entity.id.as_str(),
                entity.name,
                settings,
                entity.live,
                entity.parent.as_ref().map(EntityId::as_str),
                clock::milliseconds(entity.ahead),
                entity.level.as_str()
            ],
        )?;
        Ok(changed == 1)
    }
}
