//! The time of the newest id in the store, at which the ids of a new process begin (see [`crate::id_clock`]).

use std::collections::HashMap;

use jiff::{SignedDuration, Timestamp};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, params};
use serde::Deserialize;

use super::{Store, StoreError, entity, rows};
use crate::domain::entity::Entity;
use crate::domain::id::{CheckoutId, EntityId, PaymentId, RegistrationId};

impl Store {
    /// Returns the time of the newest id of a payment, registration or checkout, by the machine's clock: the sandbox clock of
    /// an entity is subtracted, so that a sandbox that is ahead takes nobody else along. Not before `now`.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn newest_id_time(&self, now: Timestamp) -> Result<Timestamp, StoreError> {
        self.read(|connection| {
            let entities = entity::credentials(connection)?.entities;
            let mut newest = now;
            for entity in entities.values() {
                for time in newest_of(connection, entity)? {
                    newest = newest.max(machine_time(time, entity.ahead));
                }
            }
            let ahead = entities.into_iter().map(|(id, entity)| (id, entity.ahead)).collect();
            newest_checkout(connection, &ahead, newest)
        })
    }
}

/// Returns the times of an entity's newest payment and registration. Each is one look at the end of an index.
fn newest_of(connection: &Connection, entity: &Entity) -> Result<[Option<Timestamp>; 2], StoreError> {
    let newest = |query: &str| -> Result<Option<String>, StoreError> {
        Ok(connection.prepare_cached(query)?.query_row([entity.id.as_str()], |row| row.get(0))?)
    };
    let payment = newest("SELECT max(id) FROM payment WHERE entity = ?1")?;
    let registration = newest("SELECT max(id) FROM registration WHERE entity = ?1")?;
    Ok([
        payment.and_then(|id| PaymentId::parse(&id)?.time()),
        registration.and_then(|id| RegistrationId::parse(&id)?.time()),
    ])
}

/// Returns the time of the newest checkout, or `newest` if that is later. Checkouts stand in the order of their ids and not by
/// entity: those behind `newest` are looked through, which only sandboxes have whose clock is ahead.
fn newest_checkout(
    connection: &Connection,
    ahead: &HashMap<EntityId, SignedDuration>,
    mut newest: Timestamp,
) -> Result<Timestamp, StoreError> {
    #[derive(Deserialize)]
    struct Owned {
        entity: EntityId,
    }
    let mut statement = connection.prepare("SELECT id, document FROM checkout WHERE id > ?1 ORDER BY id DESC")?;
    let mut found = statement.query(params![CheckoutId::first(newest)])?;
    while let Some(row) = found.next()? {
        let id: String = row.get(0)?;
        let Some(time) = CheckoutId::parse(&id).and_then(|id| id.time()) else { continue };
        if time <= newest {
            break;
        }
        // A damaged document says nothing about its time; that it is damaged is found when it is read.
        let ValueRef::Blob(document) = row.get_ref(1)? else { continue };
        let Ok(Owned { entity }) = rows::read::<Owned>(document) else { continue };
        if let Some(ahead) = ahead.get(&entity) {
            newest = newest.max(machine_time(Some(time), *ahead));
        }
    }
    Ok(newest)
}

/// Returns the machine's time at which a clock that is ahead of it shows a time.
fn machine_time(time: Option<Timestamp>, ahead: SignedDuration) -> Timestamp {
    time.and_then(|time| time.checked_sub(ahead).ok()).unwrap_or(Timestamp::MIN)
}
