//! Stored counts of the card-testing limits, so that the limits survive a restart.

use jiff::Timestamp;
use tillgate_engine::params;

use crate::cluster::changed_counts::load_changed_counts;
use crate::place::StorePlace;
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

/// The change of a counter by this process since it was saved or loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VelocityChange {
    /// The number of its kind of source.
    pub kind: u8,
    /// The name of its source, which is a hash.
    pub name: [u8; 16],
    /// The costs that were added, without those that were refunded, in nanoseconds.
    pub cost: i64,
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

    /// Adds the changes of this process to the counters, which other processes change as well. A counter is empty no
    /// later than `limit` nanoseconds after `now`. Returns the counters as they are now.
    pub async fn add_velocity_changes(
        &self,
        mut changes: Vec<VelocityChange>,
        now: Timestamp,
        limit: i64,
    ) -> Result<Vec<VelocityCount>, StoreError> {
        let now = to_nanoseconds(now);
        // In one order at all nodes, because two of them may write about the same counters at once.
        changes.sort_unstable_by(|one, other| (&one.kind, &one.name).cmp(&(&other.kind, &other.name)));
        self.run_row_write(move |session| {
            let statement = "INSERT INTO velocity (kind, name, until) VALUES (?1, ?2, ?4 + max(?3, 0))
                 ON CONFLICT (kind, name) DO UPDATE SET until = min(max(velocity.until, ?4) + ?3, ?5)
                 RETURNING until";
            let add = |&VelocityChange { kind, name, cost }: &VelocityChange| {
                let parameters = params![kind, name, cost, now, now + limit];
                let until = session.query_one(statement, parameters, |row| row.get(0))?;
                Ok(VelocityCount { kind, name, until })
            };
            changes.iter().map(add).collect()
        })
        .await
    }

    /// Loads the counters that processes have changed since the last call with `since`, which begins at zero. Finds
    /// nothing for a file, which no other process changes.
    pub fn load_velocity_changes(&self, since: &mut i64) -> Result<Vec<VelocityCount>, StoreError> {
        match &self.place {
            StorePlace::Folder(_) => Ok(Vec::new()),
            StorePlace::Cluster { .. } => self.run_read(|session| load_changed_counts(session, since)),
        }
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
