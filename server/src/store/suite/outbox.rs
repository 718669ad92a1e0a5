//! Outgoing messages: written in the commit of what they tell of, claimed by one sender, sent until they are taken.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use tillgate_shared::result::codes;

use super::Backend;
use super::samples::{at, entity, follow_up, payment, pending, registration, with_parameter, with_result, write};
use crate::domain::entity::Entity;
use crate::domain::id::MessageId;
use crate::domain::level::Level;
use crate::domain::payment::{NOTIFICATION_URL, Payment, PaymentType};
use crate::domain::refusal::Refusal;
use crate::store::due::{Room, Wheel};
use crate::store::message::{Attempt, Content, Message, NOTIFICATION};
use crate::store::webhook::Webhook;
use crate::store::{AdminStore, Changes, Keys, Store};

const ADDRESS: &str = "https://shop.example/told";

/// A moment at which everything that was just written is due.
fn soon() -> Timestamp {
    Timestamp::now() + SignedDuration::from_secs(60)
}

fn due(store: &Store, now: Timestamp) -> Vec<MessageId> {
    let room = Room { total: 100, of_owner: &|_, _| 100, of_queue: &|_, _| 100 };
    store.messages_due(now, &mut Wheel::default(), &room).unwrap()
}

async fn claim(store: &Store, node: &str, now: Timestamp) -> Vec<Message> {
    store.claim_messages(due(store, now), node.to_owned(), now).await.unwrap()
}

fn attempt(now: Timestamp, again: Option<i64>) -> Attempt {
    let status = if again.is_some() { 500 } else { 200 };
    Attempt { at: now, milliseconds: 0, status: Some(status), fault: None, again: again.map(SignedDuration::from_secs) }
}

pub(in crate::store) async fn a_message_is_claimed_once_and_sent_until_it_is_taken(backend: impl Backend) {
    let store = backend.open();
    let mut now = soon();
    write(&store, Changes::default().get(&entity(1).id, NOTIFICATION, ADDRESS.to_owned())).await.unwrap();
    let ids = due(&store, now);
    let (one, two) = tokio::join!(
        store.claim_messages(ids.clone(), "one".to_owned(), now),
        store.claim_messages(ids, "two".to_owned(), now)
    );
    let claimed = [one.unwrap(), two.unwrap()].concat();
    assert_eq!(claimed.len(), 1);
    let message = &claimed[0];
    assert!(matches!(&message.content, Content::Get(address) if address == ADDRESS));
    assert_eq!((&message.what[..], &message.owner[..]), (NOTIFICATION, entity(1).id.as_str()));
    assert_eq!((&message.queue[..], message.failures), ("shop.example", 0));
    assert_eq!(due(&store, now), []);
    store.message_tried(message.id.clone(), attempt(now, Some(30))).await.unwrap();
    assert_eq!(due(&store, now), []);
    now += SignedDuration::from_secs(30);
    let again = claim(&store, "two", now).await;
    assert_eq!(again.iter().map(|message| (&message.id, message.failures)).collect::<Vec<_>>(), [(&message.id, 1)]);
    store.message_tried(message.id.clone(), attempt(now, None)).await.unwrap();
    assert_eq!(due(&store, now + SignedDuration::from_hours(100)), []);
    let failures = store.failures_since(now - SignedDuration::from_hours(1)).unwrap();
    assert_eq!(failures, [("shop.example".to_owned(), 1)]);
}

pub(in crate::store) async fn a_message_of_a_node_that_starts_again_is_free(backend: impl Backend) {
    let store = backend.open();
    let now = soon();
    write(&store, Changes::default().get(&entity(1).id, NOTIFICATION, ADDRESS.to_owned())).await.unwrap();
    assert_eq!(claim(&store, "one", now).await.len(), 1);
    store.release_messages("two".to_owned()).await.unwrap();
    assert_eq!(due(&store, now), []);
    store.release_messages("one".to_owned()).await.unwrap();
    assert_eq!(claim(&store, "two", now).await.len(), 1);
    // A claim ends by itself too.
    assert_eq!(claim(&store, "one", now + SignedDuration::from_hours(1)).await.len(), 1);
}

fn add_webhook(admin: &AdminStore, owner: &Entity, number: u8, types: &str, active: bool) -> MessageId {
    let webhook = Webhook {
        id: MessageId::new(at(0), [number; 9]),
        entity: owner.id.clone(),
        url: ADDRESS.to_owned(),
        sealed: vec![1],
        next: None,
        types: types.to_owned(),
        without_customer: false,
        wrapped: false,
        active,
        created: at(0),
    };
    admin.add_webhook(&webhook).unwrap();
    webhook.id
}

/// Claims everything that waits. Returns the events with the webhook of each, in the order in which they were written.
async fn take_events(store: &Store) -> Vec<(String, MessageId)> {
    let mut events = claim(store, "tx01", soon()).await;
    events.sort_by(|one, other| one.id.cmp(&other.id));
    let mut taken = Vec::new();
    for event in events {
        let Content::Webhook(webhook, document) = event.content else { panic!("no event: {event:?}") };
        assert!(document.starts_with(b"{"));
        taken.push((event.what, webhook.id));
        store.message_tried(event.id, attempt(soon(), None)).await.unwrap();
    }
    taken
}

pub(in crate::store) async fn an_event_is_written_for_each_active_webhook_that_listens(backend: impl Backend) {
    let admin = backend.open_admin();
    let channel = Entity { level: Level::Channel, parent: Some(entity(2).id), ..entity(1) };
    for owner in [&entity(2), &channel, &entity(3)] {
        admin.add_entity(owner, at(0)).unwrap();
    }
    let own = add_webhook(&admin, &channel, 1, "PAYMENT", true);
    let of_merchant = add_webhook(&admin, &entity(2), 2, "PAYMENT,REGISTRATION", true);
    add_webhook(&admin, &channel, 3, "PAYMENT", false);
    add_webhook(&admin, &channel, 4, "RISK", true);
    add_webhook(&admin, &entity(3), 5, "PAYMENT,REGISTRATION", true);
    let store = backend.open();
    let event = |what: &str, webhook: &MessageId| (what.to_owned(), webhook.clone());
    write(&store, Changes::default().payment(&pending(1))).await.unwrap();
    let created = [event("PAYMENT CREATED", &own), event("PAYMENT CREATED", &of_merchant)];
    assert_eq!(take_events(&store).await, created);
    // Nothing has become of it.
    write(&store, Changes::default().payment(&pending(1))).await.unwrap();
    assert_eq!(take_events(&store).await, []);
    write(&store, Changes::default().payment(&with_result(&pending(1), codes::TEST_INTERNAL))).await.unwrap();
    let updated = [event("PAYMENT UPDATED", &own), event("PAYMENT UPDATED", &of_merchant)];
    assert_eq!(take_events(&store).await, updated);
    let stored = registration(1);
    for (change, what) in [
        (stored.clone(), "REGISTRATION CREATED"),
        (stored.retained(at(7200)), "REGISTRATION UPDATED"),
        (stored.ended(crate::domain::registration::Ended::Deregistered), "REGISTRATION DELETED"),
    ] {
        write(&store, Changes::default().registration(&change)).await.unwrap();
        assert_eq!(take_events(&store).await, [event(what, &of_merchant)]);
    }
    let mut rejected = registration(2);
    rejected.result = codes::CARD_EXPIRED;
    write(&store, Changes::default().registration(&rejected)).await.unwrap();
    assert_eq!(take_events(&store).await, []);
}

pub(in crate::store) async fn a_notification_is_written_when_the_outcome_comes_later(backend: impl Backend) {
    let store = backend.open();
    let told = |payment: Payment| with_parameter(payment, NOTIFICATION_URL, ADDRESS);
    let count = || due(&store, soon()).len();
    let (paid, waiting) = (told(payment(1)), told(pending(2)));
    write(&store, Changes::default().payment(&paid).payment(&waiting)).await.unwrap();
    assert_eq!(count(), 0, "whoever asks for a payment is answered");
    write(&store, Changes::default().payment(&with_result(&waiting, codes::CARD_EXPIRED))).await.unwrap();
    assert_eq!(count(), 1);
    let refund = told(follow_up(&paid, 3, PaymentType::Refund, "1.00"));
    write(&store, Changes::default().payment(&refund)).await.unwrap();
    assert_eq!(count(), 2);
    write(&store, Changes::default().payment(&refund)).await.unwrap();
    assert_eq!(count(), 2);
}

pub(in crate::store) async fn a_refused_decision_sends_nothing(backend: impl Backend) {
    let store = backend.open();
    let refuse = |_| Err::<(Changes, ()), _>(Refusal::checkout_closed());
    assert!(store.update(Keys::none(), refuse).await.unwrap().is_err());
    let told = Changes::default().get(&entity(1).id, NOTIFICATION, ADDRESS.to_owned());
    // The payment does not fit: neither it nor its message is written.
    write(&store, Changes::default().payment(&payment(1))).await.unwrap();
    let too_much = follow_up(&payment(1), 2, PaymentType::Refund, "93.00");
    assert!(write(&store, told.payment(&too_much)).await.is_err());
    assert_eq!(due(&store, soon()), []);
}

pub(in crate::store) async fn whoever_waits_for_messages_learns_of_one(backend: impl Backend) {
    let store = backend.open();
    write(&store, Changes::default().get(&entity(1).id, NOTIFICATION, ADDRESS.to_owned())).await.unwrap();
    tokio::time::timeout(Duration::from_secs(20), store.message_written()).await.unwrap();
}
