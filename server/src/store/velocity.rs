//! The counts of the velocity limiter, kept so that caps survive a restart.

use jiff::Timestamp;
use rusqlite::params;

use super::{Store, StoreError};

/// A stored count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VelocityCount {
    /// The kind of its source, by number.
    pub kind: u8,
    /// The name of its source, which is a hash.
    pub name: [u8; 16],
    /// The moment at which it is empty again, in nanoseconds since 1970.
    pub until: i64,
}

/// The most counts that are kept; beyond, those that are empty soonest go.
const MOST: i64 = 400_000;

impl Store {
    /// Loads the counts that are not empty, those that last longest first.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn velocity_counts(&self, now: Timestamp) -> Result<Vec<VelocityCount>, StoreError> {
        self.read(|connection| {
            let mut statement = connection.prepare_cached(
                "SELECT kind, name, until FROM velocity WHERE until > ?1 ORDER BY until DESC LIMIT ?2",
            )?;
            let count = |row: &rusqlite::Row<'_>| {
                Ok(VelocityCount { kind: row.get(0)?, name: row.get(1)?, until: row.get(2)? })
            };
            Ok(statement.query_map(params![nanoseconds(now), MOST], count)?.collect::<Result<_, _>>()?)
        })
    }

    /// Writes counts, new or changed.
    ///
    /// # Errors
    /// Same as [`Store::update`].
    pub async fn save_velocity_counts(&self, counts: Vec<VelocityCount>) -> Result<(), StoreError> {
        self.run(move |connection| {
            let mut statement = connection.prepare_cached(
                "INSERT INTO velocity (kind, name, until) VALUES (?1, ?2, ?3)
                 ON CONFLICT (kind, name) DO UPDATE SET until = ?3",
            )?;
            for VelocityCount { kind, name, until } in counts {
                statement.execute(params![kind, name, until])?;
            }
            Ok(())
        })
        .await
    }

    /// Deletes the counts that are empty, and those beyond the bound.
    ///
    /// # Errors
    /// Same as [`Store::update`].
    pub async fn purge_velocity_counts(&self, now: Timestamp) -> Result<(), StoreError> {
        let now = nanoseconds(now);
        // Looks with a reader first, so that an idle server writes nothing.
        let due: bool = self.read(|connection| {
            let query = "SELECT EXISTS (SELECT 1 FROM velocity WHERE until <= ?1)
                 OR EXISTS (SELECT 1 FROM velocity ORDER BY until DESC LIMIT 1 OFFSET ?2)";
            Ok(connection.prepare_cached(query)?.query_row(params![now, MOST], |row| row.get(0))?)
        })?;
        if !due {
            return Ok(());
        }
        self.run(move |connection| {
            connection.execute(
                "DELETE FROM velocity WHERE until <= max(?1, coalesce(
                     (SELECT until FROM velocity ORDER BY until DESC LIMIT 1 OFFSET ?2), ?1))",
                params![now, MOST],
            )?;
            Ok(())
        })
        .await
    }
}

fn nanoseconds(at: Timestamp) -> i64 {
    i64::try_from(at.as_nanosecond()).unwrap_or(i64::MAX)
}
