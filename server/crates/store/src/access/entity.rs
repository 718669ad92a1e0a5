//! Entities as rows of a tree: PSPs, divisions, merchants and channels.

use std::collections::HashMap;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use tillgate_domain::access::entity::{Entity, EntitySettings};
use tillgate_domain::access::level::Level;
use tillgate_domain::id::EntityId;
use tillgate_engine::{Session, params};

use crate::access::token;
use crate::admin::Act;
use crate::entity_directory::{Credentials, Directory};
use crate::risk::rules;
use crate::schedule::clock;
use crate::{AdminStore, StoreError};

/// Fills the directory with the stored entities, tokens and risk rules.
pub(crate) fn refill_directory(session: &dyn Session, directory: &Directory) -> Result<(), StoreError> {
    // Several threads may refill it. Who loads later has newer data, and puts it in later.
    let _turn = directory.take_reload_turn();
    directory.replace_credentials(load_credentials(session)?);
    // The rules come after the entities, because entities inherit the rules of those above them.
    rules::refill_rules(session, directory)
}

/// Loads all entities, and the tokens that are not revoked, for the authentication of requests. Fails if an entity's
/// row is unreadable.
pub(crate) fn load_credentials(session: &dyn Session) -> Result<Credentials, StoreError> {
    let mut entities = HashMap::new();
    let mut rows = session.query(&select_entity(""), ())?;
    while let Some(row) = rows.next()? {
        let entity = read_entity(&row)?;
        entities.insert(entity.id.clone(), Arc::new(entity));
    }
    Ok(Credentials { by_user: token::load_unrevoked_tokens(session)?, entities })
}

/// Returns the query for entities, each with the advance of the clock that it uses. `clause` is appended: a condition
/// or an order.
fn select_entity(clause: &str) -> String {
    format!(
        // A channel uses the clock of its merchant, so the advance of the merchant counts for it.
        "SELECT entity.id, entity.name, entity.live, entity.settings, entity.parent, coalesce(owner.ahead, entity.ahead),
             entity.level
         FROM entity LEFT JOIN entity AS owner ON owner.id = entity.merchant {clause}"
    )
}

/// Reads an entity from a row of [`select_entity`]. An unreadable parent counts as none; any other unreadable value is
/// an error.
fn read_entity(row: &tillgate_engine::Row<'_>) -> Result<Entity, StoreError> {
    let id: String = row.get(0)?;
    let settings: String = row.get(3)?;
    let parent: Option<String> = row.get(4)?;
    let level: String = row.get(6)?;
    Ok(Entity {
        id: EntityId::parse(&id).ok_or_else(|| tillgate_engine::Error::unreadable(0, "id of an entity"))?,
        name: row.get(1)?,
        live: row.get(2)?,
        level: Level::parse(&level).ok_or_else(|| tillgate_engine::Error::unreadable(6, "level"))?,
        parent: parent.as_deref().and_then(EntityId::parse),
        ahead: SignedDuration::from_millis(row.get(5)?),
        settings: EntitySettings::from_json(&settings)?,
    })
}

/// Loads an entity by id.
pub(crate) fn load_entity(session: &dyn Session, id: &EntityId) -> Result<Option<Entity>, StoreError> {
    session.query_optional(&select_entity("WHERE entity.id = ?1"), [id.as_str()], read_entity)
}

impl AdminStore {
    /// Fills a directory with the stored entities, tokens and risk rules.
    pub fn fill_directory(&self, directory: &Directory) -> Result<(), StoreError> {
        refill_directory(&*self.session, directory)
    }

    /// Loads an entity by id.
    pub fn load_entity(&self, id: &EntityId) -> Result<Option<Entity>, StoreError> {
        load_entity(&*self.session, id)
    }

    /// Loads all entities, in the order of their ids.
    pub fn load_entities(&self) -> Result<Vec<Entity>, StoreError> {
        self.select_entities("ORDER BY entity.id", None)
    }

    /// Loads the channels of a merchant, in no particular order. Other entities have none.
    pub fn load_channels(&self, merchant: &EntityId) -> Result<Vec<Entity>, StoreError> {
        self.select_entities("WHERE entity.merchant = ?1", Some(merchant))
    }

    /// Loads the entities above one, nearest first. Ends at the top, or at a parent that is not stored.
    pub fn load_ancestors(&self, entity: &Entity) -> Result<Vec<Entity>, StoreError> {
        let mut ancestors: Vec<Entity> = Vec::new();
        // A tree has at most one entity per level. The limit ends the walk if damaged rows form a circle.
        while let Some(id) = &ancestors.last().unwrap_or(entity).parent
            && ancestors.len() < Level::ALL.len()
            && let Some(parent) = self.load_entity(id)?
        {
            ancestors.push(parent);
        }
        Ok(ancestors)
    }

    /// Loads the entities below one, without itself, at every level, in the order of their ids.
    pub fn load_descendants(&self, id: &EntityId) -> Result<Vec<Entity>, StoreError> {
        // `UNION` drops duplicates, so that the recursion ends even if damaged rows form a circle.
        let clause = "WHERE entity.id IN (
            WITH RECURSIVE below (id) AS (
                SELECT id FROM entity WHERE parent = ?1
                UNION SELECT entity.id FROM below JOIN entity ON entity.parent = below.id
            ) SELECT id FROM below) ORDER BY entity.id";
        self.select_entities(clause, Some(id))
    }

    /// Loads the entities that a clause selects. `id` is bound to its parameter, if it has one.
    fn select_entities(&self, clause: &str, id: Option<&EntityId>) -> Result<Vec<Entity>, StoreError> {
        let parameters: Vec<&str> = id.map(EntityId::as_str).into_iter().collect();
        self.session.query_all(&select_entity(clause), parameters, read_entity)
    }

    /// Adds an entity, created now. Its clock starts without an advance.
    ///
    /// # Errors
    /// If the store cannot be written, the id exists, or the place in the tree of entities is not allowed.
    pub fn add_entity(&self, entity: &Entity, now: Timestamp) -> Result<(), StoreError> {
        let settings = serde_json::to_string(&entity.settings)?;
        let details = [("name", &*entity.name), ("level", entity.level.as_str()), ("settings", &settings)];
        let (id, entity_id) = (entity.id.as_str(), Some(&entity.id));
        let act = Act { action: "entity create", subject: id, entity: entity_id, details: &details };
        self.execute_act(
            &act,
            "INSERT INTO entity (id, name, live, settings, created, parent, level)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            params![
                entity.id.as_str(),
                entity.name,
                entity.live,
                settings,
                now.as_millisecond(),
                entity.parent.as_ref().map(EntityId::as_str),
                entity.level.as_str()
            ],
        )?;
        Ok(())
    }

    /// Returns true if an entity has a payment, a registration or a checkout.
    pub fn is_entity_used(&self, id: &EntityId) -> Result<bool, StoreError> {
        // Checkouts have no index by entity and are scanned, but only if there is no payment or registration.
        let query = "SELECT EXISTS (SELECT 1 FROM payment WHERE entity = ?1)
            OR EXISTS (SELECT 1 FROM registration WHERE entity = ?1)
            OR EXISTS (SELECT 1 FROM checkout WHERE json_extract(CAST(document AS TEXT), '$.entity') = ?1)";
        Ok(self.session.query_one(query, [id.as_str()], |row| row.get(0))?)
    }

    /// Updates an entity's name, mode, level, parent, clock and settings. Returns false if there is no such entity.
    ///
    /// # Errors
    /// If the store cannot be written, or the place in the tree of entities is not allowed.
    pub fn update_entity(&self, entity: &Entity) -> Result<bool, StoreError> {
        let settings = serde_json::to_string(&entity.settings)?;
        let details = [("name", &*entity.name), ("level", entity.level.as_str()), ("settings", &settings)];
        let (id, entity_id) = (entity.id.as_str(), Some(&entity.id));
        let act = Act { action: "entity set", subject: id, entity: entity_id, details: &details };
        self.execute_act(
            &act,
            "UPDATE entity SET name = ?2, settings = ?3, live = ?4, parent = ?5, ahead = ?6, level = ?7
             WHERE id = ?1",
            params![
                entity.id.as_str(),
                entity.name,
                settings,
                entity.live,
                entity.parent.as_ref().map(EntityId::as_str),
                clock::to_milliseconds(entity.ahead),
                entity.level.as_str()
            ],
        )
    }
}
