//! The security codes of payments whose shoppers are being authenticated: in memory alone, and zeroed when they go. A restart
//! forgets them; the payments are then authorised without.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use jiff::Timestamp;
use tillgate_shared::format::security_code::SecurityCode;

use crate::domain::id::PaymentId;

/// How many security codes wait at most; beyond, the oldest goes.
const MOST_CODES: usize = 10_000;

/// The codes that wait, by payment, each with the end of its time.
#[derive(Default)]
pub struct Codes(Mutex<HashMap<PaymentId, (SecurityCode, Timestamp)>>);

impl Codes {
    pub(super) fn keep(&self, payment: &PaymentId, code: SecurityCode, until: Timestamp) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= MOST_CODES
            && let Some(oldest) = all.iter().min_by_key(|(_, (_, until))| *until).map(|(id, _)| id.clone())
        {
            all.remove(&oldest);
        }
        all.insert(payment.clone(), (code, until));
    }

    pub(super) fn get(&self, payment: &PaymentId) -> Option<SecurityCode> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.get(payment).map(|(code, _)| code.clone())
    }

    pub(super) fn remove(&self, payment: &PaymentId) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(payment);
    }

    /// Forgets those whose time is over.
    pub fn forget(&self, now: Timestamp) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).retain(|_, (_, until)| *until > now);
    }
}
