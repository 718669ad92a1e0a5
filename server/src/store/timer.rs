//! Timers: what has to happen to a payment or a checkout when enough time has passed since it began.
//!
//! A row is written in the commit of its cause, and deleted in the commit of its effect: whenever the process dies, the
//! effect happens once. It says since when, by the machine's clock; the clock of a sandbox that is moved moves its rows.

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension as _, params};

use super::{Changes, Store, StoreError};
use crate::domain::checkout::Checkout;
use crate::domain::effects::Reminder;
use crate::domain::id::EntityId;

/// What happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A pending payment ends, for its shopper does not come back.
    End,
    /// The merchant is reminded of a checkout whose outcome nobody has asked for. One per checkout, for its last attempt.
    Remind,
    /// A payment has no outcome because its connector has not been heard of. Once the process that asked is gone, or has given
    /// up waiting, somebody has to find out.
    Ask,
}

/// A timer whose time has come.
#[derive(Debug, Clone)]
pub struct Timer {
    /// The id of the payment or checkout.
    pub subject: String,
    /// Whose it is.
    pub entity: EntityId,
    /// Address at which the merchant is reminded.
    pub detail: Option<String>,
    /// The attempt that a merchant is reminded of: a payment's or registration's id.
    pub attempt: Option<String>,
}

impl Kind {
    /// As it is stored.
    fn word(self) -> &'static str {
        match self {
            Self::End => "end",
            Self::Remind => "remind",
            Self::Ask => "ask",
        }
    }
}

impl Changes {
    /// Reminds the merchant at this address of the last attempt of a checkout, made at a moment, unless its outcome is asked
    /// for before. Takes the place of the reminder of an earlier attempt, whose address serves where this one has none. One
    /// that `waits` begins when the attempt has ended.
    #[must_use]
    pub fn remind(mut self, checkout: &Checkout, address: Option<String>, since: Timestamp, waits: bool) -> Self {
        self.reminders.extend(Reminder::of_attempt(checkout, address, since, waits));
        self
    }

    /// Takes a timer back.
    #[must_use]
    pub fn without_timer(mut self, kind: Kind, subject: &str) -> Self {
        self.stopped_timers.push((kind, subject.to_owned()));
        self
    }
}

/// Starts the timer that ends a pending payment, unless it runs already. `since` is by the clock of the entity.
pub(super) fn start_end(
    connection: &Connection,
    payment: &str,
    entity: &str,
    since: Timestamp,
) -> Result<(), StoreError> {
    // The lead of that clock is looked up here, where nobody moves it meanwhile.
    connection
        .prepare_cached(
            "INSERT OR IGNORE INTO timer (kind, subject, entity, since)
             SELECT 'end', ?1, ?2, ?3 - coalesce(owner.ahead, entity.ahead)
             FROM entity LEFT JOIN entity AS owner ON owner.id = entity.merchant WHERE entity.id = ?2",
        )?
        .execute(params![payment, entity, since.as_millisecond()])?;
    Ok(())
}

/// Starts a reminder, or starts it again for the new attempt.
pub(super) fn remind(connection: &Connection, reminder: &Reminder) -> Result<(), StoreError> {
    let query = "SELECT detail FROM timer WHERE kind = 'remind' AND subject = ?1";
    let earlier = connection.prepare_cached(query)?.query_row([reminder.checkout.as_str()], |row| row.get(0));
    let Some(reminder) = reminder.clone().in_place_of(earlier.optional()?.flatten()) else { return Ok(()) };
    let Reminder { checkout, entity, attempt, since, address, waits } = reminder;
    connection
        .prepare_cached(
            "INSERT INTO timer (kind, subject, entity, since, detail, attempt, waits)
             SELECT 'remind', ?1, ?2, ?3 - coalesce(owner.ahead, entity.ahead), ?4, ?5, ?6
             FROM entity LEFT JOIN entity AS owner ON owner.id = entity.merchant WHERE entity.id = ?2
             ON CONFLICT (kind, subject) DO UPDATE SET since = excluded.since, detail = excluded.detail,
                 attempt = excluded.attempt, waits = excluded.waits",
        )?
        .execute(params![checkout.as_str(), entity.as_str(), since.as_millisecond(), address, attempt, waits])?;
    Ok(())
}

/// Lets the reminder of an attempt that has ended run.
pub(super) fn release_reminder(connection: &Connection, checkout: &str, attempt: &str) -> Result<(), StoreError> {
    connection
        .prepare_cached("UPDATE timer SET waits = 0 WHERE kind = 'remind' AND subject = ?1 AND attempt = ?2")?
        .execute(params![checkout, attempt])?;
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
    /// The timers of a kind that run and began before a moment of the machine's clock, the oldest first: at most `most`.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn timers_due(&self, kind: Kind, before: Timestamp, most: u32) -> Result<Vec<Timer>, StoreError> {
        self.read(|connection| {
            let mut statement = connection.prepare_cached(
                "SELECT subject, entity, detail, attempt FROM timer
                 WHERE kind = ?1 AND since <= ?2 AND waits = 0 ORDER BY since LIMIT ?3",
            )?;
            let mut rows = statement.query(params![kind.word(), before.as_millisecond(), most])?;
            let mut due = Vec::new();
            while let Some(row) = rows.next()? {
                let entity: String = row.get(1)?;
                let Some(entity) = EntityId::parse(&entity) else { continue };
                due.push(Timer { subject: row.get(0)?, entity, detail: row.get(2)?, attempt: row.get(3)? });
            }
            Ok(due)
        })
    }
}

impl Store {
    /// Takes a timer back.
    ///
    /// # Errors
    /// Same as [`Store::update`].
    pub async fn stop_timer(&self, kind: Kind, subject: String) -> Result<(), StoreError> {
        self.run(move |connection| stop(connection, kind, &subject)).await
    }

    /// Takes reminders back, each by its checkout and the attempt that it is about. The reminder of a later attempt stays.
    ///
    /// # Errors
    /// Same as [`Store::update`].
    pub async fn stop_reminders(&self, attempts: Vec<(String, String)>) -> Result<(), StoreError> {
        self.run(move |connection| {
            let query = "DELETE FROM timer WHERE kind = 'remind' AND subject = ?1 AND attempt = ?2";
            let mut statement = connection.prepare_cached(query)?;
            for (checkout, attempt) in &attempts {
                statement.execute([checkout, attempt])?;
            }
            Ok(())
        })
        .await
    }
}
