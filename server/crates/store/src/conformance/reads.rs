//! Reads: pages in order, related payments, and access by entity.

use std::collections::BTreeSet;
use std::net::IpAddr;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tillgate_domain::id::{EntityId, PaymentId};
use tillgate_domain::payment::query::PaymentRange;
use tillgate_domain::payment::{Payment, PaymentType};
use tillgate_shared::result::codes;

use super::Backend;
use super::samples::{
    empty_directory, follow_up, pending_payment, sample_entity, sample_message, sample_payment, sample_time,
    with_parameter, with_result, write_changes,
};
use crate::access::credential::Credential;
use crate::{CacheStamp, Cancellation, Changes, Store, StoreError};

/// Writes payments of the entities 1 and 2 in turn, a second apart, in one commit. Returns them, oldest first.
async fn write_alternating_payments(store: &Store, count: i64) -> Vec<Payment> {
    let mut all = Vec::new();
    let mut changes = Changes::default();
    for second in 0..count {
        let owner = u8::try_from(second % 2 + 1).unwrap();
        let payment = Payment { entity: sample_entity(owner).id, ..sample_payment(second) };
        changes = changes.with_payment(payment.clone());
        all.push(payment);
    }
    write_changes(store, changes).await.unwrap();
    all
}

pub(crate) async fn payments_are_paged_in_the_order_of_their_ids_across_entities(backend: impl Backend) {
    let store = backend.open_store();
    let all: Vec<PaymentId> =
        write_alternating_payments(&store, 25).await.into_iter().map(|payment| payment.id).collect();
    let page = async |range: PaymentRange, limit: usize| {
        let reader = Arc::clone(&store);
        let read = move |cancelled: &Cancellation<'_>| {
            let mut page = Vec::new();
            reader.visit_payments(&[sample_entity(1).id, sample_entity(2).id], &range, cancelled, |row| {
                page.push(row.decode_payment()?.id);
                Ok(if page.len() == limit { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
            })?;
            Ok::<_, StoreError>(page)
        };
        store.long_reads.run_read(&sample_entity(1).id, read).await.unwrap().unwrap()
    };
    let (mut range, mut paged) = (PaymentRange::all_time(), Vec::new());
    loop {
        let next = page(range.clone(), 7).await;
        let Some(last) = next.last() else { break };
        range = range.after_payment(last);
        paged.extend(next);
    }
    assert_eq!(paged, all);
    // The start of a range is included, its end is excluded.
    let middle = PaymentRange { from: all[5].clone(), until: Some(all[8].clone()) };
    assert_eq!(page(middle, 100).await, all[5..8]);
}

pub(crate) async fn payments_are_counted_up_to_a_limit(backend: impl Backend) {
    let store = backend.open_store();
    let all = write_alternating_payments(&store, 9).await;
    let count =
        |entities: &[EntityId], range: &PaymentRange, limit| store.count_payments(entities, range, limit).unwrap();
    let both = [sample_entity(1).id, sample_entity(2).id];
    assert_eq!(count(&both, &PaymentRange::all_time(), 100), 9);
    assert_eq!(count(&both, &PaymentRange::all_time(), 7), 7);
    assert_eq!(count(&both[1..], &PaymentRange::all_time(), 100), 4);
    let until = Some(all[6].id.clone());
    assert_eq!(count(&both, &PaymentRange { from: all[2].id.clone(), until }, 100), 4);
}

pub(crate) async fn payments_of_a_reference_come_with_what_belongs_to_them(backend: impl Backend) {
    let store = backend.open_store();
    let order = with_parameter(sample_payment(1), "merchantTransactionId", "order-1");
    let other = with_parameter(sample_payment(2), "merchantTransactionId", "order-2");
    let refund = follow_up(&order, 3, PaymentType::Refund, "1.00");
    let chargeback = follow_up(&refund, 4, PaymentType::Chargeback, "1.00");
    for payment in [&order, &other, &refund, &chargeback] {
        write_changes(&store, Changes::default().with_payment(payment.clone())).await.unwrap();
    }
    let both = [sample_entity(2).id, sample_entity(1).id];
    let ids = |payments: Vec<Payment>| payments.into_iter().map(|payment| payment.id).collect::<Vec<_>>();
    let found = ids(store.load_payments_by_reference(&both, "order-1", 10).unwrap());
    assert_eq!(found, [order.id.clone(), refund.id.clone(), chargeback.id.clone()]);
    assert_eq!(ids(store.load_payments_by_reference(&both, "order-1", 2).unwrap()), found[..2]);
    assert_eq!(store.load_payments_by_reference(&both[..1], "order-1", 10).unwrap(), []);
    assert_eq!(ids(store.load_related_payments(&chargeback, 10).unwrap()), found);
    let (loaded, links) = store.load_with_follow_ups(&both, &order.id).unwrap().unwrap();
    assert_eq!((loaded, links.len()), (order, 1));
}

pub(crate) async fn a_payment_is_found_by_its_entity_and_by_its_page_only(backend: impl Backend) {
    let store = backend.open_store();
    let waiting = pending_payment(1);
    write_changes(&store, Changes::default().with_payment(waiting.clone())).await.unwrap();
    assert_eq!(store.load_payment(&sample_entity(2).id, &waiting.id).unwrap(), None);
    assert_eq!(store.load_payment_of_any(&[sample_entity(2).id], &waiting.id).unwrap(), None);
    assert_eq!(
        store.load_payment_of_any(&[sample_entity(2).id, sample_entity(1).id], &waiting.id).unwrap().as_ref(),
        Some(&waiting)
    );
    let page = waiting.redirect.as_ref().and_then(|redirect| redirect.page.clone()).unwrap();
    assert_eq!(store.load_payment_of_page(&page).unwrap(), Some(waiting));
}

pub(crate) async fn attempts_that_share_parameters_are_read_complete(backend: impl Backend) {
    let store = backend.open_store();
    let declined = |seconds| with_result(&sample_payment(seconds), codes::CARD_EXPIRED);
    let item = |payment| with_parameter(payment, "cart.items[0].name", "Rye bread");
    let first = item(declined(1));
    let mut second = with_parameter(item(declined(2)), "customer.email", "jane@shop.example");
    second.share_parameters_with(&first);
    write_changes(&store, Changes::default().with_payment(first.clone())).await.unwrap();
    write_changes(&store, Changes::default().with_payment(second.clone())).await.unwrap();
    let read = store.load_payment(&second.entity, &second.id).unwrap().unwrap();
    let parameters = |payment: &Payment| -> BTreeSet<(String, String)> {
        payment.parameters.iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
    };
    assert_eq!(parameters(&read), parameters(&second));
    let found = store.load_payments_by_reference(&[sample_entity(1).id], "none", 10).unwrap();
    assert_eq!(found, []);
}

pub(crate) async fn a_change_of_a_payment_or_its_reference_is_noticed<B: Backend>(backend: B) {
    let store = backend.open_store();
    let order = |payment| with_parameter(payment, "merchantTransactionId", "order-1");
    let first = order(sample_payment(1));
    write_changes(&store, Changes::default().with_payment(first.clone())).await.unwrap();
    let stamp = || {
        let commit = store.change_log.current_commit();
        CacheStamp::for_reference(commit, &first.entity, "order-1", std::iter::once(&first.id)).unwrap()
    };
    // The log may forget everything at any time, when SQLite has written the log back or another process has written.
    let mut outlives_another = false;
    for second in 20..40 {
        let before = stamp();
        let other = with_parameter(sample_payment(second), "merchantTransactionId", "order-2");
        write_changes(&store, Changes::default().with_payment(other)).await.unwrap();
        outlives_another |= store.change_log.is_fresh(&before);
    }
    assert_eq!(outlives_another, B::NOTICES_OTHERS);
    let before = stamp();
    write_changes(&store, Changes::default().with_payment(follow_up(&first, 3, PaymentType::Refund, "1.00")))
        .await
        .unwrap();
    assert!(!store.change_log.is_fresh(&before));
    let before = stamp();
    write_changes(&store, Changes::default().with_payment(order(sample_payment(4)))).await.unwrap();
    assert!(!store.change_log.is_fresh(&before));
}

pub(crate) async fn a_token_that_a_command_makes_or_revokes_is_noticed(backend: impl Backend) {
    let directory = empty_directory();
    let _store = backend.open_store_with(Arc::clone(&directory));
    let admin = backend.open_admin();
    let now = sample_time(0);
    admin.add_entity(&sample_entity(1), now).unwrap();
    let credential = Credential::new("user".to_owned(), "secret", sample_entity(1).id);
    admin.add_token(&credential, "", now).unwrap();
    let knows = |password| directory.authenticate("user", password, IpAddr::from([192, 0, 2, 1]), now).is_ok();
    wait_until(|| knows("secret")).await;
    assert!(!knows("other"));
    assert!(admin.revoke_token("user", now).unwrap() && !admin.revoke_token("user", now).unwrap());
    wait_until(|| !knows("secret")).await;
}

/// Waits until a condition is true; panics after 20 seconds. The store checks for writes of other processes twenty
/// times a second.
async fn wait_until(condition: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while !condition() {
        assert!(Instant::now() < deadline, "the condition did not come true");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

pub(crate) async fn the_first_and_the_latest_messages_of_a_connector_are_kept(backend: impl Backend) {
    let store = backend.open_store();
    let external = |seconds| Payment { connector: Some("http".to_owned()), ..sample_payment(seconds) };
    let (asked, other) = (external(1), external(2));
    let numbers = |payments: &[&Payment]| -> Vec<u32> {
        let found = store.load_connector_messages(payments).unwrap();
        assert!(found.iter().all(|one| one.message == sample_message(one.number.into())), "{found:?}");
        found.into_iter().map(|one| one.number).collect()
    };
    let first = Changes::default().with_payment(asked.clone()).with_payment(other.clone());
    let messages = (1..=49).map(sample_message).collect();
    write_changes(&store, first.with_connector_messages(&asked, messages)).await.unwrap();
    write_changes(&store, Changes::default().with_connector_messages(&other, vec![sample_message(1)])).await.unwrap();
    assert_eq!(numbers(&[&asked]), (1..=49).collect::<Vec<u32>>());
    // Several messages of one commit drop as many earlier ones, and only those of their payment.
    let more = (50..=53).map(sample_message).collect();
    write_changes(&store, Changes::default().with_connector_messages(&asked, more)).await.unwrap();
    assert_eq!(numbers(&[&asked, &other]), (1..=20).chain(24..=53).chain([1]).collect::<Vec<u32>>());
    assert_eq!(backend.open_admin().load_connector_messages(&[&other]).unwrap().len(), 1);
    // The payment of another entity with the same id is another payment.
    let stranger = Payment { entity: sample_entity(2).id, ..asked };
    assert_eq!(numbers(&[&stranger]), Vec::<u32>::new());
    let silent = Changes::default().with_connector_messages(&other, Vec::new());
    assert_eq!(silent.owning_entity(), None);
}
