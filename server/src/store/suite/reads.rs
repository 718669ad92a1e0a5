//! Reads: pages in order, what belongs together, and who may see what.

use std::collections::BTreeSet;
use std::net::IpAddr;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tillgate_shared::result::codes;

use super::Backend;
use super::samples::{at, entity, follow_up, payment, pending, with_parameter, with_result, write};
use crate::credential::Credential;
use crate::directory::Directory;
use crate::domain::id::{EntityId, PaymentId};
use crate::domain::payment::{Payment, PaymentType};
use crate::domain::query::Range;
use crate::store::{Cancelled, Changes, Store, StoreError, Watched};
/// Payments of two entities in turn, a second apart.
async fn write_in_turn(store: &Store, count: i64) -> Vec<Payment> {
    let mut all = Vec::new();
    let mut changes = Changes::default();
    for second in 0..count {
        let owner = u8::try_from(second % 2 + 1).unwrap();
        let payment = Payment { entity: entity(owner).id, ..payment(second) };
        changes = changes.payment(&payment);
        all.push(payment);
    }
    write(store, changes).await.unwrap();
    all
}

pub(in crate::store) async fn payments_are_paged_in_the_order_of_their_ids_across_entities(backend: impl Backend) {
    let store = backend.open();
    let all: Vec<PaymentId> = write_in_turn(&store, 25).await.into_iter().map(|payment| payment.id).collect();
    let page = async |range: Range, most: usize| {
        let reader = Arc::clone(&store);
        let read = move |cancelled: &Cancelled<'_>| {
            let mut page = Vec::new();
            reader.walk_payments(&[entity(1).id, entity(2).id], &range, cancelled, |row| {
                page.push(row.payment()?.id);
                Ok(if page.len() == most { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
            })?;
            Ok::<_, StoreError>(page)
        };
        store.long_reads.run(&entity(1).id, read).await.unwrap().unwrap()
    };
    let (mut range, mut paged) = (Range::all(), Vec::new());
    loop {
        let next = page(range.clone(), 7).await;
        let Some(last) = next.last() else { break };
        range = range.after(last);
        paged.extend(next);
    }
    assert_eq!(paged, all);
    // Both ends of a range count, the second one as what is no longer in it.
    let middle = Range { from: all[5].clone(), until: Some(all[8].clone()) };
    assert_eq!(page(middle, 100).await, all[5..8]);
}

pub(in crate::store) async fn payments_are_counted_up_to_a_limit(backend: impl Backend) {
    let store = backend.open();
    let all = write_in_turn(&store, 9).await;
    let count = |entities: &[EntityId], range: &Range, most| store.count_payments(entities, range, most).unwrap();
    let both = [entity(1).id, entity(2).id];
    assert_eq!(count(&both, &Range::all(), 100), 9);
    assert_eq!(count(&both, &Range::all(), 7), 7);
    assert_eq!(count(&both[1..], &Range::all(), 100), 4);
    let until = Some(all[6].id.clone());
    assert_eq!(count(&both, &Range { from: all[2].id.clone(), until }, 100), 4);
}

pub(in crate::store) async fn payments_of_a_reference_come_with_what_belongs_to_them(backend: impl Backend) {
    let store = backend.open();
    let order = with_parameter(payment(1), "merchantTransactionId", "order-1");
    let other = with_parameter(payment(2), "merchantTransactionId", "order-2");
    let refund = follow_up(&order, 3, PaymentType::Refund, "1.00");
    let chargeback = follow_up(&refund, 4, PaymentType::Chargeback, "1.00");
    for payment in [&order, &other, &refund, &chargeback] {
        write(&store, Changes::default().payment(payment)).await.unwrap();
    }
    let both = [entity(2).id, entity(1).id];
    let ids = |payments: Vec<Payment>| payments.into_iter().map(|payment| payment.id).collect::<Vec<_>>();
    let found = ids(store.payments_of_reference(&both, "order-1", 10).unwrap());
    assert_eq!(found, [order.id.clone(), refund.id.clone(), chargeback.id.clone()]);
    assert_eq!(ids(store.payments_of_reference(&both, "order-1", 2).unwrap()), found[..2]);
    assert_eq!(store.payments_of_reference(&both[..1], "order-1", 10).unwrap(), []);
    assert_eq!(ids(store.linked_payments(&chargeback, 10).unwrap()), found);
    let (loaded, links) = store.payment_with_links(&both, &order.id).unwrap().unwrap();
    assert_eq!((loaded, links.len()), (order, 1));
}

pub(in crate::store) async fn a_payment_is_found_by_its_entity_and_by_its_page_only(backend: impl Backend) {
    let store = backend.open();
    let waiting = pending(1);
    write(&store, Changes::default().payment(&waiting)).await.unwrap();
    assert_eq!(store.payment(&entity(2).id, &waiting.id).unwrap(), None);
    assert_eq!(store.payment_of(&[entity(2).id], &waiting.id).unwrap(), None);
    assert_eq!(store.payment_of(&[entity(2).id, entity(1).id], &waiting.id).unwrap().as_ref(), Some(&waiting));
    let page = waiting.redirect.as_ref().and_then(|redirect| redirect.page.clone()).unwrap();
    assert_eq!(store.payment_of_page(&page).unwrap(), Some(waiting));
}

pub(in crate::store) async fn attempts_that_share_parameters_are_read_complete(backend: impl Backend) {
    let store = backend.open();
    let declined = |seconds| with_result(&payment(seconds), codes::CARD_EXPIRED);
    let item = |payment| with_parameter(payment, "cart.items[0].name", "Rye bread");
    let first = item(declined(1));
    let mut second = with_parameter(item(declined(2)), "customer.email", "jane@shop.example");
    second.share_with(&first);
    write(&store, Changes::default().payment(&first)).await.unwrap();
    write(&store, Changes::default().payment(&second)).await.unwrap();
    let read = store.payment(&second.entity, &second.id).unwrap().unwrap();
    let parameters = |payment: &Payment| -> BTreeSet<(String, String)> {
        payment.parameters.iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
    };
    assert_eq!(parameters(&read), parameters(&second));
    let found = store.payments_of_reference(&[entity(1).id], "none", 10).unwrap();
    assert_eq!(found, []);
}

pub(in crate::store) async fn a_change_of_a_payment_or_its_reference_is_noticed(backend: impl Backend) {
    let store = backend.open();
    let order = |payment| with_parameter(payment, "merchantTransactionId", "order-1");
    let first = order(payment(1));
    write(&store, Changes::default().payment(&first)).await.unwrap();
    let watch = || {
        let moment = store.changed.moment();
        Watched::reference(moment, &first.entity, "order-1", std::iter::once(&first.id)).unwrap()
    };
    let watched = watch();
    assert!(store.changed.is_as_it_was(&watched));
    let other = with_parameter(payment(2), "merchantTransactionId", "order-2");
    write(&store, Changes::default().payment(&other)).await.unwrap();
    assert!(store.changed.is_as_it_was(&watched));
    write(&store, Changes::default().payment(&follow_up(&first, 3, PaymentType::Refund, "1.00"))).await.unwrap();
    assert!(!store.changed.is_as_it_was(&watched));
    let watched = watch();
    write(&store, Changes::default().payment(&order(payment(4)))).await.unwrap();
    assert!(!store.changed.is_as_it_was(&watched));
}

pub(in crate::store) async fn a_token_that_a_command_makes_or_revokes_is_noticed(backend: impl Backend) {
    let directory = Arc::new(Directory::default());
    let _store = backend.open_with(Arc::clone(&directory));
    let admin = backend.open_admin();
    let now = at(0);
    admin.add_entity(&entity(1), now).unwrap();
    let credential = Credential::new("user".to_owned(), "secret", entity(1).id);
    admin.add_token(&credential, "", now).unwrap();
    let knows = |password| directory.authenticate("user", password, IpAddr::from([192, 0, 2, 1]), now).is_ok();
    until(|| knows("secret")).await;
    assert!(!knows("other"));
    assert!(admin.revoke_token("user", now).unwrap() && !admin.revoke_token("user", now).unwrap());
    until(|| !knows("secret")).await;
}

/// Waits for a condition: the store looks for what other processes have written twenty times a second.
async fn until(condition: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while !condition() {
        assert!(Instant::now() < deadline, "the condition did not come true");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
