//! The attempts whose outcome the merchant has read, so that they need no reminder.

use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tillgate_domain::id::CheckoutId;

/// Attempts whose outcome was read recently, each with its checkout. Reading an outcome writes nothing to the store, to
/// keep the response fast: the worker cancels these reminders every second. After a crash, a merchant may get one
/// reminder too many. The mutex is for concurrent requests.
#[derive(Default)]
pub struct StatusReads(Mutex<HashSet<(CheckoutId, String)>>);

impl StatusReads {
    /// Records in memory that the merchant has read the outcome of this attempt. Later attempts still have their
    /// reminder.
    pub(crate) fn record_read(&self, checkout: &CheckoutId, attempt: &str) {
        self.lock_reads().insert((checkout.clone(), attempt.to_owned()));
    }

    /// Locks the reads, also after a panic in another thread.
    pub(super) fn lock_reads(&self) -> MutexGuard<'_, HashSet<(CheckoutId, String)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
