//! The outbox: requests that are to leave, written in the commit of what they tell of.
//!
//! A message is claimed with a lease before it is sent. Who sends it and dies leaves the lease to run out, or is started again
//! and takes its own leases back; then the message is sent again, with the same id. What was sent, or given up, stays for
//! a while, with every attempt, so that it can be looked at.

use jiff::{SignedDuration, Timestamp};
use rusqlite::{Connection, OptionalExtension as _, params};

use super::webhook::{self, Webhook};
use super::{Changes, Sources, Store, StoreError};
use crate::domain::delivery;
use crate::domain::id::{EntityId, MessageId};

/// How long a claimed message is left to who claimed it: longer than any attempt takes.
const LEASE: SignedDuration = SignedDuration::from_secs(60);
/// A batch is short, for it holds up who writes meanwhile.
const BATCH: u32 = 500;

/// What a message tells, as the log names it.
pub const REMINDER: &str = "reminder";
/// As [`REMINDER`].
pub const NOTIFICATION: &str = "notification";

/// A message that somebody has claimed.
#[derive(Debug, Clone)]
pub struct Message {
    /// Its id, the same for every attempt.
    pub id: MessageId,
    /// What it tells.
    pub what: String,
    /// The entity that it belongs to, or the merchant of that channel.
    pub owner: String,
    /// Messages of one queue are for one receiver.
    pub queue: String,
    /// Where to.
    pub content: Content,
    /// How often it was tried in vain.
    pub failures: u32,
}

/// What is sent where.
#[derive(Debug, Clone)]
pub enum Content {
    /// An address that is asked for with GET.
    Get(String),
    /// What was written, told to a webhook.
    Webhook(Box<Webhook>, Vec<u8>),
    /// There is nothing to send any more.
    Nothing,
}

/// How an attempt went.
#[derive(Debug, Clone)]
pub struct Attempt {
    /// When it began.
    pub at: Timestamp,
    /// How long it took, in milliseconds.
    pub milliseconds: i64,
    /// The status that was answered.
    pub status: Option<u16>,
    /// Why none was.
    pub fault: Option<String>,
    /// How long to wait for the next attempt; none after the last one.
    pub again: Option<SignedDuration>,
}

/// A request that is asked for with GET, to write.
#[derive(Debug)]
pub(super) struct Get {
    pub(super) entity: EntityId,
    pub(super) what: &'static str,
    pub(super) address: String,
}

impl Changes {
    /// Has an address asked for.
    #[must_use]
    pub fn get(mut self, entity: &EntityId, what: &'static str, address: String) -> Self {
        self.gets.push(Get { entity: entity.clone(), what, address });
        self
    }
}

/// Where a message goes.
pub(super) enum To<'a> {
    /// To an address, which is asked for.
    Address(&'a str),
    /// To a webhook, which is told this.
    Webhook(&'a str, &'a [u8]),
}

/// Writes a message that is due at once.
pub(super) fn write(
    connection: &Connection,
    sources: &Sources,
    entity: &EntityId,
    what: &str,
    to: &To<'_>,
) -> Result<(), StoreError> {
    let (now, random) = (sources.now(), sources.random()?);
    let (queue, address, webhook, document) = match to {
        To::Address(address) => (delivery::queue_of(address), *address, None, None),
        To::Webhook(id, document) => ((*id).to_owned(), "", Some(id), Some(document)),
    };
    connection
        .prepare_cached(
            "INSERT INTO message (id, entity, owner, queue, what, address, due, webhook, document)
             VALUES (?1, ?2, coalesce((SELECT merchant FROM entity WHERE id = ?2), ?2), ?3, ?4, ?5, ?6, ?7, ?8)",
        )?
        .execute(params![
            MessageId::new(id_time(connection, now)?, random).as_str(),
            entity.as_str(),
            queue,
            what,
            address,
            now.as_millisecond(),
            webhook,
            document
        ])?;
    Ok(())
}

/// Returns the time of the next message's id: `now`, or a millisecond after the newest id. So ids are in the order of the
/// commits, also when the machine's clock goes back. One look at the end of the table, which is about to grow there.
fn id_time(connection: &Connection, now: Timestamp) -> Result<Timestamp, StoreError> {
    let newest: Option<String> =
        connection.prepare_cached("SELECT max(id) FROM message")?.query_row([], |row| row.get(0))?;
    let after = |newest: Timestamp| newest.checked_add(SignedDuration::from_millis(1)).ok();
    let next = newest.and_then(|id| MessageId::parse(&id)?.time()).and_then(after);
    Ok(next.map_or(now, |next| next.max(now)))
}

impl Store {
    /// Claims messages. Returns those that nobody has claimed meanwhile.
    ///
    /// # Errors
    /// As [`Store::update`].
    pub async fn claim_messages(
        &self,
        ids: Vec<MessageId>,
        node: String,
        now: Timestamp,
    ) -> Result<Vec<Message>, StoreError> {
        self.run(move |connection| {
            let mut claim = connection.prepare_cached(
                "UPDATE message SET leased = ?2, node = ?3 WHERE id = ?1 AND due <= ?4 AND leased <= ?4
                 RETURNING what, queue, failures, address, webhook, document, owner",
            )?;
            let mut claimed = Vec::with_capacity(ids.len());
            for id in ids {
                let until = (now + LEASE).as_millisecond();
                let row = claim.query_row(params![id.as_str(), until, node, now.as_millisecond()], |row| {
                    let content: (String, Option<String>, Option<Vec<u8>>) = (row.get(3)?, row.get(4)?, row.get(5)?);
                    Ok((row.get(0)?, row.get(1)?, row.get(2)?, content, row.get(6)?))
                });
                let Some((what, queue, failures, content, owner)) = row.optional()? else { continue };
                let content = match content {
                    (_, Some(webhook), Some(document)) => match webhook::find(connection, &webhook)? {
                        Some(webhook) => Content::Webhook(Box::new(webhook), document),
                        None => Content::Nothing,
                    },
                    (address, _, _) => Content::Get(address),
                };
                claimed.push(Message { id, what, owner, queue, content, failures });
            }
            Ok(claimed)
        })
        .await
    }

    /// Writes how an attempt went.
    ///
    /// # Errors
    /// As [`Store::update`].
    pub async fn message_tried(&self, id: MessageId, attempt: Attempt) -> Result<(), StoreError> {
        self.run(move |connection| {
            let Attempt { at, milliseconds, status, fault, again } = attempt;
            let due = again.map(|wait| (at + SignedDuration::from_millis(milliseconds) + wait).as_millisecond());
            connection
                .prepare_cached(
                    "UPDATE message SET due = ?2, leased = 0, failures = failures + (?2 IS NOT NULL) WHERE id = ?1",
                )?
                .execute(params![id.as_str(), due])?;
            connection
                .prepare_cached(
                    "INSERT OR REPLACE INTO delivery (message, at, milliseconds, status, fault)
                     VALUES (?1, ?2, ?3, ?4, ?5)",
                )?
                .execute(params![id.as_str(), at.as_millisecond(), milliseconds, status, fault])?;
            Ok(())
        })
        .await
    }

    /// Gives up the claims of a node that starts: whatever it was sending when it died, it is not sending now.
    ///
    /// # Errors
    /// As [`Store::update`].
    pub async fn release_messages(&self, node: String) -> Result<(), StoreError> {
        self.run(move |connection| {
            let query = "UPDATE message SET leased = 0 WHERE due IS NOT NULL AND leased > 0 AND node = ?1";
            Ok(connection.execute(query, [node]).map(drop)?)
        })
        .await
    }

    /// How many attempts failed since a moment, by queue.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn failures_since(&self, moment: Timestamp) -> Result<Vec<(String, u32)>, StoreError> {
        self.read(|connection| {
            let mut statement = connection.prepare(
                "SELECT queue, count(*) FROM delivery JOIN message ON message.id = delivery.message
                 WHERE at >= ?1 AND (status IS NULL OR status NOT BETWEEN 200 AND 299) GROUP BY queue",
            )?;
            let rows = statement.query_map([moment.as_millisecond()], |row| Ok((row.get(0)?, row.get(1)?)))?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    /// Forgets some of the messages that were settled long ago. Looks with a reader first, so that an idle server writes
    /// nothing.
    ///
    /// # Errors
    /// As [`Store::update`].
    pub async fn forget_messages(&self, now: Timestamp) -> Result<(), StoreError> {
        let first = MessageId::new(now - delivery::RETENTION, [0; 9]);
        let query = "SELECT id FROM message WHERE id < ?1 AND due IS NULL ORDER BY id LIMIT ?2";
        let ids: Vec<String> = self.read(|connection| {
            let mut statement = connection.prepare_cached(query)?;
            let rows = statement.query_map(params![first.as_str(), BATCH], |row| row.get(0))?;
            Ok(rows.collect::<Result<_, _>>()?)
        })?;
        if ids.is_empty() {
            return Ok(());
        }
        self.run(move |connection| {
            for id in &ids {
                connection.prepare_cached("DELETE FROM delivery WHERE message = ?1")?.execute([id])?;
                connection.prepare_cached("DELETE FROM message WHERE id = ?1")?.execute([id])?;
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

    use super::*;
    use crate::clock::Clock;
    use crate::randomness::{NoRandomness, Randomness};

    /// A clock that stands still, and bytes that anybody can predict.
    struct Known;

    impl Clock for Known {
        fn now(&self) -> Timestamp {
            Timestamp::from_millisecond(7_000).unwrap()
        }
    }

    impl Randomness for Known {
        fn fill(&self, bytes: &mut [u8]) -> Result<(), NoRandomness> {
            bytes.fill(9);
            Ok(())
        }
    }

    #[test]
    fn the_time_and_the_id_of_a_message_come_from_outside() {
        let folder = tempfile::tempdir().unwrap();
        let connection = super::super::open_connection(folder.path()).unwrap();
        let sources = Sources { clock: Arc::new(Known), randomness: Arc::new(Known) };
        let entity = EntityId::new(Timestamp::UNIX_EPOCH, [1; 9]);
        write(&connection, &sources, &entity, REMINDER, &To::Address("https://shop.example/")).unwrap();
        let row: (String, i64) =
            connection.query_row("SELECT id, due FROM message", [], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
        assert_eq!(row, (MessageId::new(Known.now(), [9; 9]).as_str().to_owned(), 7_000));
    }

    #[test]
    fn messages_are_in_the_order_in_which_they_were_written_although_the_clock_goes_back() {
        let folder = tempfile::tempdir().unwrap();
        let connection = super::super::open_connection(folder.path()).unwrap();
        let mut before = None;
        for now in [5_000, 5_000, 7_000, 1_000, 1_000, 6_999, 9_000] {
            let time = id_time(&connection, Timestamp::from_millisecond(now).unwrap()).unwrap();
            assert!(Some(time) > before && time.as_millisecond() >= now, "{before:?} {time}");
            before = Some(time);
            let id = MessageId::new(time, [0; 9]);
            let query = "INSERT INTO message (id, entity, queue, what, address) VALUES (?1, 'e', 'q', 'x', '')";
            connection.execute(query, [id.as_str()]).unwrap();
        }
        assert_eq!(before.unwrap().as_millisecond(), 9_000);
    }
}
