//! Reads for the history of one payment: its messages with their deliveries, its reconciliation records, and its entry
//! in the audit log.
//!
//! None of these tables has an index by payment, because each row is written in the commit of a payment and one more
//! index would slow that commit down. But all of them are in the order of time, so each search reads a bounded number
//! of rows after a known time.

use jiff::Timestamp;
use jiff::civil::Date;
use tillgate_domain::access::audit::{AuditEntry, PAYMENT};
use tillgate_domain::dispute::Dispute;
use tillgate_domain::id::{EntityId, MessageId, PaymentId};
use tillgate_domain::payment::Payment;
use tillgate_domain::settlement::reconciliation::ReconciliationRecord;
use tillgate_engine::{Session, params};

use crate::delivery::webhook::timestamp_from_milliseconds;
use crate::document::{decode_document, read_document};
use crate::payment::shared_parameters;
use crate::{DisputeKey, Store, StoreError, dispute};

/// Maximum number of rows that a search reads.
const MAX_READ: u32 = 3000;
/// Number of payments before and after another one among which the attempts of its checkout are found.
const MAX_NEAR: u32 = 1000;
/// Time after a change in which its messages are written. They are written in the same commit, whose time may be a
/// little later.
const MESSAGE_WINDOW: i64 = 5_000;
/// Maximum number of shown attempts of a message.
const MAX_ATTEMPTS: u32 = 20;

/// A message about a payment.
#[derive(Debug, Clone)]
pub struct StoryMessage {
    /// The time at which it was written, by the machine's clock.
    pub written: Timestamp,
    /// The event that it reports, such as `PAYMENT CREATED`.
    pub what: String,
    /// The address of the receiver. Its query may be secret.
    pub address: String,
    /// True while another attempt will follow.
    pub is_waiting: bool,
    /// The attempts, oldest first.
    pub attempts: Vec<StoryAttempt>,
}

/// An attempt to deliver a message.
#[derive(Debug, Clone)]
pub struct StoryAttempt {
    /// Its beginning.
    pub at: Timestamp,
    /// Its duration.
    pub milliseconds: i64,
    /// The HTTP status of the response.
    pub status: Option<u16>,
    /// The reason why there was no response.
    pub fault: Option<String>,
}

impl StoryAttempt {
    /// Returns true if the receiver accepted the message.
    pub fn is_accepted(&self) -> bool {
        self.status.is_some_and(|status| (200..300).contains(&status))
    }
}

impl Store {
    /// Finds the other payment attempts of a payment's checkout, oldest first, among the payments of its entity shortly
    /// before and after it.
    pub fn find_other_attempts(&self, payment: &Payment) -> Result<Vec<Payment>, StoreError> {
        let Some(checkout) = &payment.checkout else { return Ok(Vec::new()) };
        let near = |range: &str, order: &str| {
            format!(
                "SELECT document FROM (SELECT id, document FROM payment
                     WHERE entity = ?1 AND id {range} ?2 ORDER BY id {order} LIMIT {MAX_NEAR}) AS near
                 WHERE instr(document, CAST(?3 AS BLOB)) > 0 ORDER BY id"
            )
        };
        self.readers.in_snapshot(|session| {
            let mut attempts = Vec::new();
            for query in [near("<", "DESC"), near(">", "ASC")] {
                let mut rows =
                    session.query(&query, [payment.entity.as_str(), payment.id.as_str(), checkout.as_str()])?;
                while let Some(row) = rows.next()? {
                    let document = row.value(0)?.as_blob()?;
                    let found = shared_parameters::decode_payment(session, document)?;
                    // The checkout's id may also be a part of another parameter.
                    attempts.extend(Some(found).filter(|found| found.checkout.as_ref() == Some(checkout)));
                }
            }
            Ok(attempts)
        })
    }

    /// Loads the disputes of a payment: the open one, and those of its chargebacks.
    pub fn load_disputes_of(&self, payment: &PaymentId, chargebacks: &[PaymentId]) -> Result<Vec<Dispute>, StoreError> {
        self.readers.in_snapshot(|session| {
            let mut found: Vec<Dispute> = Vec::new();
            found.extend(dispute::load_requested(session, &DisputeKey::OpenOfPayment(payment.clone()))?);
            for chargeback in chargebacks {
                let known = dispute::load_of_chargeback(session, chargeback)?;
                found.extend(known.filter(|dispute| found.iter().all(|other| other.id != dispute.id)));
            }
            Ok(found)
        })
    }

    /// Finds the messages about a payment of an entity that were written within a few seconds after the given times,
    /// by the machine's clock. Oldest first. Only messages to `receivers` are found: the entities whose webhooks,
    /// review callbacks and addresses may be seen.
    pub fn find_payment_messages(
        &self,
        (entity, payment): (&EntityId, &PaymentId),
        receivers: &[EntityId],
        times: &[Timestamp],
    ) -> Result<Vec<StoryMessage>, StoreError> {
        let mut times: Vec<i64> = times.iter().map(|time| time.as_millisecond()).collect();
        times.sort_unstable();
        // Messages of nearby times are in one window, so none is found twice.
        times.dedup_by(|later, earlier| *later - *earlier < MESSAGE_WINDOW / 2);
        self.readers.in_snapshot(|session| {
            let mut found = Vec::new();
            let mut after = i64::MIN;
            for time in times {
                let from = after.max(time - 1_000);
                after = time + MESSAGE_WINDOW;
                find_messages(session, (entity, payment), receivers, (from, after), &mut found)?;
            }
            Ok(found)
        })
    }

    /// Finds the reconciliation records of a payment: those that a file was matched with, and those that the gateway
    /// itself settled from `day` on.
    pub fn find_payment_records(
        &self,
        entity: &EntityId,
        payment: &PaymentId,
        day: Date,
    ) -> Result<Vec<ReconciliationRecord>, StoreError> {
        self.readers.in_snapshot(|session| {
            let query = "SELECT document FROM settlement_match AS found
                 JOIN reconciliation_record AS line ON line.id = found.record WHERE found.payment = ?1
                 UNION
                 SELECT document FROM (
                     SELECT document FROM reconciliation_record WHERE account = ?2 AND day >= ?3
                     ORDER BY day, id LIMIT ?4
                 ) AS near WHERE instr(document, CAST(?5 AS BLOB)) > 0";
            let (id, entity) = (payment.as_str(), entity.as_str());
            let mut rows = session.query(query, params![id, entity, day.to_string(), MAX_READ, id])?;
            let mut records: Vec<ReconciliationRecord> = Vec::new();
            while let Some(row) = rows.next()? {
                records.push(read_document(&row, 0)?);
            }
            Ok(records)
        })
    }

    /// Finds the entry of an approved payment in the audit log, with its number, among the entries of its entity from
    /// the payment's creation on. Returns `None` if there is none, or too many entries are between.
    pub fn find_payment_entry(
        &self,
        entity: &EntityId,
        payment: &PaymentId,
        created: Timestamp,
    ) -> Result<Option<(i64, AuditEntry)>, StoreError> {
        self.readers.in_snapshot(|session| {
            let Some(first) = find_first_entry(session, entity, created)? else { return Ok(None) };
            let query =
                "SELECT number, document FROM audit_entry WHERE entity = ?1 AND number >= ?2 ORDER BY number LIMIT ?3";
            let mut rows = session.query(query, params![entity.as_str(), first, MAX_READ])?;
            while let Some(row) = rows.next()? {
                let entry: AuditEntry = read_document(&row, 1)?;
                if entry.action == PAYMENT && entry.subject == payment.as_str() {
                    return Ok(Some((row.get(0)?, entry)));
                }
            }
            Ok(None)
        })
    }
}

/// Adds the messages about a payment to these receivers that were written in a window.
fn find_messages(
    session: &dyn Session,
    (entity, payment): (&EntityId, &PaymentId),
    receivers: &[EntityId],
    (from, until): (i64, i64),
    found: &mut Vec<StoryMessage>,
) -> Result<(), StoreError> {
    let lowest = |milliseconds: i64| MessageId::new(timestamp_from_milliseconds(milliseconds.max(0)), [0; 9]);
    // Another merchant's message may contain the id as well, for example in a reference that its shop has sent.
    let query = "SELECT message.id, what, coalesce(webhook.url, address), due IS NOT NULL,
             coalesce(webhook.entity, callback, message.entity)
         FROM (SELECT * FROM message WHERE id >= ?1 AND id < ?2 ORDER BY id LIMIT ?3) AS message
         LEFT JOIN webhook ON webhook.id = message.webhook
         WHERE message.entity = ?5
             AND (instr(coalesce(document, CAST('' AS BLOB)), CAST(?4 AS BLOB)) > 0 OR instr(address, ?6) > 0)";
    let (from, until) = (lowest(from), lowest(until));
    let (entity, payment) = (entity.as_str(), payment.as_str());
    let mut rows = session.query(query, params![from.as_str(), until.as_str(), MAX_READ, payment, entity, payment])?;
    while let Some(row) = rows.next()? {
        // The receiver may be an entity above the payment's, whose addresses a user of the channel must not see.
        let receiver: String = row.get(4)?;
        if !receivers.iter().any(|seen| seen.as_str() == receiver) {
            continue;
        }
        let id: String = row.get(0)?;
        let written = MessageId::parse(&id).and_then(|id| id.creation_time()).unwrap_or(Timestamp::UNIX_EPOCH);
        let attempts = load_attempts(session, &id)?;
        found.push(StoryMessage {
            written,
            what: row.get(1)?,
            address: row.get(2)?,
            is_waiting: row.get(3)?,
            attempts,
        });
    }
    Ok(())
}

/// Loads the first attempts of a message, oldest first.
fn load_attempts(session: &dyn Session, message: &str) -> Result<Vec<StoryAttempt>, StoreError> {
    let query = "SELECT at, milliseconds, status, fault FROM delivery WHERE message = ?1 ORDER BY at LIMIT ?2";
    session.query_all(query, params![message, MAX_ATTEMPTS], |row| {
        Ok(StoryAttempt {
            at: timestamp_from_milliseconds(row.get(0)?),
            milliseconds: row.get(1)?,
            status: row.get(2)?,
            fault: row.get(3)?,
        })
    })
}

/// Finds the number of an entity's first entry at or after a time, by halving the range of numbers: entries are in the
/// order of time.
fn find_first_entry(session: &dyn Session, entity: &EntityId, time: Timestamp) -> Result<Option<i64>, StoreError> {
    // Two queries, because SQLite reads all entries to find both ends in one.
    let ends = "SELECT (SELECT min(number) FROM audit_entry WHERE entity = ?1),
         (SELECT max(number) FROM audit_entry WHERE entity = ?1)";
    let (first, last): (Option<i64>, Option<i64>) = session.query_one(ends, [entity.as_str()], |row| row.read())?;
    let (Some(mut low), Some(mut high)) = (first, last) else { return Ok(None) };
    let next = "SELECT number, document FROM audit_entry WHERE entity = ?1 AND number >= ?2 ORDER BY number LIMIT 1";
    while low < high {
        let middle = low + (high - low) / 2;
        let found: Option<(i64, Vec<u8>)> =
            session.query_optional(next, params![entity.as_str(), middle], |row| row.read())?;
        let Some((number, document)) = found else { break };
        let entry: AuditEntry = decode_document(&document)?;
        if entry.time >= time {
            high = middle;
        } else {
            low = number + 1;
        }
    }
    Ok(Some(low))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::Sources;
    use crate::conformance::samples::{empty_directory, sample_entity, sample_time};

    #[test]
    fn a_message_of_another_tenant_or_to_an_unseen_receiver_is_not_found_although_it_names_the_payment() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path(), empty_directory(), Sources::system()).unwrap();
        let session = crate::place::open_for_writing::open_session(folder.path()).unwrap();
        let [own, above, foreign] = [1, 2, 3].map(|number| sample_entity(number).id);
        let payment = PaymentId::new(sample_time(1), [1; 9]);
        let address = format!("https://shop.example/?id={}", payment.as_str());
        for (number, (what, entity, callback)) in
            [("OWN", &own, None), ("ABOVE", &own, Some(&above)), ("FOREIGN", &foreign, None)].into_iter().enumerate()
        {
            let id = MessageId::new(sample_time(1), [u8::try_from(number).unwrap(); 9]);
            let query = "INSERT INTO message (id, entity, owner, queue, what, address, callback)
                 VALUES (?1, ?2, ?2, 'q', ?3, ?4, ?5)";
            let values = params![id.as_str(), entity.as_str(), what, address, callback.map(EntityId::as_str)];
            session.execute(query, values).unwrap();
        }
        let find = |receivers: &[EntityId]| -> Vec<String> {
            let found = store.find_payment_messages((&own, &payment), receivers, &[sample_time(1)]).unwrap();
            found.into_iter().map(|message| message.what).collect()
        };
        assert_eq!(find(std::slice::from_ref(&own)), ["OWN"]);
        assert_eq!(find(&[own.clone(), above, foreign]), ["OWN", "ABOVE"]);
        assert!(find(&[]).is_empty());
    }
}
