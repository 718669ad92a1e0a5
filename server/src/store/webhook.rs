//! Webhooks: where an entity is told of everything that becomes of its payments and registrations, and of those of its channels.

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::StoreError;
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

/// Adds a webhook.
///
/// # Errors
/// When the store cannot be written, or there is no such entity.
pub fn add(connection: &Connection, webhook: &Webhook) -> Result<(), StoreError> {
    connection.execute(
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

/// A webhook by id.
///
/// # Errors
/// When the store cannot be read.
pub fn find(connection: &Connection, id: &str) -> Result<Option<Webhook>, StoreError> {
    let mut statement = connection.prepare_cached(&format!("SELECT {COLUMNS} FROM webhook WHERE id = ?1"))?;
    Ok(statement.query_row([id], Webhook::read).optional()?)
}

/// The webhooks of an entity, or all, oldest first.
///
/// # Errors
/// When the store cannot be read.
pub fn list(connection: &Connection, entity: Option<&EntityId>) -> Result<Vec<Webhook>, StoreError> {
    let query = format!("SELECT {COLUMNS} FROM webhook WHERE ?1 IS NULL OR entity = ?1 ORDER BY id");
    let mut statement = connection.prepare(&query)?;
    let rows = statement.query_map([entity.map(EntityId::as_str)], Webhook::read)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Notes that a webhook's receiver has taken a test.
///
/// # Errors
/// When the store cannot be written.
pub fn activate(connection: &Connection, id: &MessageId) -> Result<(), StoreError> {
    connection.execute("UPDATE webhook SET active = 1 WHERE id = ?1", [id.as_str()])?;
    Ok(())
}

/// Begins the rotation of a secret, or cancels it with `None`. Returns false if that was done already.
///
/// # Errors
/// When the store cannot be written.
pub fn set_next(connection: &Connection, id: &MessageId, next: Option<&[u8]>) -> Result<bool, StoreError> {
    let query = "UPDATE webhook SET next = ?2 WHERE id = ?1 AND (next IS NULL) = (?2 IS NOT NULL)";
    Ok(connection.execute(query, params![id.as_str(), next])? == 1)
}

/// Puts the next secret in the place of the old one, which is deleted. Returns false if it is no longer the next one.
///
/// # Errors
/// When the store cannot be written.
pub fn finish_rotation(connection: &Connection, id: &MessageId, next: &[u8]) -> Result<bool, StoreError> {
    let query = "UPDATE webhook SET sealed = next, next = NULL WHERE id = ?1 AND next = ?2";
    Ok(connection.execute(query, params![id.as_str(), next])? == 1)
}

/// Deletes a webhook with its key, its messages and its log. Returns whether there was one.
///
/// # Errors
/// When the store cannot be written.
pub fn delete(connection: &Connection, id: &str) -> Result<bool, StoreError> {
    connection.execute("DELETE FROM delivery WHERE message IN (SELECT id FROM message WHERE webhook = ?1)", [id])?;
    connection.execute("DELETE FROM message WHERE webhook = ?1", [id])?;
    Ok(connection.execute("DELETE FROM webhook WHERE id = ?1", [id])? == 1)
}

/// The latest attempts of a webhook, and what was not tried yet, the latest message first: at most `most` lines.
///
/// # Errors
/// When the store cannot be read.
pub fn log(connection: &Connection, id: &str, most: u32) -> Result<Vec<Delivery>, StoreError> {
    let mut statement = connection.prepare(
        "SELECT message.id, what, at, milliseconds, status, fault, due
         FROM message LEFT JOIN delivery ON delivery.message = message.id
         WHERE webhook = ?1 ORDER BY message.id DESC, at DESC LIMIT ?2",
    )?;
    let rows = statement.query_map(params![id, most], |row| {
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

/// Has a message of a webhook sent again at once, whatever became of it. Returns whether there is one.
///
/// # Errors
/// When the store cannot be written.
pub fn replay(connection: &Connection, message: &str, now: Timestamp) -> Result<bool, StoreError> {
    let query = "UPDATE message SET due = ?2, failures = 0, leased = 0 WHERE id = ?1 AND webhook IS NOT NULL";
    Ok(connection.execute(query, params![message, now.as_millisecond()])? == 1)
}

fn instant(milliseconds: i64) -> Timestamp {
    Timestamp::from_millisecond(milliseconds).unwrap_or(Timestamp::UNIX_EPOCH)
}
