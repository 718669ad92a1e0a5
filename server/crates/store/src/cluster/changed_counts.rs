//! The counts of the card-testing limits that the nodes of a cluster have changed.

use std::time::Duration;

use tillgate_engine::{Session, params};

use crate::StoreError;
use crate::risk::velocity::VelocityCount;

/// Time by which each look overlaps the one before: a row is dated before its commit, which may take as long. To read a
/// count twice changes nothing.
const OVERLAP: Duration = Duration::from_secs(5);
/// Time before the first look from which changes are read. A node loads all counts when it opens its store, and looks
/// for changes once it serves.
const START: Duration = Duration::from_secs(60);

/// Loads the counts that were changed since the last call, by the clock of the database in milliseconds; the first time
/// those that were changed within the last minute.
pub(crate) fn load_changed_counts(session: &dyn Session, since: &mut i64) -> Result<Vec<VelocityCount>, StoreError> {
    // Read before the rows, so that a row that is changed meanwhile is read by the next call.
    let now: i64 = session.query_one("SELECT clock_milliseconds()", (), |row| row.get(0))?;
    let (from, overlap) = if *since == 0 { (now, START) } else { (*since, OVERLAP) };
    let first = from - i64::try_from(overlap.as_millis()).unwrap_or_default();
    let query = "SELECT kind, name, until FROM velocity WHERE changed >= ?1";
    let counts = session.query_all(query, params![first], |row| {
        Ok::<_, StoreError>(VelocityCount { kind: row.get(0)?, name: row.get(1)?, until: row.get(2)? })
    })?;
    *since = now;
    Ok(counts)
}
