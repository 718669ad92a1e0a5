//! Clocks of sandbox entities. Moving a clock moves everything that has started by it.

use jiff::{SignedDuration, Timestamp};
use rusqlite::{Connection, params};

use super::admin::Act;
use super::{AdminStore, Changes, StoreError, ledger};
use crate::domain::audit::AuditEntry;
use crate::domain::entity::Entity;
use crate::domain::id::EntityId;

/// A pending change of an entity's sandbox clock.
#[derive(Debug)]
pub(super) struct ClockMove {
    clock: EntityId,
    by: SignedDuration,
}

impl Changes {
    /// Moves the clock that an entity uses (a channel uses its merchant's) ahead by a duration, which the caller has
    /// checked with [`Entity::parse_clock_advance`].
    #[must_use]
    pub fn with_clock_move(mut self, entity: &Entity, by: SignedDuration) -> Self {
        self.clocks.push(ClockMove { clock: entity.clock_owner().clone(), by });
        self
    }
}

impl ClockMove {
    /// Moves the clock, with its entry in the audit log. `now` is the machine's time.
    pub(super) fn apply(&self, connection: &Connection, now: Timestamp) -> Result<(), StoreError> {
        move_clock(connection, &self.clock, self.by)?;
        let entry = AuditEntry::new(now, "clock advance", self.clock.as_str()).with_detail("by", self.by.to_string());
        ledger::write_entry(connection, Some(&self.clock), &entry, now)
    }
}

impl AdminStore {
    /// Moves the clock that an entity uses (a channel uses its merchant's) ahead by a duration, which the caller has
    /// checked with [`Entity::parse_clock_advance`]. Run it in the transaction that loads the entity.
    ///
    /// # Errors
    /// If the store cannot be written.
    pub fn move_clock(&self, entity: &Entity, by: SignedDuration) -> Result<(), StoreError> {
        let (clock, by_text) = (entity.clock_owner(), by.to_string());
        let details = [("by", &*by_text)];
        let act = Act { action: "clock advance", subject: clock.as_str(), entity: Some(clock), details: &details };
        self.record_act(&act, |connection| move_clock(connection, clock, by))
    }
}

/// Moves an entity's clock ahead, and by the same duration moves the timers, schedules, reviews and unfinished
/// messages of the entity and its channels earlier. An unknown entity changes nothing.
fn move_clock(connection: &Connection, clock: &EntityId, by: SignedDuration) -> Result<(), StoreError> {
    let parameters = params![clock.as_str(), to_milliseconds(by)];
    connection.execute("UPDATE entity SET ahead = ahead + ?2 WHERE id = ?1", parameters)?;
    // Everything that started by this clock has then started earlier by the machine's clock.
    connection.execute(
        "UPDATE timer SET since = since - ?2
         WHERE entity = ?1 OR entity IN (SELECT id FROM entity WHERE merchant = ?1)",
        parameters,
    )?;
    connection.execute(
        "UPDATE message SET due = due - ?2
         WHERE due IS NOT NULL AND (entity = ?1 OR entity IN (SELECT id FROM entity WHERE merchant = ?1))",
        parameters,
    )?;
    connection.execute(
        "UPDATE schedule SET due = due - ?2
         WHERE due IS NOT NULL AND entity IN (SELECT ?1 UNION SELECT id FROM entity WHERE merchant = ?1)",
        parameters,
    )?;
    // One statement for each of the indexes, which lead to the reviews of these entities.
    for ended in ["IS NULL", "IS NOT NULL"] {
        connection.execute(
            &format!(
                "UPDATE review SET since = since - ?2, claimed = claimed - ?2
                 WHERE ended {ended} AND entity IN (SELECT ?1 UNION SELECT id FROM entity WHERE merchant = ?1)"
            ),
            parameters,
        )?;
    }
    Ok(())
}

/// Returns the stored form of a clock's advance, in milliseconds. A clock is at most years ahead, so the value fits.
pub(super) fn to_milliseconds(ahead: SignedDuration) -> i64 {
    i64::try_from(ahead.as_millis()).unwrap_or(i64::MAX)
}
