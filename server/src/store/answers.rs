//! Answers to named requests (`Idempotency-Key`), found by entity and key until their day is over.

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension as _, params};

use super::{Store, StoreError};
use crate::domain::id::EntityId;
use crate::domain::idempotency::{Answer, IdempotencyKey, Named};

/// Most rows that one write deletes: nobody waits for more.
const BATCH: i64 = 1000;

/// A row to write: what was answered to whom, and for how long that is kept.
#[derive(Debug)]
pub struct KeptAnswer {
    /// The request.
    pub named: Named,
    /// What was answered.
    pub answer: Answer,
    /// When it was answered.
    pub made: Timestamp,
    /// When its name is free again.
    pub until: Timestamp,
    /// Entity of the payment, registration or checkout in the response: the one that asked, or its channel at that time.
    /// `None` if the response is about none of them.
    pub owner: Option<EntityId>,
}

/// A response to replay.
#[derive(Debug)]
pub struct FoundAnswer {
    /// Fingerprint of the request.
    pub fingerprint: Vec<u8>,
    /// The response.
    pub answer: Answer,
    /// Same as [`KeptAnswer::owner`].
    pub owner: Option<EntityId>,
}

impl KeptAnswer {
    /// Writes the row, unless its name is taken: then another request of this name has come first, and everything of this
    /// one is undone.
    pub(super) fn apply(&self, connection: &Connection) -> Result<(), StoreError> {
        let Named { entity, key, fingerprint } = &self.named;
        let written = connection
            .prepare_cached(
                "INSERT INTO answer (entity, key, fingerprint, status, body, until, owner)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?8)
                 ON CONFLICT (entity, key) DO UPDATE
                     SET fingerprint = ?3, status = ?4, body = ?5, until = ?6, owner = ?8 WHERE until <= ?7",
            )?
            .execute(params![
                entity.as_str(),
                key.as_str(),
                &fingerprint[..],
                self.answer.status,
                self.answer.body,
                self.until.as_millisecond(),
                self.made.as_millisecond(),
                self.owner.as_ref().map(EntityId::as_str),
            ])?;
        if written == 1 { Ok(()) } else { Err(StoreError::NameTaken) }
    }

    /// Writes the response in the place of an earlier one to the same request. Does nothing if that is not kept any longer.
    pub(super) fn replace(&self, connection: &Connection) -> Result<(), StoreError> {
        let Named { entity, key, fingerprint } = &self.named;
        connection
            .prepare_cached(
                "UPDATE answer SET status = ?4, body = ?5 WHERE entity = ?1 AND key = ?2 AND fingerprint = ?3",
            )?
            .execute(params![entity.as_str(), key.as_str(), &fingerprint[..], self.answer.status, self.answer.body])?;
        Ok(())
    }
}

impl Store {
    /// What was answered to a request of this name, and its fingerprint.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn answer(
        &self,
        entity: &EntityId,
        key: &IdempotencyKey,
        now: Timestamp,
    ) -> Result<Option<FoundAnswer>, StoreError> {
        self.read(|connection| {
            let mut statement = connection.prepare_cached(
                "SELECT fingerprint, status, body, owner FROM answer WHERE entity = ?1 AND key = ?2 AND until > ?3",
            )?;
            let found = statement.query_row(params![entity.as_str(), key.as_str(), now.as_millisecond()], |row| {
                let owner: Option<String> = row.get(3)?;
                Ok(FoundAnswer {
                    fingerprint: row.get(0)?,
                    answer: Answer { status: row.get(1)?, body: row.get(2)? },
                    owner: owner.as_deref().and_then(EntityId::parse),
                })
            });
            Ok(found.optional()?)
        })
    }

    /// Deletes answers whose day is over, in writes of their own between those of others.
    ///
    /// # Errors
    /// Same as [`Store::update`].
    pub async fn purge_answers(&self, now: Timestamp) -> Result<(), StoreError> {
        while self.answers_due(now)? {
            self.purge_some_answers(now).await?;
        }
        Ok(())
    }

    fn answers_due(&self, now: Timestamp) -> Result<bool, StoreError> {
        self.read(|connection| {
            let query = "SELECT EXISTS (SELECT 1 FROM answer WHERE until <= ?1)";
            Ok(connection.prepare_cached(query)?.query_row([now.as_millisecond()], |row| row.get(0))?)
        })
    }

    async fn purge_some_answers(&self, now: Timestamp) -> Result<usize, StoreError> {
        self.run(move |connection| {
            Ok(connection.execute(
                "DELETE FROM answer WHERE (entity, key) IN
                     (SELECT entity, key FROM answer WHERE until <= ?1 ORDER BY until LIMIT ?2)",
                params![now.as_millisecond(), BATCH],
            )?)
        })
        .await
    }
}
