//! Timers: what has to happen to a payment or a checkout when enough time has passed since it began.
//!
//! A row is written in the commit of its cause, and deleted in the commit of its effect: whenever the process dies, the
//! effect happens once. It says since when, by the machine's clock; the clock of a sandbox that is moved moves its rows.

use std::borrow::Cow;

use jiff::Timestamp;
use rusqlite::{Connection, params};

use super::{Changes, Store, StoreError};
use crate::domain::checkout::Checkout;
use crate::domain::id::EntityId;

/// What happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A pending payment ends, for its shopper does not come back.
    End,
    /// The merchant is reminded of a checkout that nobody has asked for.
    Remind,
}

/// A timer whose time has come.
#[derive(Debug, Clone)]
pub struct Timer {
    /// The id of the payment or checkout.
    pub subject: String,
    /// Whose it is.
    pub entity: EntityId,
    /// What else there is to know.
    pub detail: Option<String>,
}

/// A timer to start.
#[derive(Debug)]
pub(super) struct Start<'a> {
    pub(super) kind: Kind,
    pub(super) subject: Cow<'a, str>,
    pub(super) entity: Cow<'a, str>,
    /// In milliseconds, by the clock of the entity.
    pub(super) since: i64,
    pub(super) detail: Option<String>,
}

impl Kind {
    /// As it is stored.
    fn word(self) -> &'static str {
        match self {
            Self::End => "end",
            Self::Remind => "remind",
        }
    }
}

impl Changes {
    /// Reminds the merchant of a checkout at this address, unless its status is asked for before.
    #[must_use]
    pub fn remind(mut self, checkout: &Checkout, address: String) -> Self {
        self.timers.push(Start {
            kind: Kind::Remind,
            subject: checkout.id.as_str().to_owned().into(),
            entity: checkout.entity.as_str().to_owned().into(),
            since: checkout.created.as_millisecond(),
            detail: Some(address),
        });
        self
    }

    /// Takes a timer back.
    #[must_use]
    pub fn without_timer(mut self, kind: Kind, subject: &str) -> Self {
        self.timers_gone.push((kind, subject.to_owned()));
        self
    }
}

impl Start<'_> {
    /// Starts the timer, unless it runs already.
    pub(super) fn apply(&self, connection: &Connection) -> Result<(), StoreError> {
        let Self { kind, subject, entity, since, detail } = self;
        // How far that clock is ahead is looked up here, where nobody moves it meanwhile.
        connection
            .prepare_cached(
                "INSERT OR IGNORE INTO timer (kind, subject, entity, since, detail)
                 SELECT ?1, ?2, ?3, ?4 - coalesce(owner.ahead, entity.ahead), ?5
                 FROM entity LEFT JOIN entity AS owner ON owner.id = entity.merchant WHERE entity.id = ?3",
            )?
            .execute(params![kind.word(), subject, entity, since, detail])?;
        Ok(())
    }
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
                "SELECT subject, entity, detail FROM timer WHERE kind = ?1 AND since <= ?2 ORDER BY since LIMIT ?3",
            )?;
            let mut rows = statement.query(params![kind.word(), before.as_millisecond(), most])?;
            let mut due = Vec::new();
            while let Some(row) = rows.next()? {
                let entity: String = row.get(1)?;
                let Some(entity) = EntityId::parse(&entity) else { continue };
                due.push(Timer { subject: row.get(0)?, entity, detail: row.get(2)? });
            }
            Ok(due)
        })
    }
}

impl Store {
    /// Takes several timers back.
    ///
    /// # Errors
    /// As [`Store::update`].
    pub async fn stop_timers(&self, kind: Kind, subjects: Vec<String>) -> Result<(), StoreError> {
        self.run(move |connection| subjects.iter().try_for_each(|subject| stop(connection, kind, subject))).await
    }
}
