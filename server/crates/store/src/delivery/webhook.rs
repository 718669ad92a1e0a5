//! Webhooks: receivers of all events of an entity's payments and registrations, and of those of the entities below it.

use jiff::Timestamp;
use tillgate_domain::id::{EntityId, MessageId};
use tillgate_engine::{Params, Row, Session, params};
use tillgate_vault::Sealed;

use crate::admin::Act;
use crate::keys::sealed::{read_sealed, read_sealed_option};
use crate::{AdminStore, Store, StoreError};

/// A webhook in its stored form.
#[derive(Debug, Clone)]
pub struct Webhook {
    /// The id.
    pub id: MessageId,
    /// The entity that owns it.
    pub entity: EntityId,
    /// The address of the receiver.
    pub url: String,
    /// The secret, sealed by the vault.
    pub sealed: Sealed,
    /// The next secret, sealed as the same record. `None` if no rotation is in progress.
    pub next_secret: Option<Sealed>,
    /// The types of events that it subscribes to: `PAYMENT`, `REGISTRATION`, `SCHEDULE`, `RISK`, separated by commas.
    pub types: String,
    /// True if the shopper's data is left out of the payload.
    pub without_customer: bool,
    /// True if the ciphertext is sent inside JSON.
    pub wrapped: bool,
    /// True if its receiver has accepted a test. Before that, no messages are written for it.
    pub active: bool,
    /// The time of creation.
    pub created: Timestamp,
}

/// A line of the delivery log.
#[derive(Debug, Clone, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DeliveryLogEntry {
    /// The id of the message, the same for all its attempts.
    pub message_id: String,
    /// The event that it reports, such as `PAYMENT CREATED`.
    pub what: String,
    /// The beginning of the attempt. `None` if the message has not been tried yet.
    pub at: Option<Timestamp>,
    /// The duration of the attempt.
    pub milliseconds: Option<i64>,
    /// The HTTP status of the response.
    pub status: Option<u16>,
    /// The reason why there was no response.
    pub fault: Option<String>,
    /// The time of the message's next attempt. `None` if it was delivered or abandoned.
    pub next: Option<Timestamp>,
}

impl DeliveryLogEntry {
    /// Reads a line from a row with id, kind, time, duration, status and fault of the attempt, and the next attempt.
    pub(crate) fn read_row(row: &Row<'_>) -> tillgate_engine::Result<Self> {
        Ok(Self {
            message_id: row.get(0)?,
            what: row.get(1)?,
            at: row.get::<Option<i64>>(2)?.map(timestamp_from_milliseconds),
            milliseconds: row.get(3)?,
            status: row.get(4)?,
            fault: row.get(5)?,
            next: row.get::<Option<i64>>(6)?.map(timestamp_from_milliseconds),
        })
    }
}

impl Webhook {
    /// Returns the name of its record in the vault: its key is for this entity and this address only.
    pub fn record_name(entity: &EntityId, url: &str, id: &MessageId) -> String {
        format!("{entity}|{url}|webhook {id}")
    }

    /// Reads a webhook from a row with [`COLUMNS`]. An unreadable id is an error.
    fn read_row(row: &Row<'_>) -> tillgate_engine::Result<Self> {
        let (id, entity): (String, String) = (row.get(0)?, row.get(1)?);
        Ok(Self {
            id: MessageId::parse(&id).ok_or_else(|| tillgate_engine::Error::unreadable(0, "id of a webhook"))?,
            entity: EntityId::parse(&entity).ok_or_else(|| tillgate_engine::Error::unreadable(1, "id of an entity"))?,
            url: row.get(2)?,
            sealed: read_sealed(row, 3)?,
            types: row.get(4)?,
            without_customer: row.get(5)?,
            wrapped: row.get(6)?,
            active: row.get(7)?,
            created: timestamp_from_milliseconds(row.get(8)?),
            next_secret: read_sealed_option(row, 9)?,
        })
    }
}

/// Columns of a webhook, in the order in which [`Webhook::read_row`] reads them.
const COLUMNS: &str = "id, entity, url, sealed, types, without_customer, wrapped, active, created, next";

/// Loads a webhook by id.
pub(crate) fn load_webhook(session: &dyn Session, id: &str) -> Result<Option<Webhook>, StoreError> {
    let query = format!("SELECT {COLUMNS} FROM webhook WHERE id = ?1");
    Ok(session.query_optional(&query, [id], Webhook::read_row)?)
}

impl AdminStore {
    /// Adds a webhook as it is, also an inactive one.
    ///
    /// # Errors
    /// If the store cannot be written, or there is no such entity.
    pub fn add_webhook(&self, webhook: &Webhook) -> Result<(), StoreError> {
        // The rest of the address may be a secret.
        let details = [("host", find_host(&webhook.url)), ("types", &*webhook.types)];
        let (id, entity) = (webhook.id.as_str(), Some(&webhook.entity));
        let act = Act { action: "webhook create", subject: id, entity, details: &details };
        self.execute_act(
            &act,
            &format!("INSERT INTO webhook ({COLUMNS}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)"),
            params![
                webhook.id.as_str(),
                webhook.entity.as_str(),
                webhook.url,
                webhook.sealed.as_bytes(),
                webhook.types,
                webhook.without_customer,
                webhook.wrapped,
                webhook.active,
                webhook.created.as_millisecond(),
                webhook.next_secret.as_ref().map(Sealed::as_bytes)
            ],
        )?;
        Ok(())
    }

    /// Loads a webhook of any entity by id.
    pub fn load_webhook(&self, id: &str) -> Result<Option<Webhook>, StoreError> {
        load_webhook(&*self.session, id)
    }

    /// Loads the webhooks of one entity, without those of other entities in the tree, or of all with `None`. Oldest
    /// first.
    pub fn load_webhooks(&self, entity: Option<&EntityId>) -> Result<Vec<Webhook>, StoreError> {
        match entity {
            Some(entity) => load_webhooks_of(&*self.session, entity),
            None => {
                let query = format!("SELECT {COLUMNS} FROM webhook ORDER BY id");
                Ok(self.session.query_all(&query, (), Webhook::read_row)?)
            }
        }
    }

    /// Records that a webhook's receiver has accepted a test under a secret, so that events are written for it. Returns
    /// false if the webhook is gone or has another secret by now.
    pub fn activate_webhook(&self, id: &MessageId, tested: &Sealed) -> Result<bool, StoreError> {
        let query = "UPDATE webhook SET active = TRUE WHERE id = ?1 AND sealed = ?2";
        self.change_webhook(id, "webhook activate", query, params![id.as_str(), tested.as_bytes()])
    }

    /// Begins the rotation of a secret, or cancels it with `None`. Returns false if a rotation is in progress already,
    /// if there is none to cancel, or if there is no such webhook.
    pub fn set_next_webhook_secret(&self, id: &MessageId, next: Option<&Sealed>) -> Result<bool, StoreError> {
        // The condition allows a rotation only if none runs, and a cancellation only if one does.
        let query = "UPDATE webhook SET next = ?2 WHERE id = ?1 AND (next IS NULL) = (CAST(?2 AS BLOB) IS NOT NULL)";
        let action = if next.is_some() { "webhook rotate" } else { "webhook cancel-rotation" };
        self.change_webhook(id, action, query, params![id.as_str(), next.map(Sealed::as_bytes)])
    }

    /// Runs a statement that changes a webhook, with its entry in the audit log. Returns true if it changes it.
    fn change_webhook(
        &self,
        id: &MessageId,
        action: &'static str,
        statement: &str,
        parameters: impl Params,
    ) -> Result<bool, StoreError> {
        // Loaded before the statement, which may delete the webhook.
        let entity = self.load_webhook(id.as_str())?.map(|webhook| webhook.entity);
        let act = Act { action, subject: id.as_str(), entity: entity.as_ref(), details: &[] };
        self.execute_act(&act, statement, parameters)
    }

    /// Replaces the secret with the next one and deletes the old one. Returns false if `next` is not the next secret
    /// any more.
    pub fn finish_webhook_rotation(&self, id: &MessageId, next: &Sealed) -> Result<bool, StoreError> {
        // The rotation may have been cancelled and begun again meanwhile, with another secret.
        let query = "UPDATE webhook SET sealed = next, next = NULL WHERE id = ?1 AND next = ?2";
        self.change_webhook(id, "webhook finish-rotation", query, params![id.as_str(), next.as_bytes()])
    }

    /// Ends the messages of a webhook, so that no further ones are written.
    pub fn deactivate_webhook(&self, id: &MessageId) -> Result<bool, StoreError> {
        let query = "UPDATE webhook SET active = FALSE WHERE id = ?1 AND active";
        self.change_webhook(id, "webhook deactivate", query, [id.as_str()])
    }

    /// Deletes messages of a webhook with their attempts, at most `limit`. Returns their number.
    pub fn delete_webhook_messages(&self, id: &MessageId, limit: u32) -> Result<usize, StoreError> {
        let some = "SELECT id FROM message WHERE webhook = ?1 ORDER BY id LIMIT ?2";
        let query = format!("DELETE FROM delivery WHERE message IN ({some})");
        self.session.execute(&query, params![id.as_str(), limit])?;
        Ok(self.session.execute(&format!("DELETE FROM message WHERE id IN ({some})"), params![id.as_str(), limit])?)
    }

    /// Deletes a webhook with its secret, its messages and its log. Run it in a transaction, so that either all or
    /// nothing is deleted. Returns true if there was one.
    pub fn delete_webhook(&self, id: &MessageId) -> Result<bool, StoreError> {
        let text = id.as_str();
        self.session
            .execute("DELETE FROM delivery WHERE message IN (SELECT id FROM message WHERE webhook = ?1)", [text])?;
        self.session.execute("DELETE FROM message WHERE webhook = ?1", [text])?;
        self.change_webhook(id, "webhook delete", "DELETE FROM webhook WHERE id = ?1", [text])
    }

    /// Loads the attempts of a webhook's messages, the latest message and attempt first: at most `limit` lines. A
    /// message without an attempt is one line.
    pub fn load_webhook_log(&self, id: &MessageId, limit: u32) -> Result<Vec<DeliveryLogEntry>, StoreError> {
        load_log(&*self.session, id.as_str(), limit)
    }

    /// Queues a webhook's message to be sent again at once, whatever its state is, and forgets its failures. Returns
    /// false if it is unknown, or does not go to this webhook, or to any webhook with `None`.
    pub fn replay_message(
        &self,
        wanted: Option<&MessageId>,
        message: &str,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let find = "SELECT webhook FROM message WHERE id = ?1 AND webhook IS NOT NULL";
        let webhook: Option<String> = self.session.query_optional(find, [message], |row| row.get(0))?;
        let Some(webhook) = webhook else { return Ok(false) };
        if wanted.is_some_and(|wanted| wanted.as_str() != webhook) {
            return Ok(false);
        }
        let entity = self.load_webhook(&webhook)?.map(|webhook| webhook.entity);
        let details = [("webhook", webhook.as_str())];
        let act = Act { action: "webhook replay", subject: message, entity: entity.as_ref(), details: &details };
        let query = "UPDATE message SET due = ?2, failures = 0, leased = 0 WHERE id = ?1 AND webhook IS NOT NULL";
        self.execute_act(&act, query, params![message, now.as_millisecond()])
    }
}

impl Store {
    /// Loads the webhooks of entities, in the order of the entities, oldest first. At most `limit`.
    pub fn load_webhooks(&self, entities: &[EntityId], limit: usize) -> Result<Vec<Webhook>, StoreError> {
        self.run_read(|session| {
            let mut found = Vec::new();
            for entity in entities {
                found.extend(load_webhooks_of(session, entity)?);
                if found.len() >= limit {
                    break;
                }
            }
            found.truncate(limit);
            Ok(found)
        })
    }

    /// Loads a webhook of any entity by id, with the attempts of its messages, the latest message and attempt first: at
    /// most `limit` lines.
    pub fn load_webhook_with_log(
        &self,
        id: &str,
        limit: u32,
    ) -> Result<Option<(Webhook, Vec<DeliveryLogEntry>)>, StoreError> {
        self.run_read(|session| {
            let Some(webhook) = load_webhook(session, id)? else { return Ok(None) };
            let log = load_log(session, id, limit)?;
            Ok(Some((webhook, log)))
        })
    }
}

fn load_webhooks_of(session: &dyn Session, entity: &EntityId) -> Result<Vec<Webhook>, StoreError> {
    let query = format!("SELECT {COLUMNS} FROM webhook WHERE entity = ?1 ORDER BY id");
    Ok(session.query_all(&query, [entity.as_str()], Webhook::read_row)?)
}

fn load_log(session: &dyn Session, webhook: &str, limit: u32) -> Result<Vec<DeliveryLogEntry>, StoreError> {
    let query = "SELECT message.id, what, at, milliseconds, status, fault, due
         FROM message LEFT JOIN delivery ON delivery.message = message.id
         WHERE webhook = ?1 ORDER BY message.id DESC, at DESC LIMIT ?2";
    Ok(session.query_all(query, params![webhook, limit], DeliveryLogEntry::read_row)?)
}

/// Returns host and port of an address.
fn find_host(url: &str) -> &str {
    let (_, rest) = url.split_once("://").unwrap_or(("", url));
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    // The part before the last `@` may be a password.
    authority.rsplit('@').next().unwrap_or_default()
}

/// Returns the time of a column in milliseconds since 1970, or 1970 if it is out of range.
pub(crate) fn timestamp_from_milliseconds(milliseconds: i64) -> Timestamp {
    Timestamp::from_millisecond(milliseconds).unwrap_or(Timestamp::UNIX_EPOCH)
}
