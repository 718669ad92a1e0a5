//! Payments in the ledger: the entry and the movement of each, and the part of a payment that later bookings depend on.

use std::collections::BTreeMap;
use std::net::IpAddr;

use jiff::Timestamp;
use serde::Deserialize;
use tillgate_domain::access::audit::{AuditEntry, PAYMENT};
use tillgate_domain::effects::{Booking, BookingTime};
use tillgate_domain::id::{EntityId, PaymentId};
use tillgate_domain::payment::{PaymentType, result_code};
use tillgate_domain::settlement::ledger::{ApprovedPayment, ReferencedPayment};
use tillgate_engine::Session;
use tillgate_shared::result::ResultCode;

use crate::document::decode_document;
use crate::ledger::write_entry;
use crate::schedule::clock::load_clock_advance;
use crate::{Sources, StoreError};

/// The token or user of an entry. Nobody for what the gateway does by itself.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct EntryActor<'a> {
    /// The public half of the token, or the user.
    pub(crate) name: Option<&'a str>,
    /// The address of the user's browser.
    pub(crate) address: Option<IpAddr>,
}

/// Writes the entry and the movement of a payment that is booked. `actor` is named by the entry.
pub(crate) fn record_booking(
    session: &dyn Session,
    sources: &Sources,
    booking: &Booking<'_>,
    actor: EntryActor<'_>,
) -> Result<(), StoreError> {
    let now = sources.now();
    let time = match booking.time {
        BookingTime::Creation(created) => created,
        BookingTime::Write => now + load_clock_advance(session, booking.payment.entity)?,
    };
    write_payment_entry(session, now, time, &booking.payment, actor)
}

/// Writes the entry of an approved payment, and adds its movement to the balances.
pub(crate) fn write_payment_entry(
    session: &dyn Session,
    now: Timestamp,
    time: Timestamp,
    payment: &ApprovedPayment<'_>,
    actor: EntryActor<'_>,
) -> Result<(), StoreError> {
    let referenced = match payment.referenced {
        Some(referenced) => load_referenced(session, payment.entity, referenced)?,
        None => None,
    };
    let movement = payment.compute_movement(referenced);
    let entry = AuditEntry {
        actor: actor.name.map(str::to_owned),
        payment_type: Some(payment.payment_type),
        referenced: payment.referenced.cloned(),
        money: BTreeMap::from([(movement.currency.code().to_owned(), movement.sums)]),
        ..AuditEntry::new(time, PAYMENT, payment.id.as_str())
    };
    let entry = match actor.address {
        Some(address) => entry.with_detail("address", address.to_string()),
        None => entry,
    };
    write_entry(session, Some(payment.entity), &entry, now)
}

/// Loads the type of a payment.
pub(crate) fn load_payment_type(
    session: &dyn Session,
    entity: &EntityId,
    id: &PaymentId,
) -> Result<Option<PaymentType>, StoreError> {
    Ok(load_referenced(session, entity, id)?.map(|referenced| referenced.payment_type))
}

/// Loads the part of a payment that the bookings of its follow-up payments depend on.
pub(crate) fn load_referenced(
    session: &dyn Session,
    entity: &EntityId,
    id: &PaymentId,
) -> Result<Option<ReferencedPayment>, StoreError> {
    #[derive(Deserialize)]
    struct StoredPayment {
        payment_type: PaymentType,
        #[serde(with = "result_code")]
        result: ResultCode,
    }
    // Only two fields are decoded, because this runs under the write lock for each follow-up payment.
    let query = "SELECT document FROM payment WHERE entity = ?1 AND id = ?2";
    let document: Option<Vec<u8>> = session.query_optional(query, [entity.as_str(), id.as_str()], |row| row.get(0))?;
    let stored: Option<StoredPayment> = document.map(|document| decode_document(&document)).transpose()?;
    Ok(stored.map(|StoredPayment { payment_type, result }| ReferencedPayment {
        payment_type,
        is_approved: payment_type.is_approved_with(result),
    }))
}
