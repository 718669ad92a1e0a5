//! Decisions that the command line requests, as rows: one for each payment. The row stays until its answer is read.

use jiff::{SignedDuration, Timestamp};
use rusqlite::{Connection, OptionalExtension as _, params};
use tillgate_domain::id::{EntityId, PaymentId};
use tillgate_domain::review::queue::ReviewAction;
use tillgate_domain::review::request::{ReviewAnswer, ReviewRequest};

use crate::admin::Act;
use crate::delivery::webhook::timestamp_from_milliseconds;
use crate::error::unreadable_column;
use crate::review::queue::load_actions_after;
use crate::{AdminStore, Store, StoreError};

/// Time for which an answer is kept that nobody reads.
const ANSWER_RETENTION: SignedDuration = SignedDuration::from_hours(7 * 24);

/// A requested decision that is stored.
#[derive(Debug, Clone)]
pub struct StoredRequest {
    /// The payment.
    pub payment: PaymentId,
    /// The request. `None` if it was written by a later release, which this one cannot read.
    pub request: Option<ReviewRequest>,
    /// Its time, by the clock of the machine.
    pub at: Timestamp,
    /// The answer. `None` while it waits.
    pub answer: Option<ReviewAnswer>,
}

/// Columns of a request, in the order in which [`read_request`] reads them.
const COLUMNS: &str = "payment, document, at, answer";

fn read_request(row: &rusqlite::Row<'_>) -> rusqlite::Result<StoredRequest> {
    let (payment, document): (String, String) = (row.get(0)?, row.get(1)?);
    let answer: Option<String> = row.get(3)?;
    let answer = answer.map(|answer| serde_json::from_str(&answer)).transpose();
    Ok(StoredRequest {
        payment: PaymentId::parse(&payment).ok_or_else(|| unreadable_column(0, "id of a payment"))?,
        request: serde_json::from_str(&document).ok(),
        at: timestamp_from_milliseconds(row.get(2)?),
        answer: answer.map_err(|_| unreadable_column(3, "answer"))?,
    })
}

fn load_request(connection: &Connection, payment: &PaymentId) -> Result<Option<StoredRequest>, StoreError> {
    let query = format!("SELECT {COLUMNS} FROM review_request WHERE payment = ?1");
    Ok(connection.prepare_cached(&query)?.query_row([payment.as_str()], read_request).optional()?)
}

impl Store {
    /// Loads the requests that wait, oldest first, at most `limit`.
    pub fn load_waiting_requests(&self, limit: u32) -> Result<Vec<StoredRequest>, StoreError> {
        self.run_read(|connection| {
            let query = format!("SELECT {COLUMNS} FROM review_request WHERE answered IS NULL ORDER BY at LIMIT ?1");
            let mut statement = connection.prepare_cached(&query)?;
            let rows = statement.query_map([limit], read_request)?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    /// Loads the rows of a payment's audit after the number of one.
    pub fn load_review_actions_after(&self, payment: &PaymentId, after: i64) -> Result<Vec<ReviewAction>, StoreError> {
        self.run_read(|connection| load_actions_after(connection, payment, after))
    }

    /// Answers a request that waits, and deletes old answers that nobody has read.
    pub async fn answer_request(
        &self,
        payment: PaymentId,
        answer: ReviewAnswer,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        self.run_write(move |connection| {
            connection.execute(
                "UPDATE review_request SET answered = ?2, answer = ?3 WHERE payment = ?1 AND answered IS NULL",
                params![payment.as_str(), now.as_millisecond(), serde_json::to_string(&answer)?],
            )?;
            let expired = now.checked_sub(ANSWER_RETENTION).unwrap_or(Timestamp::MIN);
            connection.execute("DELETE FROM review_request WHERE answered <= ?1", [expired.as_millisecond()])?;
            Ok(())
        })
        .await
    }
}

impl AdminStore {
    /// Loads the request about a payment.
    pub fn load_review_request(&self, payment: &PaymentId) -> Result<Option<StoredRequest>, StoreError> {
        load_request(&self.connection, payment)
    }

    /// Returns the number of the latest row in the audit of a payment, or 0.
    pub fn latest_review_action(&self, payment: &PaymentId) -> Result<i64, StoreError> {
        let query = "SELECT coalesce(max(number), 0) FROM review_action WHERE payment = ?1";
        Ok(self.connection.query_row(query, [payment.as_str()], |row| row.get(0))?)
    }

    /// Adds a request, in place of one with an answer that nobody has read. Returns false if another one waits.
    pub fn add_review_request(
        &self,
        payment: &PaymentId,
        request: &ReviewRequest,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let find = "SELECT entity FROM payment WHERE id = ?1";
        let entity: Option<String> =
            self.connection.query_row(find, [payment.as_str()], |row| row.get(0)).optional()?;
        let entity = entity.as_deref().and_then(EntityId::parse);
        // A decision that waits for a gateway has no other entry until then.
        let details = [("decision", request.decision.as_str()), ("analyst", request.analyst.as_str())];
        let (action, subject) = ("review request", payment.as_str());
        let act = Act { action, subject, entity: entity.as_ref(), details: &details };
        self.execute_act(
            &act,
            "INSERT INTO review_request (payment, document, at) VALUES (?1, ?2, ?3)
             ON CONFLICT (payment) DO UPDATE SET document = ?2, at = ?3, answered = NULL, answer = NULL
                 WHERE answered IS NOT NULL",
            params![payment.as_str(), serde_json::to_string(request)?, now.as_millisecond()],
        )
    }

    /// Deletes a request whose answer was read.
    pub fn delete_review_request(&self, payment: &PaymentId) -> Result<(), StoreError> {
        let query = "DELETE FROM review_request WHERE payment = ?1 AND answered IS NOT NULL";
        self.connection.execute(query, [payment.as_str()])?;
        Ok(())
    }
}
