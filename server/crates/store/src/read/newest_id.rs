//! The time of the newest id in the store, from which a new process continues (see [`tillgate_os::id_clock`]).

use std::collections::HashMap;

use jiff::{SignedDuration, Timestamp};
use serde::Deserialize;
use tillgate_domain::access::entity::Entity;
use tillgate_domain::id::{CheckoutId, EntityId, PaymentId, RegistrationId};
use tillgate_engine::{Session, ValueRef, params};

use crate::access::entity;
use crate::document::decode_document;
use crate::{Store, StoreError};

impl Store {
    /// Returns the time of the newest id of a payment, registration or checkout, by the machine's clock, but at least
    /// `now`. The advance of an entity's sandbox clock is subtracted, so that a sandbox that is ahead does not move the
    /// ids of other entities.
    pub fn newest_id_time(&self, now: Timestamp) -> Result<Timestamp, StoreError> {
        self.run_read(|session| {
            let entities = entity::load_credentials(session)?.entities;
            let mut newest = now;
            for entity in entities.values() {
                for time in newest_id_times(session, entity)? {
                    newest = newest.max(machine_time(time, entity.ahead));
                }
            }
            let ahead = entities.into_iter().map(|(id, entity)| (id, entity.ahead)).collect();
            newest_checkout_time(session, &ahead, newest)
        })
    }
}

/// Returns the times of an entity's newest payment and registration, by the entity's clock, or `None` if it has none.
/// Each query reads only the end of an index.
fn newest_id_times(session: &dyn Session, entity: &Entity) -> Result<[Option<Timestamp>; 2], StoreError> {
    let newest = |query: &str| -> Result<Option<String>, StoreError> {
        Ok(session.query_one(query, [entity.id.as_str()], |row| row.get(0))?)
    };
    let payment = newest("SELECT max(id) FROM payment WHERE entity = ?1")?;
    let registration = newest("SELECT max(id) FROM registration WHERE entity = ?1")?;
    Ok([
        payment.and_then(|id| PaymentId::parse(&id)?.creation_time()),
        registration.and_then(|id| RegistrationId::parse(&id)?.creation_time()),
    ])
}

/// Returns the time of the newest checkout by the machine's clock, or `newest` if that is later. `ahead` is the advance
/// of each entity's clock; checkouts of other entities do not matter. Checkouts are ordered by id and not by entity, so
/// the ones after `newest` are scanned. Only sandboxes whose clock is ahead have such checkouts.
fn newest_checkout_time(
    session: &dyn Session,
    ahead: &HashMap<EntityId, SignedDuration>,
    mut newest: Timestamp,
) -> Result<Timestamp, StoreError> {
    /// The part of a checkout's document that names its entity.
    #[derive(Deserialize)]
    struct CheckoutOwner {
        entity: EntityId,
    }
    let query = "SELECT id, document FROM checkout WHERE id > ?1 ORDER BY id DESC";
    let mut found = session.query(query, params![CheckoutId::lowest_prefix(newest)])?;
    while let Some(row) = found.next()? {
        let id: String = row.get(0)?;
        let Some(time) = CheckoutId::parse(&id).and_then(|id| id.creation_time()) else { continue };
        if time <= newest {
            break;
        }
        // Skip a damaged document, whose entity cannot be read. The damage is reported when the checkout is read.
        let ValueRef::Blob(document) = row.value(1)? else { continue };
        let Ok(CheckoutOwner { entity }) = decode_document::<CheckoutOwner>(document) else { continue };
        if let Some(ahead) = ahead.get(&entity) {
            newest = newest.max(machine_time(Some(time), *ahead));
        }
    }
    Ok(newest)
}

/// Returns the machine's time at which a clock with this advance shows `time`. Returns the earliest time for `None`.
fn machine_time(time: Option<Timestamp>, ahead: SignedDuration) -> Timestamp {
    time.and_then(|time| time.checked_sub(ahead).ok()).unwrap_or(Timestamp::MIN)
}
