//! Reviews as rows: the payments that are or were held, and the audit of what was done with them.
//!
//! A row is opened and closed with the write of its payment. The time at which nobody may decide any more is a timer.

pub mod callback;
pub mod failed_callbacks;
pub mod queue;
pub mod reference;
pub(crate) mod refused_requests;

use jiff::Timestamp;
use tillgate_domain::access::audit::AuditEntry;
use tillgate_domain::id::PaymentId;
use tillgate_domain::payment::Payment;
use tillgate_domain::review::decision::{DecisionType, ReviewDecision};
use tillgate_engine::{Session, params};

use crate::ledger;
use crate::timer::{self, TimerKind};
use crate::write::changes::{Change, Stage, WriteContext};
use crate::{Changes, Sources, StoreError};

impl Changes {
    /// Records a decision about a held payment in the audit, and queues its callback if a configuration applies. The
    /// payment is read after the other changes of this commit, and has to be stored.
    #[must_use]
    pub fn with_review_decision(self, decision: ReviewDecision) -> Self {
        self.with(decision)
    }
}

impl Change for ReviewDecision {
    fn stage(&self) -> Stage {
        Stage::ReviewDecision
    }

    fn apply(&self, context: &WriteContext<'_>) -> Result<bool, StoreError> {
        record_decision(context.session, self)?;
        callback::write_decision(context.session, context.sources, self)
    }
}

/// Writes the row of a payment that is held from now on, and starts the timer of its review, which counts from `since`
/// by the clock of the entity.
pub(super) fn open_review(
    session: &dyn Session,
    sources: &Sources,
    payment: &Payment,
    since: Timestamp,
) -> Result<(), StoreError> {
    let (id, entity) = (payment.id.as_str(), payment.entity.as_str());
    session.execute(
        "INSERT INTO review (payment, entity, since) VALUES (?1, ?2, ?3)",
        params![id, entity, sources.now().as_millisecond()],
    )?;
    timer::start_end_timer(session, TimerKind::Review, id, entity, since)
}

/// Marks the review of a payment that is no longer held as ended, and stops its timer.
pub(super) fn close_review(session: &dyn Session, sources: &Sources, payment: &PaymentId) -> Result<(), StoreError> {
    session.execute(
        "UPDATE review SET ended = ?2 WHERE payment = ?1",
        params![payment.as_str(), sources.now().as_millisecond()],
    )?;
    timer::stop_timer(session, TimerKind::Review, payment.as_str())
}

/// Writes a decision to the audit of its payment, and its entry in the audit log. Does nothing if the payment was never
/// held.
fn record_decision(session: &dyn Session, decision: &ReviewDecision) -> Result<(), StoreError> {
    let ReviewDecision { payment, user_id, cancel_reason, note, processed, at, actor, .. } = decision;
    let written = session.execute(
        "INSERT INTO review_action (payment, at, action, analyst, reason, note, processed)
             SELECT payment, ?2, ?3, ?4, ?5, ?6, ?7 FROM review WHERE payment = ?1",
        params![
            payment.as_str(),
            at.as_millisecond(),
            decision_action(decision),
            user_id,
            cancel_reason,
            note,
            processed.as_millisecond()
        ],
    )?;
    if written == 0 {
        return Ok(());
    }
    let entry = AuditEntry::new(*at, &format!("review {}", decision_action(decision)), payment.as_str());
    let entry = queue::by_analyst(entry, actor.as_ref(), user_id);
    ledger::write_entry(session, Some(&decision.entity), &entry, *at)
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
