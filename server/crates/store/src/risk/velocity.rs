//! Stored counts of the card-testing limits, so that the limits survive a restart.

use jiff::Timestamp;
use tillgate_engine::params;

use crate::{Store, StoreError};

/// A stored counter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VelocityCount {
    /// The number of its kind of source.
    pub kind: u8,
    /// The name of its source, which is a hash.
    pub name: [u8; 16],
    /// The time at which it is empty again, in nanoseconds since 1970.
    pub until: i64,
}

/// Maximum number of stored counters. Beyond it, the ones that become empty first are deleted.
const MAX_COUNTERS: i64 = 400_000;

impl Store {
    /// Loads the counters that are not empty at `now`, those that last longest first, at most 400 000.
    pub fn load_velocity_counts(&self, now: Timestamp) -> Result<Vec<VelocityCount>, StoreError> {
        self.run_read(|session| {
            // Those that last longest have counted the most, so they are kept if there are too many.
            let query = "SELECT kind, name, until FROM velocity WHERE until > ?1 ORDER BY until DESC LIMIT ?2";
            session.query_all(query, params![to_nanoseconds(now), MAX_COUNTERS], |row| {
                Ok(VelocityCount { kind: row.get(0)?, name: row.get(1)?, until: row.get(2)? })
            })
        })
    }

    /// Writes new or changed counters. Stored ones with the same kind and name are replaced; others stay.
    pub async fn save_velocity_counts(&self, counts: Vec<VelocityCount>) -> Result<(), StoreError> {
        self.run_write(move |session| {
            let statement = "INSERT INTO velocity (kind, name, until) VALUES (?1, ?2, ?3)
                 ON CONFLICT (kind, name) DO UPDATE SET until = ?3";
            for VelocityCount { kind, name, until } in counts {
                session.execute(statement, params![kind, name, until])?;
            }
            Ok(())
        })
        .await
    }

    /// Deletes the counters that are empty at `now`, and beyond 400 000 those that become empty first.
    pub async fn delete_expired_velocity_counts(&self, now: Timestamp) -> Result<(), StoreError> {
        let now = to_nanoseconds(now);
        // Checks with a reader first, so that an idle server writes nothing.
        let has_expired: bool = self.run_read(|session| {
            let query = "SELECT EXISTS (SELECT 1 FROM velocity WHERE until <= ?1)
                 OR EXISTS (SELECT 1 FROM velocity ORDER BY until DESC LIMIT 1 OFFSET ?2)";
            Ok(session.query_one(query, params![now, MAX_COUNTERS], |row| row.get(0))?)
        })?;
        if !has_expired {
            return Ok(());
        }
        self.run_write(move |session| {
            session.execute(
                "DELETE FROM velocity WHERE until <= max(?1, coalesce(
                     (SELECT until FROM velocity ORDER BY until DESC LIMIT 1 OFFSET ?2), ?1))",
                params![now, MAX_COUNTERS],
            )?;
            Ok(())
        })
        .await
    }
}

/// Returns nanoseconds since 1970, or the maximum if that is out of range.
fn to_nanoseconds(at: Timestamp) -> i64 {
    i64::try_from(at.as_nanosecond()).unwrap_or(i64::MAX)
}
