//! The outbox: messages to be sent, written in the same commit as the change that they report.
//!
//! A message is claimed with a lease before it is sent. If the sender dies, the lease expires, or the restarted node
//! releases its own leases. Then the message is sent again with the same id. Messages that were delivered or abandoned
//! are kept for a while with every attempt, for inspection.

use std::time::Instant;

use jiff::{SignedDuration, Timestamp};
use tillgate_domain::delivery;
use tillgate_domain::id::{EntityId, MessageId};
use tillgate_engine::{Session, params};

use crate::delivery::webhook;
use crate::delivery::webhook::Webhook;
use crate::review::callback;
use crate::review::callback::StoredCallback;
use crate::write::changes::{Change, Stage, WriteContext};
use crate::{Changes, Sources, Store, StoreError};

/// Lease of a claimed message: longer than any delivery attempt, which takes half a minute, by more than the clocks of
/// two nodes differ. A node whose clock is ahead claims what another one has sent, and not what it is sending.
const LEASE: SignedDuration = SignedDuration::from_secs(60);
/// Maximum number of messages that one write deletes. Small, because the write blocks other writers.
const BATCH: u32 = 500;

/// Kind of a message, as the log names it: a reminder.
pub const REMINDER: &str = "reminder";
/// Kind of a message, as the log names it: a notification.
pub const NOTIFICATION: &str = "notification";

/// A claimed message.
#[derive(Debug, Clone)]
pub struct Message {
    /// The id, the same for every attempt.
    pub id: MessageId,
    /// The kind of message or the event that it reports.
    pub kind: String,
    /// The entity that it belongs to, or the merchant if that entity is a channel.
    pub owner: String,
    /// The queue. All messages of a queue go to one receiver.
    pub queue: String,
    /// The request to send.
    pub content: MessageContent,
    /// Number of failed attempts.
    pub failures: u32,
    /// The end of the claim in milliseconds since 1970, by which the claim is known.
    pub claimed: i64,
}

/// Content and receiver of a message.
#[derive(Debug, Clone)]
pub enum MessageContent {
    /// A GET request to an address.
    Get(String),
    /// A webhook, and the document to send to it.
    Webhook(Box<Webhook>, Vec<u8>),
    /// Nothing, because the webhook was deleted.
    DeletedWebhook,
    /// A review decision callback: its configuration, and its document.
    ReviewCallback(Box<StoredCallback>, Vec<u8>),
    /// Nothing, because the configuration of the callback was removed.
    RemovedCallback,
}

/// Result of a delivery attempt.
#[derive(Debug, Clone)]
pub struct DeliveryResult {
    /// The time at which it began.
    pub at: Timestamp,
    /// Its duration in milliseconds.
    pub milliseconds: i64,
    /// The HTTP status of the response.
    pub status: Option<u16>,
    /// The reason why there was no response.
    pub fault: Option<String>,
    /// The wait until the next attempt. `None` if there is no further attempt.
    pub retry_after: Option<SignedDuration>,
    /// True if the receiver accepted the message.
    pub accepted: bool,
}

/// A GET request to write to the outbox.
#[derive(Debug)]
struct OutgoingGet {
    entity: EntityId,
    kind: &'static str,
    address: String,
}

impl Changes {
    /// Queues a GET request to an address, due at once. `kind` is [`REMINDER`] or [`NOTIFICATION`].
    #[must_use]
    pub fn with_outgoing_get(self, entity: &EntityId, kind: &'static str, address: String) -> Self {
        self.with(OutgoingGet { entity: entity.clone(), kind, address })
    }
}

impl Change for OutgoingGet {
    fn stage(&self) -> Stage {
        Stage::OutgoingGet
    }

    fn apply(&self, context: &WriteContext<'_>) -> Result<bool, StoreError> {
        let Self { entity, kind, address } = self;
        write_message(context.session, context.sources, entity, kind, &MessageTarget::Address(address))?;
        Ok(true)
    }
}

/// Receiver of a message.
pub(crate) enum MessageTarget<'a> {
    /// An address, which gets a GET request.
    Address(&'a str),
    /// A webhook, and the document to send.
    Webhook(&'a str, &'a [u8]),
    /// The entity of a review callback's configuration, and the document.
    ReviewCallback(&'a str, &'a [u8]),
}

/// Writes a message that is due at once, and returns its id. Its queue is the host of the address, the webhook, or the
/// review callback. Its owner is the entity, or the merchant if the entity is a channel.
pub(crate) fn write_message(
    session: &dyn Session,
    sources: &Sources,
    entity: &EntityId,
    kind: &str,
    target: &MessageTarget<'_>,
) -> Result<MessageId, StoreError> {
    let (now, random) = (sources.now(), sources.random_bytes()?);
    // A queue has one receiver, so that a slow receiver delays only its own messages.
    let (queue, address, webhook, document, callback) = match target {
        MessageTarget::Address(address) => (delivery::queue_name(address), *address, None, None, None),
        MessageTarget::Webhook(id, document) => ((*id).to_owned(), "", Some(id), Some(document), None),
        MessageTarget::ReviewCallback(entity, document) => {
            (format!("review callback {entity}"), "", None, Some(document), Some(entity))
        }
    };
    let id = MessageId::new(next_id_time(session, now)?, random);
    session.send(
        "INSERT INTO message (id, entity, owner, queue, what, address, due, webhook, document, callback)
             VALUES (?1, ?2, coalesce((SELECT merchant FROM entity WHERE id = ?2), ?2), ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
        params![id.as_str(), entity.as_str(), queue, kind, address, now.as_millisecond(), webhook, document, callback],
    )?;
    Ok(id)
}

/// Returns the time for the next message's id: `now`, or a millisecond after the newest id if that is later. So ids
/// follow the order of the commits even if the machine's clock goes back. The query reads only the end of the table, to
/// which the new row will be added.
fn next_id_time(session: &dyn Session, now: Timestamp) -> Result<Timestamp, StoreError> {
    let newest: Option<String> = session.query_one("SELECT max(id) FROM message", (), |row| row.get(0))?;
    let after = |newest: Timestamp| newest.checked_add(SignedDuration::from_millis(1)).ok();
    let next = newest.and_then(|id| MessageId::parse(&id)?.creation_time()).and_then(after);
    Ok(next.map_or(now, |next| next.max(now)))
}

/// The columns of a message that name its receiver and its document.
struct StoredTarget {
    address: String,
    webhook: Option<String>,
    document: Option<Vec<u8>>,
    callback: Option<String>,
}

impl StoredTarget {
    /// Loads the webhook or the configuration, if the receiver is one.
    fn load_content(self, session: &dyn Session) -> Result<MessageContent, StoreError> {
        let document = self.document.unwrap_or_default();
        Ok(match (self.webhook, self.callback) {
            (Some(webhook), _) => match webhook::load_webhook(session, &webhook)? {
                Some(webhook) => MessageContent::Webhook(Box::new(webhook), document),
                None => MessageContent::DeletedWebhook,
            },
            (None, Some(entity)) => match callback::load_callback(session, &entity)? {
                Some(callback) => MessageContent::ReviewCallback(Box::new(callback), document),
                None => MessageContent::RemovedCallback,
            },
            (None, None) => MessageContent::Get(self.address),
        })
    }
}

impl Store {
    /// Claims messages for a node, for one minute. Returns those that are due and not claimed, in the given order;
    /// skips the others. A message of a deleted webhook or removed callback is returned without content.
    pub async fn claim_messages(
        &self,
        ids: Vec<MessageId>,
        node: String,
        now: Timestamp,
    ) -> Result<Vec<Message>, StoreError> {
        let asked = Instant::now();
        self.run_row_write(move |session| {
            // A minute from now, also if the write has waited or is made again. A clock that stands still is as good.
            let now = now + SignedDuration::from_secs(asked.elapsed().as_secs().cast_signed());
            // The conditions are checked again with the row, because another node may have claimed a message meanwhile.
            let claim = "UPDATE message SET leased = ?2, node = ?3 WHERE id = ?1 AND due <= ?4 AND leased <= ?4
                 RETURNING what, queue, failures, address, webhook, document, owner, callback";
            let mut claimed = Vec::with_capacity(ids.len());
            let until = (now + LEASE).as_millisecond();
            for id in &ids {
                let parameters = params![id.as_str(), until, node, now.as_millisecond()];
                let row = session.query_optional(claim, parameters, |row| {
                    let target = StoredTarget {
                        address: row.get(3)?,
                        webhook: row.get(4)?,
                        document: row.get(5)?,
                        callback: row.get(7)?,
                    };
                    Ok::<_, StoreError>((row.get(0)?, row.get(1)?, row.get(2)?, target, row.get(6)?))
                })?;
                let Some((kind, queue, failures, target, owner)) = row else { continue };
                let content = target.load_content(session)?;
                claimed.push(Message { id: id.clone(), kind, owner, queue, content, failures, claimed: until });
            }
            Ok(claimed)
        })
        .await
    }

    /// Records the result of a delivery attempt and releases the claim. With `retry_after`, counts a failure, and the
    /// message is due again after that wait, counted from the end of the attempt. Without it, the message is done,
    /// delivered or not; a review callback that is not accepted moves to the failed list. If the claim has ended and
    /// another sender has the message, only an accepted one is done, and a failure is left to that sender.
    pub async fn record_delivery_attempt(&self, message: &Message, attempt: DeliveryResult) -> Result<(), StoreError> {
        let (id, claimed) = (message.id.clone(), message.claimed);
        self.run_row_write(move |session| {
            let DeliveryResult { at, milliseconds, status, ref fault, retry_after, accepted } = attempt;
            let due = retry_after.map(|wait| (at + SignedDuration::from_millis(milliseconds) + wait).as_millisecond());
            // A process that was stopped while it sent must not make a message due that another one has delivered.
            let query = "UPDATE message SET due = ?2, leased = 0,
                    failures = failures + CASE WHEN CAST(?2 AS BIGINT) IS NULL THEN 0 ELSE 1 END
                WHERE id = ?1 AND (leased = ?3 OR ?4)";
            let has_claim = session.execute(query, params![id.as_str(), due, claimed, accepted])? == 1;
            session.send(
                "INSERT INTO delivery (message, at, milliseconds, status, fault) VALUES (?1, ?2, ?3, ?4, ?5)
                 ON CONFLICT (message, at) DO UPDATE SET milliseconds = ?3, status = ?4, fault = ?5",
                params![id.as_str(), at.as_millisecond(), milliseconds, status, fault],
            )?;
            if has_claim && !accepted && due.is_none() {
                callback::move_to_failed(session, &id, at)?;
            }
            Ok(())
        })
        .await
    }

    /// Releases all claims of a node that starts. Its previous process cannot be sending any more.
    pub async fn release_messages(&self, node: String) -> Result<(), StoreError> {
        self.run_write(move |session| {
            // With `due IS NOT NULL` SQLite uses the index of waiting messages, and does not read all that were
            // delivered.
            let query = "UPDATE message SET leased = 0 WHERE due IS NOT NULL AND leased > 0 AND node = ?1";
            Ok(session.execute(query, [&node]).map(drop)?)
        })
        .await
    }

    /// Returns the number of failed attempts since a moment for each queue that has any. An attempt fails without a
    /// response or with a status other than 2xx.
    pub fn count_failures_since(&self, moment: Timestamp) -> Result<Vec<(String, u32)>, StoreError> {
        self.run_read(|session| {
            let query = "SELECT queue, count(*) FROM delivery JOIN message ON message.id = delivery.message
                 WHERE at >= ?1 AND (status IS NULL OR status NOT BETWEEN 200 AND 299) GROUP BY queue";
            Ok(session.query_all(query, [moment.as_millisecond()], |row| row.read())?)
        })
    }

    /// Deletes at most 500 messages that were created more than 31 days ago and are delivered or abandoned, with their
    /// attempts. Those in the failed list stay. Checks with a reader first, so that an idle server writes nothing.
    pub async fn delete_expired_messages(&self, now: Timestamp) -> Result<(), StoreError> {
        // Ids begin with the time of creation, so the primary key leads to the oldest messages.
        let oldest_kept = MessageId::new(now - delivery::RETENTION, [0; 9]);
        let query = "SELECT id FROM message WHERE id < ?1 AND due IS NULL AND failed IS NULL ORDER BY id LIMIT ?2";
        let ids: Vec<String> = self.run_read(|session| {
            Ok(session.query_all(query, params![oldest_kept.as_str(), BATCH], |row| row.get(0))?)
        })?;
        if ids.is_empty() {
            return Ok(());
        }
        self.run_write(move |session| {
            for id in &ids {
                session.send("DELETE FROM delivery WHERE message = ?1", [id])?;
                session.send("DELETE FROM message WHERE id = ?1", [id])?;
            }
            Ok(())
        })
        .await
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::sync::Arc;

    use tillgate_os::clock::Clock;
    use tillgate_os::randomness::{NoRandomness, Randomness};

    use crate::delivery::message::*;

    /// A clock with a fixed time, and predictable bytes.
    struct FixedSources;

    impl Clock for FixedSources {
        fn now(&self) -> Timestamp {
            Timestamp::from_millisecond(7_000).unwrap()
        }
    }

    impl Randomness for FixedSources {
        fn fill_bytes(&self, bytes: &mut [u8]) -> Result<(), NoRandomness> {
            bytes.fill(9);
            Ok(())
        }
    }

    #[test]
    fn the_time_and_the_id_of_a_message_come_from_outside() {
        let folder = tempfile::tempdir().unwrap();
        let session = crate::place::open_for_writing::open_session(folder.path()).unwrap();
        let sources = Sources { clock: Arc::new(FixedSources), randomness: Arc::new(FixedSources), process: None };
        let entity = EntityId::new(Timestamp::UNIX_EPOCH, [1; 9]);
        write_message(&session, &sources, &entity, REMINDER, &MessageTarget::Address("https://shop.example/")).unwrap();
        let row: (String, i64) = session.query_one("SELECT id, due FROM message", (), |row| row.read()).unwrap();
        assert_eq!(row, (MessageId::new(FixedSources.now(), [9; 9]).as_str().to_owned(), 7_000));
    }

    #[test]
    fn messages_are_in_the_order_in_which_they_were_written_although_the_clock_goes_back() {
        let folder = tempfile::tempdir().unwrap();
        let session = crate::place::open_for_writing::open_session(folder.path()).unwrap();
        let mut previous = None;
        for now in [5_000, 5_000, 7_000, 1_000, 1_000, 6_999, 9_000] {
            let time = next_id_time(&session, Timestamp::from_millisecond(now).unwrap()).unwrap();
            assert!(Some(time) > previous && time.as_millisecond() >= now, "{previous:?} {time}");
            previous = Some(time);
            let id = MessageId::new(time, [0; 9]);
            let query = "INSERT INTO message (id, entity, queue, what, address) VALUES (?1, 'e', 'q', 'x', '')";
            session.execute(query, [id.as_str()]).unwrap();
        }
        assert_eq!(previous.unwrap().as_millisecond(), 9_000);
    }
}
