//! The payments whose outcomes a node of a cluster looks up.

use jiff::Timestamp;
use tillgate_engine::{Session, params};

use crate::StoreError;
use crate::timer::{Timer, read_timers};

/// Loads the payments whose connector `process` has asked, and with `has_lease` also those whose process has ended. A
/// process that is alive knows by itself which of its requests are still under way.
pub(crate) fn load_due_inquiries(
    session: &dyn Session,
    (process, has_lease): (&str, bool),
    before: Timestamp,
    limit: u32,
) -> Result<Vec<Timer>, StoreError> {
    let query = "SELECT subject, entity, detail, attempt FROM timer
         WHERE kind = 'ask' AND since <= ?1 AND (detail = ?2 OR (?3 AND NOT EXISTS
             (SELECT 1 FROM lease WHERE holder = timer.detail AND until > clock_milliseconds())))
         ORDER BY since LIMIT ?4";
    read_timers(session, query, &params![before.as_millisecond(), process, has_lease, limit])
}
