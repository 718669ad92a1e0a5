//! The audit log as rows, and the balances of its movements. An entry is written in the commit of its cause.

use std::collections::BTreeMap;
use std::net::IpAddr;

use jiff::{SignedDuration, Timestamp};
use serde::Deserialize;
use tillgate_domain::access::audit::compute_hash;
use tillgate_domain::access::audit::{AuditEntry, ChainHash, PAYMENT, RECORD_DIGEST};
use tillgate_domain::effects::{Booking, BookingTime};
use tillgate_domain::id::{EntityId, PaymentId};
use tillgate_domain::payment::{PaymentType, result_code};
use tillgate_domain::settlement::ledger::{ApprovedPayment, LedgerSums, ReferencedPayment};
use tillgate_engine::{Error, ErrorKind, Session, params};
use tillgate_shared::result::ResultCode;

use crate::access::audit_chain::load_chain_end;
use crate::document::{decode_document, encode_document};
use crate::error::Cause;
use crate::keys::audit_key;
use crate::settlement::record_digest;
use crate::timer::start_settlement_timer;
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

/// Appends an entry to the audit log, and adds its movements to the balances of the entity. `now` is the machine's
/// time; the first movement of an entity starts the timer of its settlements then. An entry that follows changes of
/// reconciliation records binds their digest.
pub(crate) fn write_entry(
    session: &dyn Session,
    entity: Option<&EntityId>,
    entry: &AuditEntry,
    now: Timestamp,
) -> Result<(), StoreError> {
    // A payment changes no reconciliation record, so its entry skips the look-up of the digest.
    let bound = if entry.action == PAYMENT { None } else { record_digest::bind_digest(session)? };
    let key = load_key_id(session)?;
    let is_keyed = key.is_some();
    let owner = entity.map_or("", EntityId::as_str);
    // Read under the write lock, so that two entries cannot follow the same one.
    let (last, previous) = load_chain_end(session, owner)?;
    let mut entry = AuditEntry { key, follows: Some(last), ..entry.clone() };
    if let Some(digest) = bound {
        entry = entry.with_detail(RECORD_DIGEST, digest.to_hex());
    }
    let document = encode_document(&entry);
    // The number is part of the hash, so it is known before the entry is written.
    let number = session.next_number("audit_entry")?;
    let hash = match is_keyed {
        true => compute_keyed_hash(session, &previous, number, owner, &document)?,
        false => compute_hash(&previous, number, owner, &document),
    };
    session.execute(
        "INSERT INTO audit_entry (number, entity, document, hash) VALUES (?1, ?2, ?3, ?4)",
        params![number, owner, document, hash],
    )?;
    let Some(entity) = entity else { return Ok(()) };
    for (currency, sums) in &entry.money {
        add_to_balance(session, entity, currency, *sums, now)?;
    }
    Ok(())
}

/// Returns the id of the key that this session has. `None` if the log has no key yet.
///
/// # Errors
/// If the log has a key and the session has not.
fn load_key_id(session: &dyn Session) -> Result<Option<String>, StoreError> {
    let id = session.call("audit_key_id", ())?;
    // An entry without a key in a chain with keys could be anybody's.
    if id.is_none() && audit_key::is_made(session)? {
        return Err(Cause::NeedsAuditKey.into());
    }
    Ok(id)
}

/// Computes the hash of an entry with the key of this session.
fn compute_keyed_hash(
    session: &dyn Session,
    previous: &ChainHash,
    number: i64,
    owner: &str,
    document: &[u8],
) -> Result<ChainHash, StoreError> {
    // Only the function of the session has the key, so callers need not pass it around.
    let hash: Option<ChainHash> = session.call("audit_hash", params![previous, number, owner, document])?;
    Ok(hash.ok_or_else(|| Error::new(ErrorKind::InvalidStatement, "the session has no function audit_hash"))?)
}

/// Adds a movement to the balances of an entity.
fn add_to_balance(
    session: &dyn Session,
    entity: &EntityId,
    currency: &str,
    sums: LedgerSums,
    now: Timestamp,
) -> Result<(), StoreError> {
    let [receivable, payable, fees, reserve, cash] = sums.to_array();
    let parameters = params![entity.as_str(), currency, receivable, payable, fees, reserve, cash];
    let updated = session.execute(
        "UPDATE balance SET receivable = receivable + ?3, payable = payable + ?4, fees = fees + ?5,
                 reserve = reserve + ?6, cash = cash + ?7 WHERE entity = ?1 AND currency = ?2",
        parameters,
    )?;
    // Only the first movement in a currency inserts a row, so that is the only one that has to start the timer.
    if updated == 0 {
        session.execute(
            "INSERT INTO balance (entity, currency, receivable, payable, fees, reserve, cash)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            parameters,
        )?;
        start_settlement_timer(session, entity, now)?;
    }
    Ok(())
}

/// Loads the time by which the clock of an entity is ahead of the machine's.
pub(crate) fn load_clock_advance(session: &dyn Session, entity: &EntityId) -> Result<SignedDuration, StoreError> {
    let query = "SELECT coalesce(owner.ahead, entity.ahead)
         FROM entity LEFT JOIN entity AS owner ON owner.id = entity.merchant WHERE entity.id = ?1";
    let ahead = session.query_optional(query, [entity.as_str()], |row| row.get(0))?;
    Ok(SignedDuration::from_millis(ahead.unwrap_or(0)))
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
