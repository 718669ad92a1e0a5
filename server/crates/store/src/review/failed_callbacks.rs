//! The failed list of review decision callbacks, and the audit of what was done with callbacks and configurations.

use jiff::Timestamp;
use serde::Serialize;
use tillgate_domain::id::EntityId;
use tillgate_engine::{Row, Session, params};

use crate::admin::Act;
use crate::delivery::webhook::DeliveryLogEntry;
use crate::delivery::webhook::timestamp_from_milliseconds;
use crate::{AdminStore, Store, StoreError};

/// A callback that no attempt delivered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FailedCallback {
    /// The id of the message.
    pub message_id: String,
    /// The entity whose configuration sends it.
    pub callback_entity_id: String,
    /// The entity of the payment.
    pub entity_id: String,
    /// The id of the payment.
    pub payment_id: String,
    /// The id by which both systems know the transaction.
    pub transaction_id: String,
    /// The decision.
    pub decision: String,
    /// The time of the last attempt.
    pub failed: Timestamp,
    /// The status of the last response.
    pub status: Option<u16>,
    /// The reason why the last attempt got no response.
    pub fault: Option<String>,
    /// True if it was sent again already. Then it can only be deleted.
    pub resubmitted: bool,
}

/// A line of the audit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CallbackAuditEntry {
    /// The time.
    pub at: Timestamp,
    /// The action: `set`, `activate`, `remove`, `test`, `failed`, `resubmit` or `delete`.
    pub action: String,
    /// The person or program that acted.
    pub actor: String,
    /// The message, if the action is about one.
    pub message_id: Option<String>,
    /// The transaction of a deleted message, or the active destination.
    pub detail: Option<String>,
}

/// Outcome of an action on the failed list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailedListOutcome {
    /// The action is done.
    Done,
    /// The message is not in the list.
    NotListed,
    /// The message was sent again already.
    AlreadyResubmitted,
}

/// The transaction id in a message's document.
const TRANSACTION: &str = "json_extract(CAST(document AS TEXT), '$.decision.transaction_id')";

/// Query of the failed lists of all configurations.
const FAILED_CALLBACKS: &str = "SELECT message.id, callback, entity,
         json_extract(CAST(document AS TEXT), '$.decision.payment'),
         json_extract(CAST(document AS TEXT), '$.decision.transaction_id'),
         json_extract(CAST(document AS TEXT), '$.decision.decision'), failed, resubmitted,
         (SELECT status FROM delivery WHERE delivery.message = message.id ORDER BY at DESC LIMIT 1),
         (SELECT fault FROM delivery WHERE delivery.message = message.id ORDER BY at DESC LIMIT 1)
     FROM message WHERE callback IS NOT NULL AND failed IS NOT NULL";

/// A limit that leaves nothing out.
const NO_LIMIT: i64 = i64::MAX;

impl Store {
    /// Loads the failed lists of the configurations of entities, in the order of the entities, oldest first. At most
    /// `limit`.
    pub fn load_failed_callbacks(&self, callbacks: &[EntityId], limit: u32) -> Result<Vec<FailedCallback>, StoreError> {
        self.run_read(|session| {
            let mut found = Vec::new();
            for callback in callbacks {
                let rest = i64::from(limit) - i64::try_from(found.len()).unwrap_or(i64::MAX);
                if rest <= 0 {
                    break;
                }
                found.extend(load_failed(session, callback, rest)?);
            }
            Ok(found)
        })
    }

    /// Finds the entity whose configuration sends a callback that is in a failed list.
    pub fn find_callback_owner(&self, message: &str) -> Result<Option<EntityId>, StoreError> {
        self.run_read(|session| {
            let query = "SELECT callback FROM message WHERE id = ?1 AND callback IS NOT NULL AND failed IS NOT NULL";
            let found: Option<String> = session.query_optional(query, [message], |row| row.get(0))?;
            Ok(found.as_deref().and_then(EntityId::parse))
        })
    }
}

/// Loads the failed list of a configuration, oldest first.
fn load_failed(session: &dyn Session, callback: &EntityId, limit: i64) -> Result<Vec<FailedCallback>, StoreError> {
    let query = format!("{FAILED_CALLBACKS} AND callback = ?1 ORDER BY message.id LIMIT ?2");
    Ok(session.query_all(&query, params![callback.as_str(), limit], read_failed)?)
}

/// Reads a row of [`FAILED_CALLBACKS`].
fn read_failed(row: &Row<'_>) -> tillgate_engine::Result<FailedCallback> {
    Ok(FailedCallback {
        message_id: row.get(0)?,
        callback_entity_id: row.get(1)?,
        entity_id: row.get(2)?,
        payment_id: row.get(3)?,
        transaction_id: row.get(4)?,
        decision: row.get(5)?,
        failed: timestamp_from_milliseconds(row.get(6)?),
        resubmitted: row.get(7)?,
        status: row.get(8)?,
        fault: row.get(9)?,
    })
}

impl AdminStore {
    /// Loads the failed list of an entity's configuration, or all of them with `None`. Oldest first.
    pub fn load_failed_callbacks(&self, callback: Option<&EntityId>) -> Result<Vec<FailedCallback>, StoreError> {
        match callback {
            Some(callback) => load_failed(&*self.session, callback, NO_LIMIT),
            None => {
                let query = format!("{FAILED_CALLBACKS} ORDER BY message.id");
                Ok(self.session.query_all(&query, (), read_failed)?)
            }
        }
    }

    /// Returns the numbers of callbacks that wait, and of those in the failed list.
    pub fn count_open_callbacks(&self, callback: &EntityId) -> Result<(u32, u32), StoreError> {
        let query = "SELECT count(due), count(failed) FROM message WHERE callback = ?1";
        Ok(self.session.query_one(query, [callback.as_str()], |row| row.read())?)
    }

    /// Takes a callback from the failed list, and queues it at once with all its retries. Records it in the audit. Run
    /// it in a transaction.
    pub fn resubmit_callback(
        &self,
        message: &str,
        actor: &str,
        now: Timestamp,
    ) -> Result<FailedListOutcome, StoreError> {
        let Some((callback, _, resubmitted)) = self.find_failed(message)? else {
            return Ok(FailedListOutcome::NotListed);
        };
        if resubmitted {
            return Ok(FailedListOutcome::AlreadyResubmitted);
        }
        let query =
            "UPDATE message SET due = ?2, failures = 0, leased = 0, failed = NULL, resubmitted = 1 WHERE id = ?1";
        let (entity, details) = (EntityId::parse(&callback), [("by", actor)]);
        let (action, entity) = ("review-callback resubmit", entity.as_ref());
        let act = Act { action, subject: message, entity, details: &details };
        self.execute_act(&act, query, params![message, now.as_millisecond()])?;
        self.record_callback_action(&callback, "resubmit", actor, Some(message), None, now)?;
        Ok(FailedListOutcome::Done)
    }

    /// Deletes a callback of the failed list with its attempts. Records it in the audit. Run it in a transaction.
    pub fn delete_failed_callback(
        &self,
        message: &str,
        actor: &str,
        now: Timestamp,
    ) -> Result<FailedListOutcome, StoreError> {
        let Some((callback, transaction, _)) = self.find_failed(message)? else {
            return Ok(FailedListOutcome::NotListed);
        };
        self.session.execute("DELETE FROM delivery WHERE message = ?1", [message])?;
        let (entity, details) = (EntityId::parse(&callback), [("by", actor), ("transaction", &*transaction)]);
        let (action, entity) = ("review-callback delete", entity.as_ref());
        let act = Act { action, subject: message, entity, details: &details };
        self.execute_act(&act, "DELETE FROM message WHERE id = ?1", [message])?;
        self.record_callback_action(&callback, "delete", actor, Some(message), Some(&transaction), now)?;
        Ok(FailedListOutcome::Done)
    }

    /// Returns the configuration's entity, the transaction id, and true if it was resubmitted, of a message in the
    /// failed list.
    fn find_failed(&self, message: &str) -> Result<Option<(String, String, bool)>, StoreError> {
        let query =
            format!("SELECT callback, {TRANSACTION}, resubmitted FROM message WHERE id = ?1 AND failed IS NOT NULL");
        let row = self.session.query_optional(&query, [message], |row| row.read());
        Ok(row?)
    }

    /// Adds a line to the audit of an entity's configuration.
    pub fn record_callback_action(
        &self,
        entity: &str,
        action: &str,
        actor: &str,
        message: Option<&str>,
        detail: Option<&str>,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        self.session.execute(
            "INSERT INTO review_callback_audit (at, entity, action, actor, message, detail)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            params![now.as_millisecond(), entity, action, actor, message, detail],
        )?;
        Ok(())
    }

    /// Loads the audit of an entity's configuration, the latest line first, at most `limit`.
    pub fn load_callback_audit(&self, entity: &EntityId, limit: u32) -> Result<Vec<CallbackAuditEntry>, StoreError> {
        let query = "SELECT at, action, actor, message, detail FROM review_callback_audit WHERE entity = ?1
             ORDER BY number DESC LIMIT ?2";
        self.session.query_all(query, params![entity.as_str(), limit], |row| {
            Ok(CallbackAuditEntry {
                at: timestamp_from_milliseconds(row.get(0)?),
                action: row.get(1)?,
                actor: row.get(2)?,
                message_id: row.get(3)?,
                detail: row.get(4)?,
            })
        })
    }

    /// Loads the attempts of a configuration's callbacks, the latest message and attempt first: at most `limit` lines.
    /// A callback without an attempt is one line.
    pub fn load_callback_log(&self, callback: &EntityId, limit: u32) -> Result<Vec<DeliveryLogEntry>, StoreError> {
        let query = "SELECT message.id, what, at, milliseconds, status, fault, due
             FROM message LEFT JOIN delivery ON delivery.message = message.id
             WHERE callback = ?1 ORDER BY message.id DESC, at DESC LIMIT ?2";
        Ok(self.session.query_all(query, params![callback.as_str(), limit], DeliveryLogEntry::read_row)?)
    }
}
