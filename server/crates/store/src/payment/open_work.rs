//! Counts of the work that waits for people: held payments, failing deliveries, unmatched lines and unknown outcomes.
//!
//! Each count is bounded, because a page shows it and nobody needs to know the exact size of a long queue.

use jiff::Timestamp;
use tillgate_domain::id::{EntityId, PaymentId};
use tillgate_engine::{Session, params};

use crate::delivery::webhook::timestamp_from_milliseconds;
use crate::{Store, StoreError};

/// Highest count. A longer queue counts as this many.
pub const MAX_COUNT: u64 = 1000;

/// Work of an entity that waits.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OpenWork {
    /// Number of held payments.
    pub held: u64,
    /// The payments that are held longest, each with the beginning of its review, at most 5.
    pub oldest_held: Vec<(PaymentId, Timestamp)>,
    /// Number of messages of the entity and its channels whose delivery has failed and will be tried again.
    pub failing: u64,
    /// Number of lines of settlement files without a payment.
    pub unmatched: u64,
    /// Number of payments whose outcome the connector has not reported for a while.
    pub unknown: u64,
}

impl OpenWork {
    /// Adds the work of another entity.
    pub fn add(&mut self, other: Self) {
        self.held += other.held;
        self.oldest_held.extend(other.oldest_held);
        self.failing += other.failing;
        self.unmatched += other.unmatched;
        self.unknown += other.unknown;
    }
}

impl Store {
    /// Counts the work of an entity. Inquiries that began after `unknown_since` by the machine's clock are still in
    /// progress and do not count.
    pub fn count_open_work(&self, entity: &EntityId, unknown_since: Timestamp) -> Result<OpenWork, StoreError> {
        self.readers.in_snapshot(|session| {
            let entity = entity.as_str();
            let count = |query: &str| count_rows(session, query, entity);
            let oldest = "SELECT payment, since FROM review WHERE entity = ?1 AND ended IS NULL ORDER BY since LIMIT 5";
            let mut rows = session.query(oldest, [entity])?;
            let mut oldest_held = Vec::new();
            while let Some(row) = rows.next()? {
                let (payment, since): (String, i64) = row.read()?;
                oldest_held.extend(PaymentId::parse(&payment).map(|id| (id, timestamp_from_milliseconds(since))));
            }
            Ok(OpenWork {
                held: count("SELECT 1 FROM review WHERE entity = ?1 AND ended IS NULL LIMIT ?2")?,
                oldest_held,
                failing: count("SELECT 1 FROM message WHERE owner = ?1 AND due IS NOT NULL AND failures > 0 LIMIT ?2")?,
                unmatched: count("SELECT 1 FROM settlement_unmatched WHERE entity = ?1 LIMIT ?2")?,
                unknown: count_unknown(session, entity, unknown_since)?,
            })
        })
    }
}

/// Counts the rows of a query up to the maximum.
fn count_rows(session: &dyn Session, query: &str, entity: &str) -> Result<u64, StoreError> {
    let query = format!("SELECT count(*) FROM ({query}) AS found");
    let count: i64 = session.query_one(&query, params![entity, MAX_COUNT.cast_signed()], |row| row.get(0))?;
    Ok(count.unsigned_abs())
}

/// Counts the payments of an entity whose connector was asked before a time and has not reported an outcome.
fn count_unknown(session: &dyn Session, entity: &str, since: Timestamp) -> Result<u64, StoreError> {
    // The inner limit bounds the read, because the rows of all entities are in one index.
    let query = "SELECT count(*) FROM (
             SELECT entity FROM timer WHERE kind = 'ask' AND since < ?2 ORDER BY since LIMIT ?3 ) AS oldest WHERE entity = ?1";
    let limit = MAX_COUNT.cast_signed();
    let count: i64 = session.query_one(query, params![entity, since.as_millisecond(), limit], |row| row.get(0))?;
    Ok(count.unsigned_abs())
}
