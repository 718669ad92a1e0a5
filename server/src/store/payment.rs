//! The rows of a payment: its document, what it is found by, what the constraints look at, and what follows from the write.

use rusqlite::{Connection, params};

use super::rows::{document as encode, load_payment};
use super::timer::{self, Kind};
use super::{Sources, StoreError, event, guards};
use crate::domain::effects::{self, EndTimer};
use crate::domain::payment::Payment;

/// Writes payments, new or changed. Returns true if a message is among what follows from them.
pub(super) fn write_all(connection: &Connection, sources: &Sources, payments: &[Payment]) -> Result<bool, StoreError> {
    // One of them may take the checkout that another one gives up.
    for payment in payments {
        guards::release_checkout(connection, payment)?;
    }
    let mut wrote_message = false;
    for payment in payments {
        wrote_message |= write(connection, sources, payment)?;
    }
    Ok(wrote_message)
}

fn write(connection: &Connection, sources: &Sources, payment: &Payment) -> Result<bool, StoreError> {
    let (entity, id) = (payment.entity.as_str(), payment.id.as_str());
    let stored = payment.without_shared();
    let document = encode(stored.as_ref().unwrap_or(payment));
    let is_new = connection
        .prepare_cached(
            "INSERT INTO payment (entity, id, document) VALUES (?1, ?2, ?3) ON CONFLICT (entity, id) DO NOTHING",
        )?
        .execute(params![entity, id, document])?
        == 1;
    let before = if is_new { None } else { load_payment(connection, &payment.entity, &payment.id)? };
    if !is_new {
        connection
            .prepare_cached("UPDATE payment SET document = ?3 WHERE entity = ?1 AND id = ?2")?
            .execute(params![entity, id, document])?;
    }
    if let Some(reference) = payment.reference() {
        connection
            .prepare_cached("INSERT OR IGNORE INTO payment_reference (entity, reference, payment) VALUES (?1, ?2, ?3)")?
            .execute(params![entity, reference, id])?;
    }
    if let Some(page) = payment.redirect.as_ref().and_then(|redirect| redirect.page.as_ref()) {
        connection
            .prepare_cached("INSERT OR IGNORE INTO page (id, entity, payment) VALUES (?1, ?2, ?3)")?
            .execute(params![page.as_str(), entity, id])?;
    }
    guards::take_checkout(connection, payment)?;
    guards::write_link(connection, payment)?;
    let effects = effects::of_payment(before.as_ref(), payment);
    match effects.end_timer {
        EndTimer::Runs(since) => timer::start_end(connection, id, entity, since)?,
        EndTimer::Stops => timer::stop(connection, Kind::End, id)?,
        EndTimer::Stays => {}
    }
    if let Some(checkout) = &effects.released {
        timer::release_reminder(connection, checkout.as_str(), id)?;
    }
    // Messages carry the whole payment, also what its row refers to an earlier attempt for.
    let told = stored.map(|_| encode(&Payment { shares: None, ..payment.clone() }));
    event::of_payment(connection, sources, payment, effects, told.as_ref().unwrap_or(&document))
}
