//! Review decision callbacks: the sealed configurations of entities, and the messages that tell of decisions. The
//! configuration of the nearest entity in the tree applies to a payment.

use jiff::Timestamp;
use tillgate_domain::id::{EntityId, MessageId};
use tillgate_domain::payment::Payment;
use tillgate_domain::review::decision::ReviewDecision;
use tillgate_engine::{Row, Session, params};
use tillgate_message::review_callback::CallbackDocument;
use tillgate_vault::Sealed;

use crate::admin::Act;
use crate::delivery::message;
use crate::delivery::message::MessageTarget;
use crate::delivery::webhook::timestamp_from_milliseconds;
use crate::document::encode_document;
use crate::keys::sealed::read_sealed;
use crate::payment::load::load_payment;
use crate::{AdminStore, Sources, Store, StoreError};

/// Kind of a message, as the log names it: a review decision callback.
pub const REVIEW_CALLBACK: &str = "review callback";

/// A configuration in its stored form.
#[derive(Debug, Clone)]
pub struct StoredCallback {
    /// The entity that owns it.
    pub entity: EntityId,
    /// The configuration, sealed by the vault.
    pub sealed: Sealed,
    /// True if it has an active destination, so that decisions cause callbacks.
    pub sends: bool,
    /// The time of its latest change.
    pub changed: Timestamp,
}

/// Columns of a configuration, in the order in which [`read_callback`] reads them.
const COLUMNS: &str = "review_callback.entity, sealed, sends, changed";

/// Writes the callback message of a decision about a stored payment. Returns true if a configuration with a destination
/// applies. Fails if the payment is not stored.
pub(crate) fn write_decision(
    session: &dyn Session,
    sources: &Sources,
    decision: &ReviewDecision,
) -> Result<bool, StoreError> {
    let Some(callback) = find_callback(session, &decision.entity)?.filter(|callback| callback.sends) else {
        return Ok(false);
    };
    let payment = load_payment(session, &decision.entity, &decision.payment)?;
    let payment = payment.ok_or_else(|| tillgate_engine::Error::unreadable(0, "payment of a review decision"))?;
    // The message contains the whole payment, including the parameters stored with an earlier attempt.
    let document = CallbackDocument { decision: decision.clone(), payment: Payment { shares: None, ..payment } };
    write_callback(session, sources, &callback.entity, &document)?;
    Ok(true)
}

/// Writes a message to the destination of a configuration. Returns its id.
fn write_callback(
    session: &dyn Session,
    sources: &Sources,
    callback: &EntityId,
    document: &CallbackDocument,
) -> Result<MessageId, StoreError> {
    let (encoded, entity) = (encode_document(document), &document.decision.entity);
    message::write_message(
        session,
        sources,
        entity,
        REVIEW_CALLBACK,
        &MessageTarget::ReviewCallback(callback.as_str(), &encoded),
    )
}

/// Loads the configuration that applies to an entity: its own, or else that of the nearest entity above.
pub(crate) fn find_callback(session: &dyn Session, entity: &EntityId) -> Result<Option<StoredCallback>, StoreError> {
    // The query climbs the tree of entities, which has at most four levels.
    let query = format!(
        "WITH RECURSIVE above (entity, distance) AS (
             SELECT ?1, 0
             UNION ALL SELECT entity.parent, distance + 1 FROM above JOIN entity ON entity.id = above.entity
                 WHERE entity.parent IS NOT NULL
         ) SELECT {COLUMNS} FROM above JOIN review_callback ON review_callback.entity = above.entity
             ORDER BY distance LIMIT 1"
    );
    Ok(session.query_optional(&query, [entity.as_str()], read_callback)?)
}

/// Loads an entity's own configuration.
pub(crate) fn load_callback(session: &dyn Session, entity: &str) -> Result<Option<StoredCallback>, StoreError> {
    let query = format!("SELECT {COLUMNS} FROM review_callback WHERE entity = ?1");
    Ok(session.query_optional(&query, [entity], read_callback)?)
}

/// Reads a configuration from a row with [`COLUMNS`].
fn read_callback(row: &Row<'_>) -> tillgate_engine::Result<StoredCallback> {
    let entity: String = row.get(0)?;
    Ok(StoredCallback {
        entity: EntityId::parse(&entity).ok_or_else(|| tillgate_engine::Error::unreadable(0, "id of an entity"))?,
        sealed: read_sealed(row, 1)?,
        sends: row.get(2)?,
        changed: timestamp_from_milliseconds(row.get(3)?),
    })
}

/// Moves a callback to the failed list after its last attempt, which was at `at`. A message of another kind stays as it
/// is.
pub(crate) fn move_to_failed(session: &dyn Session, message: &MessageId, at: Timestamp) -> Result<(), StoreError> {
    let (id, at) = (message.as_str(), at.as_millisecond());
    let query = "UPDATE message SET failed = ?2 WHERE id = ?1 AND callback IS NOT NULL AND due IS NULL";
    if session.execute(query, params![id, at])? == 1 {
        session.execute(
            "INSERT INTO review_callback_audit (at, entity, action, actor, message)
             SELECT ?2, callback, 'failed', 'tillgate', id FROM message WHERE id = ?1",
            params![id, at],
        )?;
    }
    Ok(())
}

impl Store {
    /// Loads the configuration that applies to an entity: its own, or else that of the nearest entity above.
    pub fn find_review_callback(&self, entity: &EntityId) -> Result<Option<StoredCallback>, StoreError> {
        self.run_read(|session| find_callback(session, entity))
    }
}

impl AdminStore {
    /// Loads an entity's own configuration.
    pub fn load_review_callback(&self, entity: &EntityId) -> Result<Option<StoredCallback>, StoreError> {
        load_callback(&*self.session, entity.as_str())
    }

    /// Same as [`Store::find_review_callback`].
    pub fn find_review_callback(&self, entity: &EntityId) -> Result<Option<StoredCallback>, StoreError> {
        find_callback(&*self.session, entity)
    }

    /// Stores an entity's configuration in place of the one before. Waiting callbacks are sent by the new one.
    ///
    /// # Errors
    /// If the store cannot be written, or there is no such entity.
    pub fn save_review_callback(&self, callback: &StoredCallback) -> Result<(), StoreError> {
        let (id, entity) = (callback.entity.as_str(), Some(&callback.entity));
        let act = Act { action: "review-callback set", subject: id, entity, details: &[] };
        self.execute_act(
            &act,
            "INSERT INTO review_callback (entity, sealed, sends, changed) VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT (entity) DO UPDATE SET sealed = ?2, sends = ?3, changed = ?4",
            params![
                callback.entity.as_str(),
                callback.sealed.as_bytes(),
                callback.sends,
                callback.changed.as_millisecond()
            ],
        )?;
        Ok(())
    }

    /// Deletes an entity's configuration, with the messages of it and their attempts. Run it in a transaction. Returns
    /// true if there was one.
    pub fn remove_review_callback(&self, entity: &EntityId) -> Result<bool, StoreError> {
        let id = entity.as_str();
        self.session
            .execute("DELETE FROM delivery WHERE message IN (SELECT id FROM message WHERE callback = ?1)", [id])?;
        self.session.execute("DELETE FROM message WHERE callback = ?1", [id])?;
        let act = Act { action: "review-callback remove", subject: id, entity: Some(entity), details: &[] };
        self.execute_act(&act, "DELETE FROM review_callback WHERE entity = ?1", [id])
    }

    /// Queues a sample callback for the destination of a configuration, due at once. Returns the message's id. Run it
    /// in a transaction.
    pub fn queue_review_callback(
        &self,
        callback: &EntityId,
        document: &CallbackDocument,
    ) -> Result<MessageId, StoreError> {
        let message = write_callback(&*self.session, &Sources::system(), callback, document)?;
        let (action, subject) = ("review-callback test", message.as_str());
        let details = [("transaction", document.decision.transaction_id.as_str())];
        self.record_act(&Act { action, subject, entity: Some(callback), details: &details }, |_| Ok(()))?;
        Ok(message)
    }
}
