//! Payments whose connectors this process is asking.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tillgate_domain::id::PaymentId;
use tokio::sync::watch;

/// The payments in flight: this process is asking their connectors, so no inquiry is made about them meanwhile. The
/// mutex is for concurrent requests. Empty after a crash.
#[derive(Debug, Clone, Default)]
pub struct PaymentsInFlight(Arc<Mutex<HashMap<PaymentId, FlightEnd>>>);

/// The end of a request in flight, for those who wait for it.
#[derive(Debug, Default)]
struct FlightEnd {
    /// Dropped at the end. Nothing is ever sent.
    sender: watch::Sender<()>,
    next: NextAnswer,
}

/// True once an inquiry that began after the end of a request has been answered. All who waited for that request share
/// it, so that none of them asks again.
pub(super) type NextAnswer = Arc<AtomicBool>;

/// Marks a payment as in flight until it is dropped.
pub(crate) struct InFlightPayment {
    all: PaymentsInFlight,
    payment: PaymentId,
}

impl PaymentsInFlight {
    fn lock(&self) -> MutexGuard<'_, HashMap<PaymentId, FlightEnd>> {
        // The map stays valid if a holder panics. A poisoned lock would stop all payments at external connectors.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Marks a payment as in flight until the returned guard is dropped. Returns `None` if it is marked already.
    pub(crate) fn mark_payment(&self, payment: &PaymentId) -> Option<InFlightPayment> {
        match self.lock().entry(payment.clone()) {
            Entry::Occupied(_) => None,
            Entry::Vacant(entry) => {
                entry.insert(FlightEnd::default());
                Some(InFlightPayment { all: self.clone(), payment: payment.clone() })
            }
        }
    }

    /// Waits until a payment is no longer in flight. Returns what those share who wait for the same end; `None`, and at
    /// once, if it is not in flight.
    pub(super) async fn wait_for_end(&self, payment: &PaymentId) -> Option<NextAnswer> {
        // The lock is released before the wait, because the guard needs it to end the wait.
        let waiting = self.lock().get(payment).map(|flight| (flight.sender.subscribe(), Arc::clone(&flight.next)));
        let (mut end, next) = waiting?;
        let _ = end.changed().await;
        Some(next)
    }

    /// Returns the ids of the payments in flight.
    pub(super) fn payment_ids(&self) -> HashSet<PaymentId> {
        self.lock().keys().cloned().collect()
    }
}

impl Drop for InFlightPayment {
    fn drop(&mut self) {
        self.all.lock().remove(&self.payment);
    }
}
