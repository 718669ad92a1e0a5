//! Cache of the security codes of payments that await cardholder authentication. They are in memory only and zeroed
//! when dropped. A restart loses them; the payments are then authorized without a code.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use jiff::Timestamp;
use tillgate_domain::id::PaymentId;
use tillgate_shared::format::security_code::SecurityCode;

/// Maximum number of cached security codes. Above it, the code that expires first is dropped.
const MAX_CODES: usize = 10_000;

/// Cached security codes by payment, each with its expiry time.
#[derive(Default)]
pub struct SecurityCodeCache(Mutex<HashMap<PaymentId, (SecurityCode, Timestamp)>>);

impl SecurityCodeCache {
    /// Caches the security code of a payment until it is removed or expires at `until`. Replaces an earlier code. In a
    /// full cache, the code that expires first makes room.
    pub(crate) fn insert_code(&self, payment: &PaymentId, code: SecurityCode, until: Timestamp) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Shoppers who leave during 3-D Secure would otherwise fill the memory until their codes expire.
        if all.len() >= MAX_CODES
            && let Some(oldest) = all.iter().min_by_key(|(_, (_, until))| *until).map(|(id, _)| id.clone())
        {
            all.remove(&oldest);
        }
        all.insert(payment.clone(), (code, until));
    }

    /// Returns the cached security code of a payment, also an expired one until the next [`Self::remove_expired`].
    pub(crate) fn find_code(&self, payment: &PaymentId) -> Option<SecurityCode> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Cloned, so that the lock is not held while the connector is asked.
        all.get(payment).map(|(code, _)| code.clone())
    }

    pub(crate) fn remove_code(&self, payment: &PaymentId) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(payment);
    }

    /// Removes the codes that have expired at `now`.
    pub fn remove_expired(&self, now: Timestamp) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).retain(|_, (_, until)| *until > now);
    }
}
