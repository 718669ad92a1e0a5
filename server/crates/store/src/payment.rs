//! The rows of a payment: its document, the indexes to find it, the tables of the constraints, and the effects of the
//! write.

pub mod card;
pub mod history;
pub mod load;
pub mod queries;
pub mod responses;
pub mod shared_parameters;

use std::sync::Arc;

use rusqlite::{Connection, params};
use tillgate_domain::effects::{self, AtWrite, TimerEffect};
use tillgate_domain::id::EntityId;
use tillgate_domain::payment::Payment;

use super::change_log::Slot;
use super::changes::{Change, Stage, WriteContext};
use super::document::encode_document as encode;
use super::payment::load::load_earlier_state;
use super::timer::{self, TimerKind};
use super::{Changes, StoreError, dispute, guards, review};
use crate::delivery::event;
use crate::settlement::file;
use crate::settlement::ledger;

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
        guards::unlink_checkout(context.connection, &self.0)?;
        Ok(false)
    }
}

impl Change for PaymentChange {
    fn stage(&self) -> Stage {
        Stage::Payment
    }

    fn apply(&self, context: &WriteContext<'_>) -> Result<bool, StoreError> {
        write_payment(context, &self.0)
    }

    fn owner(&self) -> Option<&EntityId> {
        Some(&self.0.entity)
    }

    /// Adds the slots of the payment, of the payment that it refers to, and of its `merchantTransactionId`.
    fn add_changed_slots(&self, slots: &mut Vec<Slot>) {
        let payment = &self.0;
        slots.push(Slot::for_payment(payment.id.as_str()));
        slots.extend(payment.referenced.as_ref().map(|referenced| Slot::for_payment(referenced.as_str())));
        let reference = payment.merchant_transaction_id();
        slots.extend(reference.map(|reference| Slot::for_reference(payment.entity.as_str(), reference)));
    }
}

/// Writes the document of a new or changed payment, its index rows and its constraint rows. From the difference to the
/// stored version, starts or stops timers and writes messages. Returns true if a message was written.
fn write_payment(context: &WriteContext<'_>, payment: &Payment) -> Result<bool, StoreError> {
    let WriteContext { connection, sources, actor } = *context;
    let (entity, id) = (payment.entity.as_str(), payment.id.as_str());
    let stored = payment.without_shared_parameters();
    let document = encode(stored.as_ref().unwrap_or(payment));
    let is_new = connection
        .prepare_cached(
            "INSERT INTO payment (entity, id, document) VALUES (?1, ?2, ?3) ON CONFLICT (entity, id) DO NOTHING",
        )?
        .execute(params![entity, id, document])?
        == 1;
    let before = if is_new { None } else { load_earlier_state(connection, &payment.entity, &payment.id)? };
    if is_new {
        write_index_rows(connection, payment)?;
    } else {
        connection
            .prepare_cached("UPDATE payment SET document = ?3 WHERE entity = ?1 AND id = ?2")?
            .execute(params![entity, id, document])?;
    }
    file::write_connector_id(connection, payment)?;
    guards::link_checkout(connection, payment)?;
    guards::write_payment_link(connection, payment)?;
    if let Some(booking) = effects::payment_booking(before.as_ref(), payment) {
        ledger::record_booking(connection, sources, &booking, payment.actor.as_deref().or(actor))?;
    }
    let moved_dispute = dispute::follow_payment(context, payment)?;
    let effects = effects::compute_payment_effects(before.as_ref(), payment);
    match effects.end_timer {
        TimerEffect::Start(since) => timer::start_end_timer(connection, TimerKind::End, id, entity, since)?,
        TimerEffect::Stop => timer::stop_timer(connection, TimerKind::End, id)?,
        TimerEffect::Unchanged => {}
    }
    match effects.review_timer {
        TimerEffect::Start(since) => review::open_review(connection, sources, payment, since)?,
        TimerEffect::Stop => review::close_review(connection, sources, &payment.id)?,
        TimerEffect::Unchanged => {}
    }
    match effects.inquiry_timer {
        TimerEffect::Start(AtWrite) => timer::start_inquiry_timer(connection, payment, sources.now())?,
        TimerEffect::Stop => timer::stop_timer(connection, TimerKind::Inquire, id)?,
        TimerEffect::Unchanged => {}
    }
    if let Some(checkout) = &effects.resumed_reminder {
        timer::resume_reminder(connection, checkout.as_str(), id)?;
    }
    // Messages contain the whole payment, including the parameters stored with an earlier attempt.
    let event_document = stored.map(|_| encode(&Payment { shares: None, ..payment.clone() }));
    let document = event_document.as_ref().unwrap_or(&document);
    Ok(event::write_payment_messages(connection, sources, payment, effects, document)? | moved_dispute)
}

/// Writes the rows by which a new payment is found: of its reference and of its page. Neither ever changes.
fn write_index_rows(connection: &Connection, payment: &Payment) -> Result<(), StoreError> {
    let (entity, id) = (payment.entity.as_str(), payment.id.as_str());
    if let Some(reference) = payment.merchant_transaction_id() {
        connection
            .prepare_cached("INSERT OR IGNORE INTO payment_reference (entity, reference, payment) VALUES (?1, ?2, ?3)")?
            .execute(params![entity, reference, id])?;
    }
    if let Some(page) = payment.redirect.as_ref().and_then(|redirect| redirect.page.as_ref()) {
        connection
            .prepare_cached("INSERT OR IGNORE INTO page (id, entity, payment) VALUES (?1, ?2, ?3)")?
            .execute(params![page.as_str(), entity, id])?;
    }
    Ok(())
}
