//! Webhooks: where an entity is told of everything that becomes of its payments and registrations, and of those of what is below it.

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::{AdminStore, StoreError};
use crate::domain::id::{EntityId, MessageId};

/// A webhook as it is stored.
#[derive(Debug, Clone)]
pub struct Webhook {
    /// Its id.
    pub id: MessageId,
    /// Whose it is.
    pub entity: EntityId,
    /// Where to.
    pub url: String,
    /// Its secret, sealed in the vault.
    pub sealed: Vec<u8>,
    /// The secret that is to take its place, sealed as the same record; `None` if no rotation is under way.
    pub next: Option<Vec<u8>>,
    /// What it tells of: `PAYMENT`, `REGISTRATION`, `SCHEDULE`, `RISK`, with commas between.
    pub types: String,
    /// Whether what is known of the shopper is left out.
    pub without_customer: bool,
    /// Whether the ciphertext goes inside JSON.
    pub wrapped: bool,
    /// Whether its receiver has taken a test. Nothing is written for it before.
    pub active: bool,
    /// When it was made.
    pub created: Timestamp,
}

/// A line of the log.
#[derive(Debug, Clone, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Delivery {
    /// The message; every attempt of it has the same.
    pub message_id: String,
    /// What it tells, such as `PAYMENT CREATED`.
    pub what: String,
    /// When the attempt began; none of a message that was not tried yet.
    pub at: Option<Timestamp>,
    /// How long it took.
    pub milliseconds: Option<i64>,
    /// What was answered.
    pub status: Option<u16>,
    /// Why nothing was.
    pub fault: Option<String>,
    /// When the message is tried the next time; none of one that was taken, or given up.
    pub next: Option<Timestamp>,
}

impl Webhook {
    /// The name of its key's record in the vault; no other record's name looks like it.
    pub fn record(id: &MessageId) -> String {
        format!("webhook {id}")
    }

    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        let (id, entity): (String, String) = (row.get(0)?, row.get(1)?);
        Ok(Self {
            id: MessageId::parse(&id).ok_or(rusqlite::Error::InvalidQuery)?,
            entity: EntityId::parse(&entity).ok_or(rusqlite::Error::InvalidQuery)?,
            url: row.get(2)?,
            sealed: row.get(3)?,
            types: row.get(4)?,
            without_customer: row.get(5)?,
            wrapped: row.get(6)?,
            active: row.get(7)?,
            created: instant(row.get(8)?),
            next: row.get(9)?,
        })
    }
}

const COLUMNS: &str = "id, entity, url, sealed, types, without_customer, wrapped, active, created, next";

/// Loads a webhook by id.
pub(super) fn find(connection: &Connection, id: &str) -> Result<Option<Webhook>, StoreError> {
    let mut statement = connection.prepare_cached(&format!("SELECT {COLUMNS} FROM webhook WHERE id = ?1"))?;
    Ok(statement.query_row([id], Webhook::read).optional()?)
}

impl AdminStore {
    /// Adds a webhook.
    ///
    /// # Errors
    /// When the store cannot be written, or there is no such entity.
    pub fn add_webhook(&self, webhook: &Webhook) -> Result<(), StoreError> {
        self.connection.execute(
            &format!("INSERT INTO webhook ({COLUMNS}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)"),
            params![
                webhook.id.as_str(),
                webhook.entity.as_str(),
                webhook.url,
                webhook.sealed,
                webhook.types,
                webhook.without_customer,
                webhook.wrapped,
                webhook.active,
                webhook.created.as_millisecond(),
                webhook.next
            ],
        )?;
        Ok(())
    }

    /// Loads a webhook by id.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn webhook(&self, id: &str) -> Result<Option<Webhook>, StoreError> {
        find(&self.connection, id)
    }

    /// Loads the webhooks of an entity, or all, oldest first.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn webhooks(&self, entity: Option<&EntityId>) -> Result<Vec<Webhook>, StoreError> {
        let query = format!("SELECT {COLUMNS} FROM webhook WHERE ?1 IS NULL OR entity = ?1 ORDER BY id");
        let mut statement = self.connection.prepare(&query)?;
        let rows = statement.query_map([entity.map(EntityId::as_str)], Webhook::read)?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Notes that a webhook's receiver has taken a test.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub fn activate_webhook(&self, id: &MessageId) -> Result<(), StoreError> {
        self.connection.execute("UPDATE webhook SET active = 1 WHERE id = ?1", [id.as_str()])?;
        Ok(())
    }

    /// Begins the rotation of a secret, or cancels it with `None`. Returns false if that was done already.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub fn set_next_webhook_secret(&self, id: &MessageId, next: Option<&[u8]>) -> Result<bool, StoreError> {
        let query = "UPDATE webhook SET next = ?2 WHERE id = ?1 AND (next IS NULL) = (?2 IS NOT NULL)";
        Ok(self.connection.execute(query, params![id.as_str(), next])? == 1)
    }

    /// Puts the next secret in the place of the old one, which is deleted. Returns false if it is no longer the next one.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub fn finish_webhook_rotation(&self, id: &MessageId, next: &[u8]) -> Result<bool, StoreError> {
        let query = "UPDATE webhook SET sealed = next, next = NULL WHERE id = ?1 AND next = ?2";
        Ok(self.connection.execute(query, params![id.as_str(), next])? == 1)
    }

    /// Deletes a webhook with its key, its messages and its log. Returns true if there was one.
    ///
    /// # Errors
    /// When the store cannot be written. Run it in a transaction: else a part may be deleted.
    pub fn delete_webhook(&self, id: &MessageId) -> Result<bool, StoreError> {
        let id = id.as_str();
        self.connection
            .execute("DELETE FROM delivery WHERE message IN (SELECT id FROM message WHERE webhook = ?1)", [id])?;
        self.connection.execute("DELETE FROM message WHERE webhook = ?1", [id])?;
        Ok(self.connection.execute("DELETE FROM webhook WHERE id = ?1", [id])? == 1)
    }

    /// Loads the latest attempts of a webhook, and what was not tried yet, the latest message first: at most `most` lines.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn webhook_log(&self, id: &MessageId, most: u32) -> Result<Vec<Delivery>, StoreError> {
        let mut statement = self.connection.prepare(
            "SELECT message.id, what, at, milliseconds, status, fault, due
             FROM message LEFT JOIN delivery ON delivery.message = message.id
             WHERE webhook = ?1 ORDER BY message.id DESC, at DESC LIMIT ?2",
        )?;
        let rows = statement.query_map(params![id.as_str(), most], |row| {
            Ok(Delivery {
                message_id: row.get(0)?,
                what: row.get(1)?,
                at: row.get::<_, Option<i64>>(2)?.map(instant),
                milliseconds: row.get(3)?,
                status: row.get(4)?,
                fault: row.get(5)?,
                next: row.get::<_, Option<i64>>(6)?.map(instant),
            })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Has a message of a webhook sent again at once, whatever became of it. Returns true if there is one.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub fn replay_message(&self, message: &str, now: Timestamp) -> Result<bool, StoreError> {
        let query = "UPDATE message SET due = ?2, failures = 0, leased = 0 WHERE id = ?1 AND webhook IS NOT NULL";
        Ok(self.connection.execute(query, params![message, now.as_millisecond()])? == 1)
    }
}

fn instant(milliseconds: i64) -> Timestamp {
    Timestamp::from_millisecond(milliseconds).unwrap_or(Timestamp::UNIX_EPOCH)
}
