//! The reminder: a merchant who has not asked for the outcome of a checkout is told to, 29 minutes after the last submit
//! (specification, document 1, events), but not before the attempt has ended.
//!
//! A submit is an attempt that the checkout took, approved, declined or pending, by whichever form or by the merchant's word
//! after a summary page. One that is refused, or that repeats an attempt under way, is none. A checkout has one reminder at
//! most, for its last attempt; while that attempt's shopper is with the issuer or on a brand's page, the reminder waits, in
//! the store: the write that ends the attempt lets it run.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use super::{Failure, Gateway};
use crate::domain::address::with_parameters;
use crate::domain::id::CheckoutId;
use crate::store::message::REMINDER;
use crate::store::timer::{Kind, Timer};
use crate::store::{Changes, Keys, StoreError};

/// Attempts whose outcome was asked for lately, each with its checkout. Nothing is written while the merchant waits for it:
/// the worker takes their reminders back every second, and what a crash forgets is one reminder too many.
#[derive(Default)]
pub struct Asked(Mutex<HashSet<(CheckoutId, String)>>);

impl Asked {
    /// Notes that the merchant was told the outcome of this attempt. Later attempts still have their reminder.
    pub(super) fn note(&self, checkout: &CheckoutId, attempt: &str) {
        self.lock().insert((checkout.clone(), attempt.to_owned()));
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashSet<(CheckoutId, String)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Gateway {
    /// Takes back the reminders of attempts whose outcome was asked for.
    ///
    /// # Errors
    /// When the store cannot be written; they are taken back later then.
    pub async fn take_reminders_back(&self) -> Result<(), StoreError> {
        let asked: Vec<(CheckoutId, String)> = self.asked.lock().drain().collect();
        if asked.is_empty() {
            return Ok(());
        }
        let attempts = asked.iter().map(|(id, attempt)| (id.as_str().to_owned(), attempt.clone())).collect();
        let stopped = self.store.stop_reminders(attempts).await;
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
        let Some(id) = CheckoutId::parse(&timer.subject) else {
            return Ok(self.store.stop_timer(Kind::Remind, timer.subject.clone()).await?);
        };
        let was_asked = {
            let attempt = timer.attempt.clone().unwrap_or_default();
            self.asked.lock().contains(&(id.clone(), attempt))
        };
        let timer = timer.clone();
        let written = self.store.update(Keys::checkout(&id), move |loaded| {
            let mut changes = Changes::default();
            let Some(checkout) = loaded.checkout else {
                return Ok((changes.without_timer(Kind::Remind, &timer.subject), ()));
            };
            // A submit that came meanwhile has a reminder of its own, in the same row.
            if timer.attempt.is_some() && timer.attempt.as_deref() != checkout.last_attempt() {
                return Ok((changes, ()));
            }
            changes = changes.without_timer(Kind::Remind, &timer.subject);
            if let Some(page) = timer.detail.filter(|_| !was_asked) {
                let told = [("id", checkout.id.as_str()), ("resourcePath", &checkout.resource_path())];
                changes = changes.get(&timer.entity, REMINDER, with_parameters(&page, &told));
            }
            Ok((changes, ()))
        });
        Ok(written.await??)
    }
}
