//! Due schedules, so that no entity waits for all runs of another one.

use indexmap::IndexMap;
use jiff::Timestamp;
use tillgate_domain::schedule::Schedule;
use tillgate_engine::{Session, params};

use crate::document::decode_document;
use crate::{Store, StoreError};

/// Number of entities that are visited when there are more due schedules than are loaded.
const ENTITIES_PER_LOAD: usize = 32;
/// Maximum number of schedules of such an entity.
const SCHEDULES_PER_ENTITY: usize = 4;

/// Some of the due schedules.
#[derive(Debug)]
pub struct DueSchedules {
    /// The schedules. None is there twice.
    pub schedules: Vec<Schedule>,
    /// The entity that was visited last. Empty after the last entity of all.
    pub last: String,
    /// True if there may be more.
    pub has_more: bool,
}

impl Store {
    /// Loads schedules that are due at a moment of the machine's clock, at most `limit`. If there are more, half of
    /// them are the longest due of all, and the others those of the next entities after `after` in the order of their
    /// ids, a few of each; the room that is left has the longest due again. So no entity waits for all runs of
    /// another one. An unreadable schedule is left out.
    pub fn load_due_schedules(&self, now: Timestamp, limit: usize, after: &str) -> Result<DueSchedules, StoreError> {
        self.run_read(|session| {
            let by_time = "SELECT id, document FROM schedule WHERE due <= ?1 ORDER BY due LIMIT ?2";
            let mut found = select_due(session, by_time, params![now.as_millisecond(), to_sql_limit(limit)])?;
            let has_more = found.len() >= limit;
            let mut last = after.to_owned();
            if has_more {
                // Half of the room goes to entities in turn. Otherwise an entity with many due runs would take all of
                // it.
                let later = found.split_off(limit / 2);
                last = load_next_entities(session, now, limit - found.len(), after, &mut found)?;
                let room = limit.saturating_sub(found.len());
                found.extend(later.into_iter().take(room));
            }
            Ok(DueSchedules { schedules: found.into_values().collect(), last, has_more })
        })
    }
}

/// Selects ids and documents of due schedules. An unreadable one is left out, and logged.
fn select_due(
    session: &dyn Session,
    query: &str,
    values: impl tillgate_engine::Params,
) -> Result<IndexMap<String, Schedule>, StoreError> {
    let mut rows = session.query(query, values)?;
    // Both queries may find a schedule, and it must not run twice at once.
    let mut due = IndexMap::new();
    while let Some(row) = rows.next()? {
        match decode_document(row.value(1)?.as_blob()?) {
            Ok(schedule) => drop(due.insert(row.get(0)?, schedule)),
            // A damaged schedule must not stop the schedules of all other merchants.
            Err(error) => tracing::error!(%error, "a schedule is unreadable"),
        }
    }
    Ok(due)
}

/// Adds at most `room` due schedules of the next entities after one, a few of each. Returns the last of these entities;
/// an empty id after the last one of all.
fn load_next_entities(
    session: &dyn Session,
    now: Timestamp,
    room: usize,
    after: &str,
    due: &mut IndexMap<String, Schedule>,
) -> Result<String, StoreError> {
    let next = "SELECT entity, due FROM schedule WHERE due IS NOT NULL AND entity > ?1 ORDER BY entity, due LIMIT 1";
    let of_entity = "SELECT id, document FROM schedule WHERE entity = ?1 AND due <= ?2 ORDER BY due LIMIT ?3";
    let mut last = after.to_owned();
    let full = due.len() + room;
    for _ in 0..ENTITIES_PER_LOAD {
        let found: Option<(String, i64)> = session.query_optional(next, [&last], |row| row.read())?;
        let Some((entity, first)) = found else { return Ok(String::new()) };
        if first <= now.as_millisecond() {
            let limit = SCHEDULES_PER_ENTITY.min(full.saturating_sub(due.len()));
            due.extend(select_due(session, of_entity, params![entity, now.as_millisecond(), to_sql_limit(limit)])?);
        }
        last = entity;
        if due.len() >= full {
            break;
        }
    }
    Ok(last)
}

/// Returns a limit as a query has it.
fn to_sql_limit(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}
