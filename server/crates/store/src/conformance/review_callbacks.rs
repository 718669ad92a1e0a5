//! Review decision callbacks: written in the commit of the decision, and the failed list.

use jiff::{SignedDuration, Timestamp};
use tillgate_domain::access::entity::Entity;
use tillgate_domain::access::level::Level;
use tillgate_domain::id::{EntityId, PaymentId};
use tillgate_domain::payment::Payment;
use tillgate_domain::review::decision::{DecisionType, ReviewDecision};
use tillgate_message::review_callback::CallbackDocument;
use tillgate_shared::result::codes;

use super::Backend;
use super::outbox::{claim_due, due_time};
use super::samples::{sample_entity, sample_payment, sample_time, sealed_record, with_result, write_changes};
use crate::delivery::message::{DeliveryResult, MessageContent};
use crate::review::callback::StoredCallback;
use crate::review::failed_callbacks::FailedListOutcome;
use crate::{AdminStore, Changes};

/// Adds a merchant with a callback, and its channel without one. Returns the channel.
fn add_entities(admin: &AdminStore) -> Entity {
    let merchant = sample_entity(1);
    let channel = Entity { level: Level::Channel, parent: Some(merchant.id.clone()), ..sample_entity(2) };
    for entity in [&merchant, &channel] {
        admin.add_entity(entity, sample_time(0)).unwrap();
    }
    admin.save_review_callback(&callback_of(&merchant.id, true)).unwrap();
    channel
}

fn callback_of(entity: &EntityId, sends: bool) -> StoredCallback {
    StoredCallback { entity: entity.clone(), sealed: sealed_record(7), sends, changed: sample_time(0) }
}

fn decision_about(payment: &PaymentId, entity: &EntityId) -> ReviewDecision {
    ReviewDecision {
        is_expiry: false,
        payment: payment.clone(),
        entity: entity.clone(),
        transaction_id: "order-4711".to_owned(),
        decision: DecisionType::Cancel,
        user_id: "jane".to_owned(),
        cancel_reason: Some(3),
        note: None,
        processed: sample_time(5),
        at: sample_time(5),
        actor: None,
    }
}

/// Returns the result of a failed attempt without a further one.
fn last_failure(at: Timestamp) -> DeliveryResult {
    DeliveryResult { at, milliseconds: 0, status: Some(500), fault: None, retry_after: None, accepted: false }
}

pub(crate) async fn a_decision_is_reported_by_the_nearest_callback_with_its_payment(backend: impl Backend) {
    let (store, admin) = (backend.open_store(), backend.open_admin());
    let channel = add_entities(&admin);
    let payment = Payment { entity: channel.id.clone(), ..sample_payment(0) };
    let decision = decision_about(&payment.id, &channel.id);
    // The payment of the commit is the one in the message.
    write_changes(&store, Changes::default().with_payment(with_result(&payment, codes::PENDING))).await.unwrap();
    let decided = with_result(&payment, codes::TEST_INTERNAL);
    let changes = Changes::default().with_review_decision(decision.clone()).with_payment(decided.clone());
    write_changes(&store, changes).await.unwrap();
    let claimed = claim_due(&store, "one", due_time()).await;
    assert_eq!(claimed.len(), 1);
    let MessageContent::ReviewCallback(callback, document) = &claimed[0].content else {
        panic!("{:?}", claimed[0].content);
    };
    assert_eq!((&callback.entity, &claimed[0].owner[..]), (&sample_entity(1).id, sample_entity(1).id.as_str()));
    let document: CallbackDocument = serde_json::from_slice(document).unwrap();
    // A stored callback does not have the time of the audit.
    let reported = ReviewDecision { at: Timestamp::default(), ..decision.clone() };
    assert_eq!(document, CallbackDocument { decision: reported, payment: decided });
    // A nearer configuration without a destination reports nothing, and neither does none at all.
    admin.save_review_callback(&callback_of(&channel.id, false)).unwrap();
    let stranger = decision_about(&payment.id, &sample_entity(3).id);
    for decision in [decision.clone(), stranger] {
        write_changes(&store, Changes::default().with_review_decision(decision)).await.unwrap();
    }
    assert_eq!(claim_due(&store, "one", due_time()).await.len(), 0);
    // The payment was never held, so the audit log has no decision about it.
    let query =
        "SELECT count(*) FROM audit_entry WHERE json_extract(CAST(document AS TEXT), '$.action') LIKE 'review %'";
    let decisions: i64 = admin.session.query_one(query, (), |row| row.get(0)).unwrap();
    assert_eq!(decisions, 0);
    // A decision about an unknown payment is a mistake, which fails the whole write.
    admin.remove_review_callback(&channel.id).unwrap();
    let unknown = decision_about(&sample_payment(9).id, &channel.id);
    let changes = Changes::default().with_payment(Payment { entity: channel.id.clone(), ..sample_payment(1) });
    assert!(write_changes(&store, changes.with_review_decision(unknown)).await.is_err());
    assert!(store.load_payment(&channel.id, &sample_payment(1).id).unwrap().is_none());
}

pub(crate) async fn a_callback_that_fails_is_listed_until_it_is_deleted(backend: impl Backend) {
    let (store, admin) = (backend.open_store(), backend.open_admin());
    let channel = add_entities(&admin);
    let payment = Payment { entity: channel.id.clone(), ..sample_payment(0) };
    let decision = decision_about(&payment.id, &channel.id);
    let changes = Changes::default().with_payment(payment.clone()).with_review_decision(decision);
    write_changes(&store, changes).await.unwrap();
    let mut now = due_time();
    for resubmitted in [false, true] {
        let claimed = claim_due(&store, "one", now).await.remove(0);
        store.record_delivery_attempt(&claimed, last_failure(now)).await.unwrap();
        let message = claimed.id;
        let failed = admin.load_failed_callbacks(Some(&sample_entity(1).id)).unwrap();
        assert_eq!((failed.len(), failed[0].resubmitted, failed[0].status), (1, resubmitted, Some(500)));
        assert_eq!((&failed[0].message_id[..], &failed[0].transaction_id[..]), (message.as_str(), "order-4711"));
        assert_eq!(admin.load_failed_callbacks(Some(&channel.id)).unwrap(), []);
        assert_eq!(admin.count_open_callbacks(&sample_entity(1).id).unwrap(), (0, 1));
        // The list does not expire.
        store.delete_expired_messages(now + SignedDuration::from_hours(100 * 24)).await.unwrap();
        now += SignedDuration::from_secs(60);
        let outcome = admin.resubmit_callback(message.as_str(), "jane", now).unwrap();
        let expected = if resubmitted { FailedListOutcome::AlreadyResubmitted } else { FailedListOutcome::Done };
        assert_eq!(outcome, expected);
    }
    let message = admin.load_failed_callbacks(None).unwrap().remove(0).message_id;
    for expected in [FailedListOutcome::Done, FailedListOutcome::NotListed] {
        assert_eq!(admin.delete_failed_callback(&message, "joe", now).unwrap(), expected);
        assert_eq!(admin.load_failed_callbacks(None).unwrap(), []);
    }
    assert_eq!(admin.resubmit_callback(&message, "jane", now).unwrap(), FailedListOutcome::NotListed);
    let audit = admin.load_callback_audit(&sample_entity(1).id, 10).unwrap();
    let actions: Vec<&str> = audit.iter().map(|entry| entry.action.as_str()).collect();
    assert_eq!(actions, ["delete", "failed", "resubmit", "failed"]);
    assert_eq!((&audit[0].actor[..], audit[0].detail.as_deref()), ("joe", Some("order-4711")));
}
