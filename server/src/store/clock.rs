//! The clock of a sandbox entity: a row that is only ever moved forward.

use jiff::SignedDuration;
use rusqlite::{Connection, params};

use super::{AdminStore, Changes, StoreError};
use crate::domain::entity::{Entity, FURTHEST};
use crate::domain::id::EntityId;

/// How far whose clock is moved.
#[derive(Debug)]
pub(super) struct Advance {
    clock: EntityId,
    by: SignedDuration,
}

impl Changes {
    /// Moves the clock that an entity goes by.
    #[must_use]
    pub fn clock(mut self, entity: &Entity, by: SignedDuration) -> Self {
        self.clocks.push(Advance { clock: entity.clock().clone(), by });
        self
    }
}

impl Advance {
    pub(super) fn apply(&self, connection: &Connection) -> Result<(), StoreError> {
        advance(connection, &self.clock, self.by).map(drop)
    }
}

impl AdminStore {
    /// Moves a clock forward. Returns false if it was not moved: that of a live entity, and beyond [`FURTHEST`].
    ///
    /// # Errors
    /// When the store cannot be written.
    pub fn advance_clock(&self, clock: &EntityId, by: SignedDuration) -> Result<bool, StoreError> {
        advance(&self.connection, clock, by)
    }
}

/// Moves a clock forward, as [`AdminStore::advance_clock`] does.
fn advance(connection: &Connection, clock: &EntityId, by: SignedDuration) -> Result<bool, StoreError> {
    let moved = connection.execute(
        "UPDATE entity SET ahead = ahead + ?2 WHERE id = ?1 AND NOT live AND ahead + ?2 <= ?3",
        params![clock.as_str(), milliseconds(by), milliseconds(FURTHEST)],
    )?;
    // Whatever has begun by this clock has then begun earlier by the machine's.
    connection.execute(
        "UPDATE timer SET since = since - ?2
         WHERE ?3 AND (entity = ?1 OR entity IN (SELECT id FROM entity WHERE merchant = ?1))",
        params![clock.as_str(), milliseconds(by), moved == 1],
    )?;
    connection.execute(
        "UPDATE message SET due = due - ?2
         WHERE ?3 AND due IS NOT NULL AND (entity = ?1 OR entity IN (SELECT id FROM entity WHERE merchant = ?1))",
        params![clock.as_str(), milliseconds(by), moved == 1],
    )?;
    Ok(moved == 1)
}

/// As it is stored. A clock is years ahead at most.
pub(super) fn milliseconds(ahead: SignedDuration) -> i64 {
    i64::try_from(ahead.as_millis()).unwrap_or(i64::MAX)
}
