//! Writes: each decision sees what was committed before it, and is durable as a whole or not at all.

use std::sync::Arc;

use tillgate_shared::result::codes;

use super::Backend;
use super::samples::{
    amount, at, checkout, entity, follow_up, payment, pending, registration, with_parameter, with_result, write,
};
use crate::domain::idempotency::{Answer, IdempotencyKey, Named};
use crate::domain::payment::{Payment, PaymentType};
use crate::domain::refusal::Refusal;
use crate::store::wallet::WalletToken;
use crate::store::{Changes, KeptAnswer, Keys, Loaded, OnFileKeys, StoreError};
use crate::vault::{BlindIndex, FINGERPRINT};

pub(in crate::store) async fn concurrent_decisions_about_one_checkout_are_taken_one_after_the_other(
    backend: impl Backend,
) {
    let store = backend.open();
    let first = checkout(1);
    write(&store, Changes::default().checkout(&first)).await.unwrap();
    let raised = (0..50).map(|_| {
        let (store, keys) = (Arc::clone(&store), Keys::checkout(&first.id));
        tokio::spawn(async move {
            let decide = |loaded: Loaded| {
                let mut next = loaded.checkout.expect("it has been stored");
                next.version += 1;
                Ok((Changes::default().checkout(&next), next.version))
            };
            store.update(keys, decide).await
        })
    });
    let mut versions = Vec::new();
    for task in raised.collect::<Vec<_>>() {
        versions.push(task.await.unwrap().unwrap().unwrap());
    }
    versions.sort_unstable();
    assert_eq!(versions, (1..=50).collect::<Vec<u64>>());
    assert_eq!(store.checkout(&first.id).unwrap().unwrap().version, 50);
}

pub(in crate::store) async fn a_decision_sees_everything_that_was_committed_before_it(backend: impl Backend) {
    let store = backend.open();
    let (checkout, paid) = (checkout(1), payment(1));
    let refund = follow_up(&paid, 2, PaymentType::Refund, "30.00");
    let stored = registration(1);
    let changes = Changes::default().checkout(&checkout).payment(&paid).registration(&stored);
    let changes = changes.account(&stored, BlindIndex::from([1; 32]), vec![1]);
    write(&store, changes).await.unwrap();
    write(&store, Changes::default().payment(&refund)).await.unwrap();
    let keys = Keys {
        on_file: OnFileKeys {
            registration: Some((stored.entity.clone(), stored.id.clone())),
            used: Some((stored.entity.clone(), stored.id.clone())),
            chain: Some((stored.entity.clone(), "unknown".to_owned())),
        },
        checkout: Some(checkout.id.clone()),
        ..Keys::payment(&paid.entity, &paid.id)
    };
    let decide = move |loaded: Loaded| {
        assert_eq!((loaded.checkout, loaded.payment), (Some(checkout), Some(paid)));
        let links: Vec<_> =
            loaded.links.iter().map(|link| (link.payment_type, link.hundredths, link.approved)).collect();
        assert_eq!(links, [(PaymentType::Refund, 3000, true)]);
        assert_eq!((loaded.on_file.registration, loaded.on_file.used), (Some(stored), true));
        assert!(loaded.on_file.chain.is_none() && !loaded.reference_paid && !loaded.token_used);
        Ok((Changes::default(), ()))
    };
    store.update(keys, decide).await.unwrap().unwrap();
    let nothing = |loaded: Loaded| {
        assert!(loaded.checkout.is_none() && loaded.payment.is_none() && loaded.links.is_empty());
        Ok((Changes::default(), ()))
    };
    // Of another entity, nothing is found.
    store.update(Keys::payment(&entity(2).id, &payment(1).id), nothing).await.unwrap().unwrap();
}

pub(in crate::store) async fn a_refused_decision_writes_nothing(backend: impl Backend) {
    let store = backend.open();
    let first = checkout(1);
    write(&store, Changes::default().checkout(&first)).await.unwrap();
    let refuse = |_| Err::<(Changes, ()), _>(Refusal::checkout_closed());
    let refused = store.update(Keys::checkout(&first.id), refuse).await.unwrap().unwrap_err();
    assert_eq!(refused.code, Refusal::checkout_closed().code);
    assert_eq!(store.checkout(&first.id).unwrap(), Some(first));
}

pub(in crate::store) async fn of_two_decisions_that_were_prepared_on_one_version_one_is_refused(backend: impl Backend) {
    let store = backend.open();
    let first = checkout(1);
    write(&store, Changes::default().checkout(&first)).await.unwrap();
    let mut outcomes = Vec::new();
    for build in ["one", "two"] {
        let (mut next, expected) = (first.clone(), first.version);
        (next.version, next.build) = (expected + 1, build.to_owned());
        let decide = move |loaded: Loaded| {
            let is_current = loaded.checkout.is_some_and(|stored| stored.version == expected);
            if is_current { Ok((Changes::default().checkout(&next), ())) } else { Err(Refusal::checkout_closed()) }
        };
        outcomes.push(store.update(Keys::checkout(&first.id), decide).await.unwrap().is_ok());
    }
    assert_eq!(outcomes, [true, false]);
    assert_eq!(store.checkout(&first.id).unwrap().unwrap().build, "one");
}

pub(in crate::store) async fn a_write_that_fails_takes_nothing_from_its_neighbours(backend: impl Backend) {
    let store = backend.open();
    // Every fourth request has the same name, which one of them gets.
    let writes = (0..40u8).map(|number| {
        let store = Arc::clone(&store);
        let changes = Changes::default().checkout(&checkout(number));
        let changes = if number % 4 == 0 { changes.answer(named_answer()) } else { changes };
        tokio::spawn(async move { write(&store, changes).await })
    });
    let mut failed = 0;
    for (number, task) in (0..40u8).zip(writes.collect::<Vec<_>>()) {
        let outcome = task.await.unwrap();
        let stored = store.checkout(&checkout(number).id).unwrap().is_some();
        assert_eq!(outcome.is_ok(), stored, "write {number}");
        if let Err(error) = outcome {
            assert!(number % 4 == 0 && matches!(error, StoreError::NameTaken), "write {number}: {error}");
            failed += 1;
        }
    }
    assert_eq!(failed, 9);
}

fn named_answer() -> KeptAnswer {
    let key = IdempotencyKey::parse(b"one-of-many").unwrap();
    KeptAnswer {
        named: Named { entity: entity(1).id, key, fingerprint: [7; FINGERPRINT] },
        answer: Answer { status: 200, body: b"{}".to_vec() },
        made: at(0),
        until: at(100),
        owner: None,
    }
}

pub(in crate::store) async fn what_was_answered_is_there_when_the_store_is_opened_again(backend: impl Backend) {
    let store = backend.open();
    write(&store, Changes::default().checkout(&checkout(7)).payment(&payment(1))).await.unwrap();
    drop(store);
    let store = backend.open();
    assert_eq!(store.checkout(&checkout(7).id).unwrap(), Some(checkout(7)));
    assert_eq!(store.payment(&payment(1).entity, &payment(1).id).unwrap(), Some(payment(1)));
}

pub(in crate::store) async fn a_checkout_has_one_pending_or_approved_payment(backend: impl Backend) {
    let store = backend.open();
    let of_checkout = |payment: Payment| Payment { checkout: Some(checkout(1).id), ..payment };
    let declined = of_checkout(with_result(&payment(1), codes::CARD_EXPIRED));
    let waiting = of_checkout(pending(2));
    write(&store, Changes::default().payment(&declined)).await.unwrap();
    write(&store, Changes::default().payment(&waiting)).await.unwrap();
    let second = of_checkout(payment(3));
    assert!(write(&store, Changes::default().payment(&second)).await.is_err());
    assert_eq!(store.payment(&second.entity, &second.id).unwrap(), None);
    // Its shopper gives the first up in the same commit.
    let mut given_up = waiting;
    given_up.redirect.as_mut().unwrap().abandoned = true;
    write(&store, Changes::default().payment(&given_up).payment(&second)).await.unwrap();
    assert_eq!(store.payment(&second.entity, &second.id).unwrap(), Some(second));
}

pub(in crate::store) async fn the_amount_and_the_final_result_of_a_payment_never_change(backend: impl Backend) {
    let store = backend.open();
    let paid = payment(1);
    write(&store, Changes::default().payment(&pending(2)).payment(&paid)).await.unwrap();
    for changed in [with_result(&paid, codes::CARD_EXPIRED), Payment { amount: amount("91.00"), ..paid.clone() }] {
        assert!(write(&store, Changes::default().payment(&changed)).await.is_err());
        assert_eq!(store.payment(&paid.entity, &paid.id).unwrap().as_ref(), Some(&paid));
    }
    let approved = with_result(&pending(2), codes::TEST_INTERNAL);
    write(&store, Changes::default().payment(&approved)).await.unwrap();
    assert_eq!(store.payment(&approved.entity, &approved.id).unwrap(), Some(approved));
}

pub(in crate::store) async fn follow_up_payments_stay_within_the_amount(backend: impl Backend) {
    let store = backend.open();
    let paid = payment(1);
    let refund = |seconds, amount| follow_up(&paid, seconds, PaymentType::Refund, amount);
    write(&store, Changes::default().payment(&paid)).await.unwrap();
    write(&store, Changes::default().payment(&refund(2, "90.00"))).await.unwrap();
    let too_much = refund(3, "2.01");
    assert!(write(&store, Changes::default().payment(&too_much)).await.is_err());
    assert_eq!(store.payment(&too_much.entity, &too_much.id).unwrap(), None);
    write(&store, Changes::default().payment(&refund(4, "2.00"))).await.unwrap();
    let (_, links) = store.payment_with_links(std::slice::from_ref(&paid.entity), &paid.id).unwrap().unwrap();
    assert_eq!(links.iter().map(|link| link.hundredths).collect::<Vec<_>>(), [9000, 200]);
}

pub(in crate::store) async fn a_reference_is_paid_by_a_payment_that_succeeded_or_may_yet(backend: impl Backend) {
    let store = backend.open();
    let order = |payment: Payment| with_parameter(payment, "merchantTransactionId", "order-1");
    let paid_but = async |unless: Option<Payment>| {
        let reference = Some((entity(1).id, "order-1".to_owned()));
        let keys = Keys { reference, unless: unless.map(|payment| payment.id), ..Keys::none() };
        store.update(keys, |loaded| Ok((Changes::default(), loaded.reference_paid))).await.unwrap().unwrap()
    };
    write(&store, Changes::default().payment(&order(with_result(&payment(1), codes::CARD_EXPIRED)))).await.unwrap();
    assert!(!paid_but(None).await);
    write(&store, Changes::default().payment(&order(pending(2)))).await.unwrap();
    assert!(paid_but(None).await && !paid_but(Some(pending(2))).await);
    let mut given_up = order(pending(2));
    given_up.redirect.as_mut().unwrap().abandoned = true;
    write(&store, Changes::default().payment(&given_up)).await.unwrap();
    assert!(!paid_but(None).await);
    write(&store, Changes::default().payment(&order(payment(3)))).await.unwrap();
    assert!(paid_but(None).await && paid_but(Some(pending(2))).await);
}

pub(in crate::store) async fn a_wallet_token_pays_once(backend: impl Backend) {
    let store = backend.open();
    let token = WalletToken { entity: entity(1).id, id: "token".to_owned(), until: at(60) };
    let is_used = async || {
        let keys = Keys { wallet_token: Some(token.clone()), ..Keys::none() };
        store.update(keys, |loaded| Ok((Changes::default(), loaded.token_used))).await.unwrap().unwrap()
    };
    assert!(!is_used().await);
    write(&store, Changes::default().wallet_token(&token).payment(&payment(1))).await.unwrap();
    assert!(is_used().await);
    assert!(write(&store, Changes::default().wallet_token(&token).payment(&payment(2))).await.is_err());
    assert_eq!(store.payment(&entity(1).id, &payment(2).id).unwrap(), None);
    store.forget_wallet_tokens(at(59)).await.unwrap();
    assert!(is_used().await);
    store.forget_wallet_tokens(at(60)).await.unwrap();
    assert!(!is_used().await);
}
