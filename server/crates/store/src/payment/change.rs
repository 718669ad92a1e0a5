//! Changes of payments: one way down from the rows of a payment to the effects of its write.

use std::sync::Arc;

use tillgate_domain::effects::{self, AtWrite, PaymentEffects, TimerEffect};
use tillgate_domain::id::EntityId;
use tillgate_domain::payment::Payment;

use crate::delivery::event;
use crate::payment::{guards, rows};
use crate::read::change_log::Slot;
use crate::settlement::booking::{EntryActor, record_booking};
use crate::timer::{self, TimerKind};
use crate::write::changes::{Change, Stage, WriteContext};
use crate::{Changes, StoreError, dispute, review};

/// A new or changed payment.
#[derive(Debug)]
struct PaymentChange(Arc<Payment>);

/// The release of a checkout by a payment that neither pays it nor may still pay it.
#[derive(Debug)]
struct CheckoutRelease(Arc<Payment>);

impl Changes {
    /// Writes a new or changed payment, with the resulting events, notification and timers. The write fails if a
    /// constraint is violated, such as a second pending or approved payment of a checkout.
    #[must_use]
    pub fn with_payment(self, payment: impl Into<Arc<Payment>>) -> Self {
        let payment = payment.into();
        let changes = match payment.checkout.is_some() && !payment.blocks_checkout() {
            true => self.with(CheckoutRelease(Arc::clone(&payment))),
            false => self,
        };
        changes.with(PaymentChange(payment))
    }

    /// Returns the payments that are written.
    pub fn written_payments(&self) -> impl Iterator<Item = &Arc<Payment>> {
        self.changes_of_type().map(|PaymentChange(payment)| payment)
    }
}

impl Change for CheckoutRelease {
    fn stage(&self) -> Stage {
        Stage::CheckoutRelease
    }

    fn apply(&self, context: &WriteContext<'_>) -> Result<bool, StoreError> {
        guards::unlink_checkout(context.session, &self.0)?;
        Ok(false)
    }
}

impl Change for PaymentChange {
    fn stage(&self) -> Stage {
        Stage::Payment
    }

    /// Writes the rows of the payment, and then the effects that follow from the difference to the stored version.
    fn apply(&self, context: &WriteContext<'_>) -> Result<bool, StoreError> {
        let payment = &*self.0;
        // The rows come first, because they return the stored version that all effects depend on.
        let written = rows::write_rows(context.session, payment)?;
        let before = written.before.as_ref();
        if let Some(booking) = effects::payment_booking(before, payment) {
            // A payment that ends later is booked by a task without a token, so the payment names the token itself.
            let name = payment.actor.as_deref().or(context.actor);
            let actor = EntryActor { name, address: context.address };
            record_booking(context.session, context.sources, &booking, actor)?;
        }
        let moved_dispute = dispute::follow_payment(context, payment)?;
        let effects = effects::compute_payment_effects(before, payment);
        write_timers(context, payment, &effects)?;
        let document = written.event_document();
        let wrote_message =
            event::write_payment_messages(context.session, context.sources, payment, effects, document)?;
        Ok(wrote_message | moved_dispute)
    }

    fn owner(&self) -> Option<&EntityId> {
        Some(&self.0.entity)
    }

    /// Adds the slots of the payment, of the payment that it refers to, and of its `merchantTransactionId`.
    fn add_changed_slots(&self, slots: &mut Vec<Slot>) {
        let payment = &self.0;
        slots.push(Slot::for_payment(payment.id.as_str()));
        // A response about the original also contains its follow-up payments.
        slots.extend(payment.referenced.as_ref().map(|referenced| Slot::for_payment(referenced.as_str())));
        let reference = payment.merchant_transaction_id();
        slots.extend(reference.map(|reference| Slot::for_reference(payment.entity.as_str(), reference)));
    }
}

/// Starts and stops the timers of a payment, and opens or closes its review.
fn write_timers(context: &WriteContext<'_>, payment: &Payment, effects: &PaymentEffects) -> Result<(), StoreError> {
    let WriteContext { session, sources, .. } = *context;
    let (entity, id) = (payment.entity.as_str(), payment.id.as_str());
    match effects.end_timer {
        TimerEffect::Start(since) => timer::start_end_timer(session, TimerKind::End, id, entity, since)?,
        TimerEffect::Stop => timer::stop_timer(session, TimerKind::End, id)?,
        TimerEffect::Unchanged => {}
    }
    match effects.review_timer {
        TimerEffect::Start(since) => review::open_review(session, sources, payment, since)?,
        TimerEffect::Stop => review::close_review(session, sources, &payment.id)?,
        TimerEffect::Unchanged => {}
    }
    match effects.inquiry_timer {
        TimerEffect::Start(AtWrite) => timer::start_inquiry_timer(session, payment, sources)?,
        TimerEffect::Stop => timer::stop_timer(session, TimerKind::Inquire, id)?,
        TimerEffect::Unchanged => {}
    }
    if let Some(checkout) = &effects.resumed_reminder {
        timer::resume_reminder(session, checkout.as_str(), id)?;
    }
    Ok(())
}
