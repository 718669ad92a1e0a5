//! Reminders: if a merchant has not read the outcome of a checkout, the gateway sends a reminder 29 minutes after the
//! last submit (specification, document 1, events), but not before the attempt has ended.
//!
//! A submit is an attempt that the checkout accepted, whether approved, declined or pending, by any form or by the
//! merchant's confirmation after a summary page. A submit that is refused, or that repeats a pending attempt, is none.
//! A checkout has at most one reminder, for its last attempt. While that attempt's shopper is on the issuer's or the
//! brand's page, the reminder is suspended in the store; the write that ends the attempt resumes it.

use tillgate_domain::address::add_parameters;
use tillgate_domain::id::CheckoutId;
use tillgate_store::delivery::message::REMINDER;
use tillgate_store::timer::{Timer, TimerKind};
use tillgate_store::{Changes, RecordKeys, StoreError};

use crate::{Failure, Gateway};

impl Gateway {
    /// Deletes the reminders of the attempts whose outcome was read since the last call.
    ///
    /// # Errors
    /// If the store cannot be written; the reminders are then cancelled by the next call.
    pub async fn cancel_reminders(&self) -> Result<(), StoreError> {
        let reads: Vec<(CheckoutId, String)> = self.status_reads.lock_reads().drain().collect();
        if reads.is_empty() {
            return Ok(());
        }
        let attempts = reads.iter().map(|(id, attempt)| (id.as_str().to_owned(), attempt.clone())).collect();
        let stopped = self.store.stop_reminders(attempts).await;
        if stopped.is_err() {
            self.status_reads.lock_reads().extend(reads);
        }
        stopped
    }

    /// Queues the reminder of a checkout's attempt, with id and resource path added to the address, and deletes its
    /// timer. Queues nothing if the merchant has read the outcome, there is no address or the checkout is gone. A timer
    /// of an earlier attempt than the last is ignored.
    pub async fn send_reminder(&self, timer: &Timer) -> Result<(), Failure> {
        let Some(id) = CheckoutId::parse(&timer.subject) else {
            return Ok(self.store.stop_timer(TimerKind::Remind, timer.subject.clone()).await?);
        };
        let was_read = {
            let attempt = timer.attempt.clone().unwrap_or_default();
            self.status_reads.lock_reads().contains(&(id.clone(), attempt))
        };
        let timer = timer.clone();
        let keys = RecordKeys { reminder: true, ..RecordKeys::for_checkout(&id) };
        let written = self.store.update(keys, move |loaded| {
            let mut changes = Changes::default();
            // Another node has sent or cancelled it since it was found.
            if !loaded.has_reminder {
                return Ok((changes, ()));
            }
            let Some(checkout) = loaded.checkout else {
                return Ok((changes.without_timer(TimerKind::Remind, &timer.subject), ()));
            };
            // A later submit has a reminder of its own, in the same row.
            if timer.attempt.is_some() && timer.attempt.as_deref() != checkout.last_attempt_id() {
                return Ok((changes, ()));
            }
            changes = changes.without_timer(TimerKind::Remind, &timer.subject);
            if let Some(page) = timer.detail.filter(|_| !was_read) {
                let parameters = [("id", checkout.id.as_str()), ("resourcePath", &checkout.resource_path())];
                changes = changes.with_outgoing_get(&timer.entity, REMINDER, add_parameters(&page, &parameters));
            }
            Ok((changes, ()))
        });
        Ok(written.await??)
    }
}
