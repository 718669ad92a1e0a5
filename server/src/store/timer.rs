//! Timers: what has to happen to a payment or a checkout when enough time has passed since it began.
//!
//! A row is written in the commit of its cause, and deleted in the commit of its effect: whenever the process dies, the
//! effect happens once. It says since when, by the machine's clock; the clock of a sandbox that is moved moves its rows.

use jiff::Timestamp;
use rusqlite::{Connection, params};

use super::{Changes, Store, StoreError};
use crate::domain::id::EntityId;

/// What happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A pending payment ends, for its shopper does not come back.
    End,
}

/// A timer whose time has come.
#[derive(Debug, Clone)]
pub struct Timer {
    /// The id of the payment or checkout.
    pub subject: String,
    /// Whose it is.
    pub entity: EntityId,
}

impl Kind {
    /// As it is stored.
    fn word(self) -> &'static str {
        match self {
            Self::End => "end",
        }
    }
}

impl Changes {
    /// Takes a timer back.
    #[must_use]
    pub fn without_timer(mut self, kind: Kind, subject: &str) -> Self {
        self.timers_gone.push((kind, subject.to_owned()));
        self
    }
}

/// Starts a timer, unless it runs already. `since` is in milliseconds, by the clock of the entity.
pub(super) fn start(
    connection: &Connection,
    kind: Kind,
    subject: &str,
    entity: &str,
    since: i64,
) -> Result<(), StoreError> {
    // How far that clock is ahead is looked up here, where nobody moves it meanwhile.
    connection
        .prepare_cached(
            "INSERT OR IGNORE INTO timer (kind, subject, entity, since)
             SELECT ?1, ?2, ?3, ?4 - coalesce(owner.ahead, entity.ahead)
             FROM entity LEFT JOIN entity AS owner ON owner.id = entity.merchant WHERE entity.id = ?3",
        )?
        .execute(params![kind.word(), subject, entity, since])?;
    Ok(())
}

/// Takes a timer back.
pub(super) fn stop(connection: &Connection, kind: Kind, subject: &str) -> Result<(), StoreError> {
    connection
        .prepare_cached("DELETE FROM timer WHERE kind = ?1 AND subject = ?2")?
        .execute(params![kind.word(), subject])?;
    Ok(())
}

impl Store {
    /// The timers of a kind that began before a moment of the machine's clock, the oldest first: at most `most`.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn timers_due(&self, kind: Kind, before: Timestamp, most: u32) -> Result<Vec<Timer>, StoreError> {
        self.read(|connection| {
            let mut statement = connection.prepare_cached(
                "SELECT subject, entity FROM timer WHERE kind = ?1 AND since <= ?2 ORDER BY since LIMIT ?3",
            )?;
            let mut rows = statement.query(params![kind.word(), before.as_millisecond(), most])?;
            let mut due = Vec::new();
            while let Some(row) = rows.next()? {
                let entity: String = row.get(1)?;
                let Some(entity) = EntityId::parse(&entity) else { continue };
                due.push(Timer { subject: row.get(0)?, entity });
            }
            Ok(due)
        })
    }
}
