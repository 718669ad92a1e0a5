//! Attempts to pay. An attempt in flight is counted as declined; an approval refunds part of its cost.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use tillgate_domain::id::PaymentId;
use tillgate_domain::payment::Payment;
use tillgate_domain::registration::Registration;

use crate::risk::velocity::MAX_SOURCES;
use crate::risk::velocity::count::Count;
use crate::risk::velocity::lock_mutex;
use crate::risk::velocity::source::{CountName, SourceKind};

/// The counts that differ from the stored ones. Shared with every attempt, because a dropped attempt adds its counts
/// too.
pub(super) type Unsaved = Arc<Mutex<HashMap<(SourceKind, CountName), Arc<Count>>>>;

/// A cost that was added to a count.
#[derive(Debug)]
pub(super) struct CountedCost {
    pub(super) kind: SourceKind,
    pub(super) name: CountName,
    pub(super) count: Arc<Count>,
    pub(super) cost: i64,
    /// The moment at which the cost has leaked away completely.
    pub(super) until: i64,
}

/// The outcome of an attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AttemptOutcome {
    /// The payment was approved, or the account registered.
    Approved,
    /// The payment or registration was declined.
    Declined,
    /// The payment is pending: [`VelocityLimiter::end_pending`](super::VelocityLimiter::end_pending) reports its final
    /// outcome.
    Pending(PaymentId),
    /// Nothing was written.
    NotMade,
}

impl AttemptOutcome {
    /// Returns the current outcome of a written payment: approved, pending, or declined for every other result.
    pub fn of_payment(payment: &Payment) -> Self {
        match payment {
            payment if payment.is_approved() => Self::Approved,
            payment if payment.result.is_pending() => Self::Pending(payment.id.clone()),
            _ => Self::Declined,
        }
    }

    /// Returns the outcome of a written registration.
    pub fn of_registration(registration: &Registration) -> Self {
        if registration.is_approved() { Self::Approved } else { Self::Declined }
    }
}

/// An attempt in flight, counted as declined. It stays declined if it is dropped without an outcome, for example
/// because the client has disconnected.
#[must_use]
#[derive(Debug, Default)]
pub struct AttemptGuard {
    pub(super) costs: Vec<CountedCost>,
    /// True once the counts have been marked as unsaved. They are then marked again when a cost is refunded.
    marked: bool,
    unsaved: Unsaved,
}

impl AttemptGuard {
    /// Creates an attempt without any counted cost, which adds its counts to `unsaved` when it is dropped.
    pub(super) fn new(unsaved: &Unsaved) -> Self {
        // A card from an IPv6 address has six counts: three networks, the BIN, the entity, and the group of similar
        // numbers.
        Self { costs: Vec::with_capacity(6), marked: false, unsaved: Arc::clone(unsaved) }
    }

    /// Refunds `part` of each cost (in nanoseconds), except for a change between similar card numbers. The rest stays
    /// counted. A full or partial refund alone is not saved, but the refund of a saved cost is.
    pub(super) fn refund_costs(mut self, part: impl Fn(i64) -> i64, now: i64) {
        for counted in &self.costs {
            // A change between similar card numbers is never refunded: the response reveals something whatever the
            // outcome.
            if counted.kind != SourceKind::AlikeNumbers {
                counted.count.refund_cost(part(counted.cost), counted.until, now);
            }
        }
        // Approvals alone do not mark their counts as unsaved: that would cost a write for each payment.
        let marked = self.marked;
        self.costs.retain(|counted| marked || counted.kind == SourceKind::AlikeNumbers);
    }

    /// Marks the counts of this attempt as different from the stored ones, so that the next save writes them. Above
    /// [`MAX_SOURCES`] marks, further counts are not saved.
    pub(super) fn mark_unsaved(&mut self) {
        if self.costs.is_empty() {
            return;
        }
        self.marked = true;
        let mut unsaved = lock_mutex(&self.unsaved);
        for CountedCost { kind, name, count, .. } in &self.costs {
            if unsaved.len() < MAX_SOURCES {
                unsaved.insert((*kind, *name), Arc::clone(count));
            }
        }
    }
}

impl Drop for AttemptGuard {
    fn drop(&mut self) {
        self.mark_unsaved();
    }
}
