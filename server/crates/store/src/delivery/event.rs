//! Events and notifications emitted by a write, stored as messages in the same transaction. Events go to the active
//! webhooks; notifications go to the payment's `notificationUrl`.

use tillgate_domain::effects::{Event, PaymentEffects};
use tillgate_domain::id::EntityId;
use tillgate_domain::payment::Payment;
use tillgate_engine::Session;

use crate::delivery::message;
use crate::delivery::message::{MessageTarget, NOTIFICATION};
use crate::{Sources, StoreError};

/// Writes the messages of a payment: the events with `document` to webhooks, and the notification to its address, as
/// far as `effects` contain them. Returns true if there are any.
pub(crate) fn write_payment_messages(
    session: &dyn Session,
    sources: &Sources,
    payment: &Payment,
    effects: PaymentEffects,
    document: &[u8],
) -> Result<bool, StoreError> {
    let events = [effects.event, effects.risk_event];
    let mut wrote_message = publish_events(session, sources, &payment.entity, &events, document)?;
    if let Some(address) = &effects.notification {
        message::write_message(session, sources, &payment.entity, NOTIFICATION, &MessageTarget::Address(address))?;
        wrote_message = true;
    }
    Ok(wrote_message)
}

/// Writes messages with `document`: one per event for every active webhook of an entity, or of an entity above it, that
/// lists the event's type. Each webhook gets them in this order. Returns true if there are any.
pub(crate) fn publish_events(
    session: &dyn Session,
    sources: &Sources,
    entity: &EntityId,
    events: &[Option<Event>],
    document: &[u8],
) -> Result<bool, StoreError> {
    if events.iter().all(Option::is_none) {
        return Ok(false);
    }
    // Most gateways have no webhook. This query is much cheaper than setting up the recursive one.
    let has_webhooks: bool = session.query_one("SELECT EXISTS (SELECT 1 FROM webhook)", (), |row| row.get(0))?;
    if !has_webhooks {
        return Ok(false);
    }
    // The query climbs the tree of entities, which has at most four levels.
    let query = "WITH RECURSIVE listener (entity) AS (
             SELECT ?1
             UNION ALL SELECT entity.parent FROM listener JOIN entity ON entity.id = listener.entity
                 WHERE entity.parent IS NOT NULL
         ) SELECT webhook.id, types FROM listener JOIN webhook ON webhook.entity = listener.entity WHERE active";
    let mut rows = session.query(query, [entity.as_str()])?;
    let mut wrote_message = false;
    while let Some(row) = rows.next()? {
        let webhook = row.value(0)?.as_str()?;
        let types = row.value(1)?.as_str()?;
        let is_subscribed = |event: &&Event| types.split(',').any(|name| name == event.subscription_type());
        for event in events.iter().flatten().filter(is_subscribed) {
            let target = MessageTarget::Webhook(webhook, document);
            message::write_message(session, sources, entity, event.name(), &target)?;
            wrote_message = true;
        }
    }
    Ok(wrote_message)
}
