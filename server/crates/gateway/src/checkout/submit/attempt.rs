//! Attempts to pay a checkout: what is written under the write lock for a prepared payment.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use tillgate_domain::checkout::Checkout;
use tillgate_domain::id::{EntityId, PaymentId};
use tillgate_domain::payment::Payment;
use tillgate_domain::payment::asynchronous::abandon_payment;
use tillgate_domain::refusal::Refusal;
use tillgate_store::{Changes, LoadedRecords, RecordKeys};

use crate::checkout::unknown_checkout;
use crate::payment::PreparedPayment;
use crate::payment::response_recorder::ResponseRecorder;
use crate::risk::velocity::AttemptOutcome;

/// Result of writing an attempt.
pub(crate) enum AttemptWrite {
    /// The attempt is written, with the payment that it made.
    Settled { attempt: AttemptOutcome, payment: Option<Arc<Payment>> },
    /// The checkout or the payment to abandon has changed since the attempt was prepared, for example because another
    /// attempt has paid the checkout.
    Stale,
}

/// An attempt to pay a checkout, prepared outside of the write lock.
#[derive(Clone)]
pub(super) struct PreparedAttempt {
    /// The version of the checkout that the attempt was prepared for.
    pub(super) version: u64,
    /// The pending payment that the attempt replaces. Only its key: other requests change the payment without changing
    /// the checkout, so it is loaded under the write lock.
    pub(super) replaced: Option<(EntityId, PaymentId)>,
    /// The number of attempts that the checkout allows.
    pub(super) limit: Option<u32>,
    /// The valid address for the merchant's reminder.
    pub(super) reminder: Option<String>,
    /// The current time by the entity's clock.
    pub(super) now: Timestamp,
    /// Time for which the account of a payment is kept.
    pub(super) card_window: SignedDuration,
    /// The response to the request.
    pub(super) recorder: ResponseRecorder<Payment>,
}

impl PreparedAttempt {
    /// Returns the keys of the records that [`PreparedAttempt::decide_changes`] needs, with those of its payment.
    pub(super) fn required_keys(&self, checkout: &Checkout, payment: RecordKeys) -> RecordKeys {
        RecordKeys {
            checkout: Some(checkout.id.clone()),
            payment: self.replaced.clone(),
            ignored_payment: self.replaced.as_ref().map(|(_, payment)| payment.clone()),
            ..payment
        }
    }

    /// Abandons the payment that the attempt replaces, and returns the changes that write it, the payment of the
    /// attempt and the checkout. Runs under the write lock. Returns [`AttemptWrite::Stale`] without changes if the
    /// checkout has changed, or if the payment to abandon cannot be abandoned any more.
    ///
    /// # Errors
    /// 404 if the checkout is gone; 429 if it has no attempt left; any refusal of the payment.
    pub(super) fn decide_changes(
        self,
        prepared: PreparedPayment,
        mut loaded: LoadedRecords,
    ) -> Result<(Changes, AttemptWrite), Refusal> {
        let checkout = loaded.checkout.take().ok_or_else(unknown_checkout)?;
        let replaced = loaded.payment.take();
        if checkout.version != self.version {
            return Ok((Changes::default(), AttemptWrite::Stale));
        }
        let (open, abandoned) = match (&self.replaced, replaced) {
            (None, _) => (checkout, None),
            (Some(_), replaced) => match replaced.and_then(|payment| abandon_payment(&checkout, payment, self.now)) {
                Some((open, abandoned)) => (open, Some(abandoned)),
                None => return Ok((Changes::default(), AttemptWrite::Stale)),
            },
        };
        open.check_attempt_limit(self.limit, self.now)?;
        let (mut changes, payment) = prepared.decide_changes(loaded)?;
        if let Some(abandoned) = abandoned {
            changes = changes
                .without_deferred_effects(&abandoned.id)
                .without_card(&abandoned.id, abandoned.created + self.card_window)
                .with_payment(abandoned);
        }
        let next = open.with_attempt(&payment, self.now)?;
        changes = changes.with_reminder(&next, self.reminder, self.now, payment.awaits_outcome());
        let changes = self.recorder.record_response(changes.with_checkout(&next), &payment, payment.created);
        let attempt = AttemptOutcome::of_payment(&payment);
        Ok((changes, AttemptWrite::Settled { attempt, payment: Some(payment) }))
    }
}
