//! Events and notifications that follow from a write, as messages in the same transaction: to the webhooks that listen, and to
//! the address that a payment names (`notificationUrl`).

use rusqlite::{Connection, params};

use super::message::{self, NOTIFICATION, To};
use super::{Sources, StoreError};
use crate::domain::effects::{Event, PaymentEffects};
use crate::domain::id::EntityId;
use crate::domain::payment::Payment;

/// Writes the messages of a payment. Returns true if there is one.
pub(super) fn of_payment(
    connection: &Connection,
    sources: &Sources,
    payment: &Payment,
    effects: PaymentEffects,
    document: &[u8],
) -> Result<bool, StoreError> {
    let mut wrote_message = match effects.event {
        Some(event) => publish(connection, sources, &payment.entity, event, document)?,
        None => false,
    };
    if let Some(address) = &effects.notification {
        message::write(connection, sources, &payment.entity, NOTIFICATION, &To::Address(address))?;
        wrote_message = true;
    }
    Ok(wrote_message)
}

/// Writes a message for every active webhook, of an entity or of one above it, that lists the event's type. Returns true if
/// there is one.
pub(super) fn publish(
    connection: &Connection,
    sources: &Sources,
    entity: &EntityId,
    event: Event,
    document: &[u8],
) -> Result<bool, StoreError> {
    // One look at a table that is empty where nobody listens; otherwise the way up, which has four levels at most.
    let mut statement = connection.prepare_cached(
        "WITH RECURSIVE listener (entity) AS (
             SELECT ?1 WHERE EXISTS (SELECT 1 FROM webhook)
             UNION SELECT entity.parent FROM listener JOIN entity ON entity.id = listener.entity
                 WHERE entity.parent IS NOT NULL
         ) SELECT webhook.id FROM listener JOIN webhook ON webhook.entity = listener.entity
             WHERE active AND instr(types, ?2) > 0",
    )?;
    let mut rows = statement.query(params![entity.as_str(), event.listed_as()])?;
    let mut wrote_message = false;
    while let Some(row) = rows.next()? {
        let webhook = row.get_ref(0)?.as_str().map_err(rusqlite::Error::from)?;
        message::write(connection, sources, entity, event.name(), &To::Webhook(webhook, document))?;
        wrote_message = true;
    }
    Ok(wrote_message)
}
