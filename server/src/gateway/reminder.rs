//! The reminder: a merchant whose shopper has submitted a checkout, and who has not asked how it went, is told to (specification,
//! document 1, events).

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use super::{Failure, Gateway};
use crate::domain::address::with_parameters;
use crate::domain::id::CheckoutId;
use crate::store::message::REMINDER;
use crate::store::timer::{Kind, Timer};
use crate::store::{Changes, Keys, StoreError};

/// Checkouts whose status was asked for lately. Nothing is written while the merchant waits for it: the worker takes their
/// reminders back every second, and what a crash forgets is one reminder too many.
#[derive(Default)]
pub struct Asked(Mutex<HashSet<CheckoutId>>);

impl Asked {
    pub(super) fn note(&self, checkout: &CheckoutId) {
        self.lock().insert(checkout.clone());
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashSet<CheckoutId>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Gateway {
    /// Takes back the reminders of checkouts whose status was asked for.
    ///
    /// # Errors
    /// When the store cannot be written; they are taken back later then.
    pub async fn take_reminders_back(&self) -> Result<(), StoreError> {
        let asked: Vec<CheckoutId> = self.asked.lock().drain().collect();
        if asked.is_empty() {
            return Ok(());
        }
        let subjects = asked.iter().map(|id| id.as_str().to_owned()).collect();
        let stopped = self.store.stop_timers(Kind::Remind, subjects).await;
        if stopped.is_err() {
            self.asked.lock().extend(asked);
        }
        stopped
    }

    /// Reminds the merchant of a checkout.
    ///
    /// # Errors
    /// When the store cannot be read or written.
    pub async fn remind(&self, timer: &Timer) -> Result<(), Failure> {
        let mut changes = Changes::default().without_timer(Kind::Remind, &timer.subject);
        let checkout = match CheckoutId::parse(&timer.subject).filter(|id| !self.asked.lock().contains(id)) {
            Some(id) => self.store.checkout(&id)?,
            None => None,
        };
        if let (Some(checkout), Some(page)) = (checkout, &timer.detail) {
            let told = [("id", checkout.id.as_str()), ("resourcePath", &checkout.resource_path())];
            changes = changes.get(&timer.entity, REMINDER, with_parameters(page, &told));
        }
        Ok(self.store.update(Keys::none(), move |_| Ok((changes, ()))).await??)
    }
}
