//! Outgoing messages: written in the commit of the change that they report, claimed by one sender, and sent until they
//! are accepted.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use tillgate_domain::access::entity::Entity;
use tillgate_domain::access::level::Level;
use tillgate_domain::id::MessageId;
use tillgate_domain::payment::{NOTIFICATION_URL, Payment, PaymentType};
use tillgate_domain::refusal::Refusal;
use tillgate_domain::registration::Registration;
use tillgate_domain::risk::{PaymentRisk, RiskDecision, RiskOutcome};
use tillgate_shared::result::codes;

use super::Backend;
use super::samples::{
    follow_up, pending_payment, sample_entity, sample_payment, sample_registration, sample_time, sealed_record,
    with_parameter, with_result, write_changes,
};
use crate::delivery::message::{DeliveryResult, Message, MessageContent, NOTIFICATION};
use crate::delivery::message_selection::{SelectionCursor, SelectionLimits};
use crate::delivery::webhook::Webhook;
use crate::{AdminStore, Changes, RecordKeys, Store};

const ADDRESS: &str = "https://shop.example/notify";

/// Returns a moment at which everything that was just written is due.
pub(super) fn due_time() -> Timestamp {
    Timestamp::now() + SignedDuration::from_secs(60)
}

/// Returns up to 100 messages that are due and not claimed.
fn due_messages(store: &Store, now: Timestamp) -> Vec<MessageId> {
    let limits = SelectionLimits { total: 100, per_owner: &|_, _| 100, per_queue: &|_, _| 100 };
    store.select_due_messages(now, &mut SelectionCursor::default(), &limits).unwrap()
}

/// Claims up to 100 due messages for a node, and returns them.
pub(super) async fn claim_due(store: &Store, node: &str, now: Timestamp) -> Vec<Message> {
    store.claim_messages(due_messages(store, now), node.to_owned(), now).await.unwrap()
}

/// Returns the result of an attempt at `now`: status 200, or 500 and the seconds until the next attempt.
fn delivery_result(now: Timestamp, retry_after: Option<i64>) -> DeliveryResult {
    let status = if retry_after.is_some() { 500 } else { 200 };
    DeliveryResult {
        at: now,
        milliseconds: 0,
        status: Some(status),
        fault: None,
        retry_after: retry_after.map(SignedDuration::from_secs),
        accepted: retry_after.is_none(),
    }
}

pub(crate) async fn a_message_is_claimed_once_and_sent_until_it_is_taken(backend: impl Backend) {
    let store = backend.open_store();
    let mut now = due_time();
    write_changes(&store, Changes::default().with_outgoing_get(&sample_entity(1).id, NOTIFICATION, ADDRESS.to_owned()))
        .await
        .unwrap();
    let ids = due_messages(&store, now);
    let (one, two) = tokio::join!(
        store.claim_messages(ids.clone(), "one".to_owned(), now),
        store.claim_messages(ids, "two".to_owned(), now)
    );
    let claimed = [one.unwrap(), two.unwrap()].concat();
    assert_eq!(claimed.len(), 1);
    let message = &claimed[0];
    assert!(matches!(&message.content, MessageContent::Get(address) if address == ADDRESS));
    assert_eq!((&message.kind[..], &message.owner[..]), (NOTIFICATION, sample_entity(1).id.as_str()));
    assert_eq!((&message.queue[..], message.failures), ("shop.example", 0));
    assert_eq!(due_messages(&store, now), []);
    store.record_delivery_attempt(message, delivery_result(now, Some(30))).await.unwrap();
    assert_eq!(due_messages(&store, now), []);
    now += SignedDuration::from_secs(30);
    let reclaimed = claim_due(&store, "two", now).await;
    assert_eq!(reclaimed.iter().map(|message| (&message.id, message.failures)).collect::<Vec<_>>(), [(&message.id, 1)]);
    store.record_delivery_attempt(&reclaimed[0], delivery_result(now, None)).await.unwrap();
    assert_eq!(due_messages(&store, now + SignedDuration::from_hours(100)), []);
    let failures = store.count_failures_since(now - SignedDuration::from_hours(1)).unwrap();
    assert_eq!(failures, [("shop.example".to_owned(), 1)]);
}

pub(crate) async fn a_sender_that_was_stopped_for_too_long_makes_no_message_due_again(backend: impl Backend) {
    let store = backend.open_store();
    let now = due_time();
    for _ in 0..2 {
        let changes = Changes::default().with_outgoing_get(&sample_entity(1).id, NOTIFICATION, ADDRESS.to_owned());
        write_changes(&store, changes).await.unwrap();
    }
    let stopped = claim_due(&store, "one", now).await;
    let later = now + SignedDuration::from_secs(61);
    let sent = claim_due(&store, "two", later).await;
    assert_eq!((stopped.len(), sent.len()), (2, 2));
    // One is delivered by the second sender, and is under way there when the first one wakes up; so is the other one.
    store.record_delivery_attempt(&sent[0], delivery_result(later, None)).await.unwrap();
    for message in &stopped {
        store.record_delivery_attempt(message, delivery_result(later, Some(30))).await.unwrap();
    }
    let much_later = later + SignedDuration::from_hours(1);
    assert_eq!(due_messages(&store, later + SignedDuration::from_secs(40)), [], "one is delivered, and one claimed");
    assert_eq!(due_messages(&store, much_later), [sent[1].id.clone()]);
    // That the receiver has accepted it counts, whoever has sent it.
    store.record_delivery_attempt(&stopped[1], delivery_result(later, None)).await.unwrap();
    store.record_delivery_attempt(&sent[1], delivery_result(later, Some(30))).await.unwrap();
    assert_eq!(due_messages(&store, much_later), []);
}

pub(crate) async fn a_message_of_a_node_that_starts_again_is_free(backend: impl Backend) {
    let store = backend.open_store();
    let now = due_time();
    write_changes(&store, Changes::default().with_outgoing_get(&sample_entity(1).id, NOTIFICATION, ADDRESS.to_owned()))
        .await
        .unwrap();
    assert_eq!(claim_due(&store, "one", now).await.len(), 1);
    store.release_messages("two".to_owned()).await.unwrap();
    assert_eq!(due_messages(&store, now), []);
    store.release_messages("one".to_owned()).await.unwrap();
    assert_eq!(claim_due(&store, "two", now).await.len(), 1);
    // A claim also expires by itself.
    assert_eq!(claim_due(&store, "one", now + SignedDuration::from_hours(1)).await.len(), 1);
}

/// Adds a webhook of `owner` for these types of events. Returns its id, in which `number` occurs.
fn add_webhook(admin: &AdminStore, owner: &Entity, number: u8, types: &str, active: bool) -> MessageId {
    let webhook = Webhook {
        id: MessageId::new(sample_time(0), [number; 9]),
        entity: owner.id.clone(),
        url: ADDRESS.to_owned(),
        sealed: sealed_record(1),
        next_secret: None,
        types: types.to_owned(),
        without_customer: false,
        wrapped: false,
        active,
        created: sample_time(0),
    };
    admin.add_webhook(&webhook).unwrap();
    webhook.id
}

/// Claims and delivers all due events. Returns their names, each with its webhook, in the order of writing. Panics if
/// one of the messages is no event.
async fn claim_events(store: &Store) -> Vec<(String, MessageId)> {
    let mut events = claim_due(store, "tx01", due_time()).await;
    events.sort_by(|one, other| one.id.cmp(&other.id));
    let mut claimed = Vec::new();
    for event in events {
        store.record_delivery_attempt(&event, delivery_result(due_time(), None)).await.unwrap();
        let MessageContent::Webhook(webhook, document) = event.content else { panic!("no event: {event:?}") };
        assert!(document.starts_with(b"{"));
        claimed.push((event.kind, webhook.id));
    }
    claimed
}

pub(crate) async fn an_event_is_written_for_each_active_webhook_that_listens(backend: impl Backend) {
    let admin = backend.open_admin();
    let channel = Entity { level: Level::Channel, parent: Some(sample_entity(2).id), ..sample_entity(1) };
    for owner in [&sample_entity(2), &channel, &sample_entity(3)] {
        admin.add_entity(owner, sample_time(0)).unwrap();
    }
    let own = add_webhook(&admin, &channel, 1, "PAYMENT", true);
    let of_merchant = add_webhook(&admin, &sample_entity(2), 2, "PAYMENT,REGISTRATION", true);
    add_webhook(&admin, &channel, 3, "PAYMENT", false);
    add_webhook(&admin, &channel, 4, "RISK", true);
    add_webhook(&admin, &sample_entity(3), 5, "PAYMENT,REGISTRATION", true);
    let store = backend.open_store();
    let event = |name: &str, webhook: &MessageId| (name.to_owned(), webhook.clone());
    write_changes(&store, Changes::default().with_payment(pending_payment(1))).await.unwrap();
    let created = [event("PAYMENT CREATED", &own), event("PAYMENT CREATED", &of_merchant)];
    assert_eq!(claim_events(&store).await, created);
    // Writing the payment again without a change causes no event.
    write_changes(&store, Changes::default().with_payment(pending_payment(1))).await.unwrap();
    assert_eq!(claim_events(&store).await, []);
    write_changes(&store, Changes::default().with_payment(with_result(&pending_payment(1), codes::TEST_INTERNAL)))
        .await
        .unwrap();
    let updated = [event("PAYMENT UPDATED", &own), event("PAYMENT UPDATED", &of_merchant)];
    assert_eq!(claim_events(&store).await, updated);
    let stored = sample_registration(1);
    for (change, name) in [
        (stored.clone(), "REGISTRATION CREATED"),
        (stored.extend_retention(sample_time(7200)), "REGISTRATION UPDATED"),
        (stored.as_ended(tillgate_domain::registration::RegistrationEnd::Deregistered), "REGISTRATION DELETED"),
    ] {
        write_changes(&store, Changes::default().with_registration(&change)).await.unwrap();
        assert_eq!(claim_events(&store).await, [event(name, &of_merchant)]);
    }
    let mut rejected = sample_registration(2);
    rejected.result = codes::CARD_EXPIRED;
    write_changes(&store, Changes::default().with_registration(&rejected)).await.unwrap();
    assert_eq!(claim_events(&store).await, []);
}

pub(crate) async fn the_events_of_a_risk_check_follow_those_of_its_payment(backend: impl Backend) {
    let admin = backend.open_admin();
    admin.add_entity(&sample_entity(1), sample_time(0)).unwrap();
    let of_both = add_webhook(&admin, &sample_entity(1), 1, "PAYMENT,RISK", true);
    let of_risk = add_webhook(&admin, &sample_entity(1), 2, "RISK", true);
    let of_payments = add_webhook(&admin, &sample_entity(1), 3, "PAYMENT", true);
    let store = backend.open_store();
    let checked = |payment: Payment| {
        let decision = Some(RiskDecision::of_outcome(RiskOutcome::Review));
        Payment { risk: Some(Box::new(PaymentRisk { decision, ..PaymentRisk::default() })), ..payment }
    };
    let held = checked(with_result(&sample_payment(1), codes::RISK_HELD));
    for (payment, action) in [
        (held.clone(), Some("CREATED")),
        (held.clone(), None),
        (with_result(&held, codes::TEST_INTERNAL), Some("UPDATED")),
        (with_result(&held, codes::TEST_INTERNAL), None),
        (checked(sample_payment(2)), Some("CREATED")),
    ] {
        let result = payment.result;
        write_changes(&store, Changes::default().with_payment(payment)).await.unwrap();
        let event =
            |kind: &str, webhook: &MessageId| (format!("{kind} {}", action.unwrap_or_default()), webhook.clone());
        let expected = [
            event("PAYMENT", &of_both),
            event("RISK", &of_both),
            event("RISK", &of_risk),
            event("PAYMENT", &of_payments),
        ];
        let expected = if action.is_some() { &expected[..] } else { &[] };
        assert_eq!(claim_events(&store).await, expected, "{result:?}");
    }
    // A payment that is not checked has no such events.
    write_changes(&store, Changes::default().with_payment(sample_payment(3))).await.unwrap();
    let created = |webhook: &MessageId| ("PAYMENT CREATED".to_owned(), webhook.clone());
    assert_eq!(claim_events(&store).await, [created(&of_both), created(&of_payments)]);
}

pub(crate) async fn a_notification_is_written_when_the_outcome_comes_later(backend: impl Backend) {
    let store = backend.open_store();
    let with_address = |payment: Payment| with_parameter(payment, NOTIFICATION_URL, ADDRESS);
    let count = || due_messages(&store, due_time()).len();
    let (paid, waiting) = (with_address(sample_payment(1)), with_address(pending_payment(2)));
    write_changes(&store, Changes::default().with_payment(paid.clone()).with_payment(waiting.clone())).await.unwrap();
    assert_eq!(count(), 0, "the response reports a new payment");
    write_changes(&store, Changes::default().with_payment(with_result(&waiting, codes::CARD_EXPIRED))).await.unwrap();
    assert_eq!(count(), 1);
    let refund = with_address(follow_up(&paid, 3, PaymentType::Refund, "1.00"));
    write_changes(&store, Changes::default().with_payment(refund.clone())).await.unwrap();
    assert_eq!(count(), 2);
    write_changes(&store, Changes::default().with_payment(refund.clone())).await.unwrap();
    assert_eq!(count(), 2);
}

pub(crate) async fn a_refused_decision_sends_nothing(backend: impl Backend) {
    let store = backend.open_store();
    let refuse = |_| Err::<(Changes, ()), _>(Refusal::checkout_closed());
    assert!(store.update(RecordKeys::none(), refuse).await.unwrap().is_err());
    let changes = Changes::default().with_outgoing_get(&sample_entity(1).id, NOTIFICATION, ADDRESS.to_owned());
    // The payment violates a constraint, so neither the payment nor its message is written.
    write_changes(&store, Changes::default().with_payment(sample_payment(1))).await.unwrap();
    let too_much = follow_up(&sample_payment(1), 2, PaymentType::Refund, "93.00");
    assert!(write_changes(&store, changes.with_payment(too_much.clone())).await.is_err());
    assert_eq!(due_messages(&store, due_time()), []);
}

pub(crate) async fn whoever_waits_for_messages_learns_of_one(backend: impl Backend) {
    let store = backend.open_store();
    write_changes(&store, Changes::default().with_outgoing_get(&sample_entity(1).id, NOTIFICATION, ADDRESS.to_owned()))
        .await
        .unwrap();
    tokio::time::timeout(Duration::from_secs(20), store.wait_for_message()).await.unwrap();
}

pub(crate) async fn the_event_of_an_expired_registration_wakes_the_delivery(backend: impl Backend) {
    let admin = backend.open_admin();
    admin.add_entity(&sample_entity(1), sample_time(0)).unwrap();
    let webhook = add_webhook(&admin, &sample_entity(1), 1, "REGISTRATION", true);
    let store = backend.open_store();
    let wait_for_wake = async || tokio::time::timeout(Duration::from_secs(20), store.wait_for_message()).await;
    let registration = sample_registration(1);
    let changes = Changes::default().with_registration(&registration);
    write_changes(&store, changes.with_account(&registration, sealed_record(9))).await.unwrap();
    wait_for_wake().await.unwrap();
    assert_eq!(claim_events(&store).await, [("REGISTRATION CREATED".to_owned(), webhook.clone())]);
    let end = registration.retained_until.unwrap();
    assert_eq!(store.end_expired_registrations(end, Registration::as_expired).await.unwrap(), 1);
    wait_for_wake().await.unwrap();
    assert_eq!(claim_events(&store).await, [("REGISTRATION DELETED".to_owned(), webhook)]);
}
