//! The idempotency keys of requests in flight.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use tillgate_domain::id::EntityId;
use tillgate_domain::idempotency::IdempotencyKey;

/// Idempotency keys of requests in flight in this process, so that a concurrent duplicate is refused at once. The mutex
/// is locked only to add or remove a key. The store guarantees that only one of two such requests is written.
#[derive(Debug, Clone, Default)]
pub struct InFlight(Arc<Mutex<HashSet<(EntityId, IdempotencyKey)>>>);

/// An idempotency key that is in flight until this is dropped.
#[derive(Debug)]
pub(super) struct InFlightGuard {
    in_flight: InFlight,
    key: (EntityId, IdempotencyKey),
}

impl InFlight {
    /// Marks a key as in flight until the guard is dropped. Returns `None` if it is in flight already.
    pub(super) fn try_reserve(&self, key: (EntityId, IdempotencyKey)) -> Option<InFlightGuard> {
        let new = self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(key.clone());
        new.then(|| InFlightGuard { in_flight: self.clone(), key })
    }
}

impl Drop for InFlightGuard {
    fn drop(&mut self) {
        self.in_flight.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.key);
    }
}
