//! Reviews as rows: the payments that are or were held, and the audit of what was done with them.
//!
//! A row is opened and closed with the write of its payment. The time at which nobody may decide any more is a timer.

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension as _, params};

use super::timer::{self, TimerKind};
use super::webhook::timestamp_from_milliseconds;
use super::{Changes, Sources, Store, StoreError};
use crate::domain::id::PaymentId;
use crate::domain::payment::Payment;
use crate::domain::review_decision::{DecisionType, ReviewDecision};

/// The state of a review.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredReview {
    /// The analyst who has claimed it, and the time, by the machine's clock.
    pub claim: Option<(String, Timestamp)>,
    /// The time of its end, by the machine's clock. `None` while the payment is held.
    pub ended: Option<Timestamp>,
    /// The last decision about it. `None` if there was none.
    pub decision: Option<LastDecision>,
}

/// The last decision about a held payment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LastDecision {
    /// The decision.
    pub decision: DecisionType,
    /// The id of the analyst.
    pub analyst: String,
    /// The time, by the clock of the entity.
    pub at: Timestamp,
}

impl Changes {
    /// Records a decision about a held payment in the audit, and queues its callback if a configuration applies. The
    /// payment is read after the other changes of this commit, and has to be stored.
    #[must_use]
    pub fn with_review_decision(mut self, decision: ReviewDecision) -> Self {
        self.review_decisions.push(decision);
        self
    }
}

/// Writes the row of a payment that is held from now on, and starts the timer of its review, which counts from `since`
/// by the clock of the entity.
pub(super) fn open_review(
    connection: &Connection,
    sources: &Sources,
    payment: &Payment,
    since: Timestamp,
) -> Result<(), StoreError> {
    let (id, entity) = (payment.id.as_str(), payment.entity.as_str());
    connection.prepare_cached("INSERT INTO review (payment, entity, since) VALUES (?1, ?2, ?3)")?.execute(params![
        id,
        entity,
        sources.now().as_millisecond()
    ])?;
    timer::start_end_timer(connection, TimerKind::Review, id, entity, since)
}

/// Marks the review of a payment that is no longer held as ended, and stops its timer.
pub(super) fn close_review(connection: &Connection, sources: &Sources, payment: &PaymentId) -> Result<(), StoreError> {
    connection
        .prepare_cached("UPDATE review SET ended = ?2 WHERE payment = ?1")?
        .execute(params![payment.as_str(), sources.now().as_millisecond()])?;
    timer::stop_timer(connection, TimerKind::Review, payment.as_str())
}

/// Writes a decision to the audit of its payment. Does nothing if the payment was never held.
pub(super) fn record_decision(connection: &Connection, decision: &ReviewDecision) -> Result<(), StoreError> {
    let ReviewDecision { payment, user_id, cancel_reason, note, processed, .. } = decision;
    connection
        .prepare_cached(
            "INSERT INTO review_action (payment, at, action, analyst, reason, note)
             SELECT payment, ?2, ?3, ?4, ?5, ?6 FROM review WHERE payment = ?1",
        )?
        .execute(params![
            payment.as_str(),
            processed.as_millisecond(),
            decision_action(decision),
            user_id,
            cancel_reason,
            note
        ])?;
    Ok(())
}

/// Returns the name of a decision in the column `action`.
fn decision_action(decision: &ReviewDecision) -> &'static str {
    match decision.decision {
        DecisionType::Approve => "approve",
        DecisionType::Cancel if decision.is_expiry => "expire",
        DecisionType::Cancel => "cancel",
        DecisionType::Pending => "pend",
    }
}

impl Store {
    /// Loads the review of a payment. `None` if the payment was never held.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn load_review(&self, payment: &PaymentId) -> Result<Option<StoredReview>, StoreError> {
        type Columns = (Option<String>, Option<i64>, Option<i64>, Option<String>, Option<String>, Option<i64>);
        let row: Option<Columns> = self.run_read(|connection| {
            let query = "SELECT review.analyst, claimed, ended, action, review_action.analyst, at
                FROM review LEFT JOIN review_action ON number = (
                    SELECT max(number) FROM review_action AS last WHERE last.payment = review.payment
                        AND last.action IN ('approve', 'cancel', 'expire', 'pend')
                ) WHERE review.payment = ?1";
            let row = |row: &rusqlite::Row<'_>| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?, row.get(5)?))
            };
            Ok(connection.prepare_cached(query)?.query_row([payment.as_str()], row).optional()?)
        })?;
        Ok(row.map(|(claimed_by, claimed, ended, action, analyst, at)| StoredReview {
            claim: claimed_by.zip(claimed.map(timestamp_from_milliseconds)),
            ended: ended.map(timestamp_from_milliseconds),
            decision: action.zip(analyst).zip(at).map(|((action, analyst), at)| LastDecision {
                decision: match action.as_str() {
                    "approve" => DecisionType::Approve,
                    "pend" => DecisionType::Pending,
                    _ => DecisionType::Cancel,
                },
                analyst,
                at: timestamp_from_milliseconds(at),
            }),
        }))
    }
}
