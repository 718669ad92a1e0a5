//! The rows of a payment: its document, the indexes to find it, the tables of the constraints, and the effects of the
//! write.

pub mod history;
pub mod queries;
pub mod responses;
pub mod shared_parameters;

use std::sync::Arc;

use rusqlite::{Connection, params};
use tillgate_domain::effects::{self, AtWrite, TimerEffect};
use tillgate_domain::id::{EntityId, PaymentId};
use tillgate_domain::payment::Payment;

use super::rows::{self, encode_document as encode, load_earlier_state};
use super::timer::{self, TimerKind};
use super::{AdminStore, Sources, StoreError, dispute, guards, review};
use crate::delivery::event;
use crate::settlement::file;
use crate::settlement::ledger;

/// Writes new or changed payments with their effects. Returns true if a message was written. Fails if a constraint is
/// violated, such as a second pending or approved payment of a checkout.
pub(super) fn write_payments(
    connection: &Connection,
    sources: &Sources,
    payments: &[Arc<Payment>],
    actor: Option<&str>,
) -> Result<bool, StoreError> {
    // Release checkouts first, because one payment of a commit may replace another one of the same checkout.
    for payment in payments {
        guards::unlink_checkout(connection, payment)?;
    }
    let mut wrote_message = false;
    for payment in payments {
        wrote_message |= write_payment(connection, sources, payment, actor)?;
    }
    Ok(wrote_message)
}

/// Writes the document of a new or changed payment, its index rows and its constraint rows. From the difference to the
/// stored version, starts or stops timers and writes messages. Returns true if a message was written.
fn write_payment(
    connection: &Connection,
    sources: &Sources,
    payment: &Payment,
    actor: Option<&str>,
) -> Result<bool, StoreError> {
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
    ledger::record_payment(connection, sources, before.as_ref(), payment, actor)?;
    let moved_dispute = dispute::follow_payment(connection, sources, payment)?;
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

impl AdminStore {
    /// Loads a payment of an entity by id.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn load_payment(&self, entity: &EntityId, id: &PaymentId) -> Result<Option<Payment>, StoreError> {
        rows::load_payment(&self.connection, entity, id)
    }
}
