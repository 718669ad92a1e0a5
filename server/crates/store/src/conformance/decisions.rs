//! Writes: each decision sees everything committed before it, and is durable as a whole or not at all.

use std::sync::Arc;

use tillgate_domain::idempotency::{
    EncodedResponse, FINGERPRINT_LENGTH, IdempotencyKey, IdempotentRequest, StoredResponse,
};
use tillgate_domain::payment::{Payment, PaymentType};
use tillgate_domain::refusal::Refusal;
use tillgate_shared::result::codes;

use super::Backend;
use super::samples::{
    follow_up, pending_payment, sample_amount, sample_checkout, sample_entity, sample_payment, sample_registration,
    sample_time, sealed_record, with_parameter, with_result, write_changes,
};
use crate::keys::wallet::UsedWalletToken;
use crate::{Changes, LoadedRecords, RecordKeys, StoreErrorKind, StoredCredentialKeys};

pub(crate) async fn concurrent_decisions_about_one_checkout_are_taken_one_after_the_other(backend: impl Backend) {
    let store = backend.open_store();
    let first = sample_checkout(1);
    write_changes(&store, Changes::default().with_checkout(&first)).await.unwrap();
    let tasks = (0..50).map(|_| {
        let (store, keys) = (Arc::clone(&store), RecordKeys::for_checkout(&first.id));
        tokio::spawn(async move {
            let decide = |loaded: LoadedRecords| {
                let mut next = loaded.checkout.expect("it has been stored");
                next.version += 1;
                Ok((Changes::default().with_checkout(&next), next.version))
            };
            store.update(keys, decide).await
        })
    });
    let mut versions = Vec::new();
    for task in tasks.collect::<Vec<_>>() {
        versions.push(task.await.unwrap().unwrap().unwrap());
    }
    versions.sort_unstable();
    assert_eq!(versions, (1..=50).collect::<Vec<u64>>());
    assert_eq!(store.load_checkout(&first.id).unwrap().unwrap().version, 50);
}

pub(crate) async fn a_decision_sees_everything_that_was_committed_before_it(backend: impl Backend) {
    let store = backend.open_store();
    let (checkout, paid) = (sample_checkout(1), sample_payment(1));
    let refund = follow_up(&paid, 2, PaymentType::Refund, "30.00");
    let stored = sample_registration(1);
    let changes = Changes::default().with_checkout(&checkout).with_payment(paid.clone()).with_registration(&stored);
    let changes = changes.with_account(&stored, sealed_record(1));
    write_changes(&store, changes).await.unwrap();
    write_changes(&store, Changes::default().with_payment(refund.clone())).await.unwrap();
    let keys = RecordKeys {
        stored_credentials: StoredCredentialKeys {
            registration: Some((stored.entity.clone(), stored.id.clone())),
            registration_in_use: Some((stored.entity.clone(), stored.id.clone())),
            standing_instruction: Some((stored.entity.clone(), "unknown".to_owned())),
        },
        checkout: Some(checkout.id.clone()),
        ..RecordKeys::for_modification(&paid.entity, &paid.id)
    };
    let decide = move |loaded: LoadedRecords| {
        assert_eq!((loaded.checkout, loaded.payment), (Some(checkout), Some(paid)));
        let links: Vec<_> =
            loaded.follow_ups.iter().map(|link| (link.payment_type, link.hundredths, link.is_effective)).collect();
        assert_eq!(links, [(PaymentType::Refund, 3000, true)]);
        assert_eq!(
            (loaded.stored_credentials.registration, loaded.stored_credentials.account_stored),
            (Some(stored), true)
        );
        assert!(
            loaded.stored_credentials.standing_instruction.is_none() && !loaded.reference_paid && !loaded.token_used
        );
        Ok((Changes::default(), ()))
    };
    store.update(keys, decide).await.unwrap().unwrap();
    let nothing = |loaded: LoadedRecords| {
        assert!(loaded.checkout.is_none() && loaded.payment.is_none() && loaded.follow_ups.is_empty());
        Ok((Changes::default(), ()))
    };
    // Records of another entity are not found.
    store
        .update(RecordKeys::for_modification(&sample_entity(2).id, &sample_payment(1).id), nothing)
        .await
        .unwrap()
        .unwrap();
}

pub(crate) async fn a_payment_that_has_changed_since_it_was_read_is_loaded_again(backend: impl Backend) {
    let store = backend.open_store();
    let pending = with_result(&sample_payment(1), codes::PENDING);
    write_changes(&store, Changes::default().with_payment(pending.clone())).await.unwrap();
    let known = Arc::new(store.load_stored_payment(&pending.entity, &pending.id).unwrap().unwrap());
    assert_eq!(known.payment, pending);
    let keys = RecordKeys::for_modification(&pending.entity, &pending.id).with_known_payment(&known);
    for current in [pending.clone(), with_result(&pending, codes::TEST_INTERNAL)] {
        write_changes(&store, Changes::default().with_payment(current.clone())).await.unwrap();
        let decide = move |loaded: LoadedRecords| {
            assert_eq!(loaded.payment, Some(current));
            Ok((Changes::default(), ()))
        };
        store.update(keys.clone(), decide).await.unwrap().unwrap();
    }
}

pub(crate) async fn a_refused_decision_writes_nothing(backend: impl Backend) {
    let store = backend.open_store();
    let first = sample_checkout(1);
    write_changes(&store, Changes::default().with_checkout(&first)).await.unwrap();
    let refuse = |_| Err::<(Changes, ()), _>(Refusal::checkout_closed());
    let refused = store.update(RecordKeys::for_checkout(&first.id), refuse).await.unwrap().unwrap_err();
    assert_eq!(refused.code, Refusal::checkout_closed().code);
    assert_eq!(store.load_checkout(&first.id).unwrap(), Some(first));
}

pub(crate) async fn of_two_decisions_that_were_prepared_on_one_version_one_is_refused(backend: impl Backend) {
    let store = backend.open_store();
    let first = sample_checkout(1);
    write_changes(&store, Changes::default().with_checkout(&first)).await.unwrap();
    let mut outcomes = Vec::new();
    for build in ["one", "two"] {
        let (mut next, expected) = (first.clone(), first.version);
        (next.version, next.build) = (expected + 1, build.to_owned());
        let decide = move |loaded: LoadedRecords| {
            let is_current = loaded.checkout.is_some_and(|stored| stored.version == expected);
            if is_current { Ok((Changes::default().with_checkout(&next), ())) } else { Err(Refusal::checkout_closed()) }
        };
        outcomes.push(store.update(RecordKeys::for_checkout(&first.id), decide).await.unwrap().is_ok());
    }
    assert_eq!(outcomes, [true, false]);
    assert_eq!(store.load_checkout(&first.id).unwrap().unwrap().build, "one");
}

pub(crate) async fn a_write_that_fails_takes_nothing_from_its_neighbours(backend: impl Backend) {
    let store = backend.open_store();
    // Every fourth request has the same idempotency key, with which only one of them succeeds.
    let writes = (0..40u8).map(|number| {
        let store = Arc::clone(&store);
        let changes = Changes::default().with_checkout(&sample_checkout(number));
        let changes = if number % 4 == 0 { changes.with_response(response_with_shared_key()) } else { changes };
        tokio::spawn(async move { write_changes(&store, changes).await })
    });
    let mut failed = 0;
    for (number, task) in (0..40u8).zip(writes.collect::<Vec<_>>()) {
        let outcome = task.await.unwrap();
        let stored = store.load_checkout(&sample_checkout(number).id).unwrap().is_some();
        assert_eq!(outcome.is_ok(), stored, "write {number}");
        if let Err(error) = outcome {
            assert!(number % 4 == 0 && error.kind() == StoreErrorKind::DuplicateKey, "write {number}: {error}");
            failed += 1;
        }
    }
    assert_eq!(failed, 9);
}

/// Returns a response whose idempotency key is always the same.
fn response_with_shared_key() -> StoredResponse {
    let key = IdempotencyKey::parse(b"one-of-many").unwrap();
    StoredResponse {
        request: IdempotentRequest { entity: sample_entity(1).id, key, fingerprint: [7; FINGERPRINT_LENGTH] },
        response: EncodedResponse { status: 200, body: b"{}".to_vec() },
        created: sample_time(0),
        expires: sample_time(100),
        owner: None,
    }
}

pub(crate) async fn what_was_answered_is_there_when_the_store_is_opened_again(backend: impl Backend) {
    let store = backend.open_store();
    write_changes(&store, Changes::default().with_checkout(&sample_checkout(7)).with_payment(sample_payment(1)))
        .await
        .unwrap();
    drop(store);
    let store = backend.open_store();
    assert_eq!(store.load_checkout(&sample_checkout(7).id).unwrap(), Some(sample_checkout(7)));
    assert_eq!(store.load_payment(&sample_payment(1).entity, &sample_payment(1).id).unwrap(), Some(sample_payment(1)));
}

pub(crate) async fn a_checkout_has_one_pending_or_approved_payment(backend: impl Backend) {
    let store = backend.open_store();
    let of_checkout = |payment: Payment| Payment { checkout: Some(sample_checkout(1).id), ..payment };
    let declined = of_checkout(with_result(&sample_payment(1), codes::CARD_EXPIRED));
    let waiting = of_checkout(pending_payment(2));
    write_changes(&store, Changes::default().with_payment(declined.clone())).await.unwrap();
    write_changes(&store, Changes::default().with_payment(waiting.clone())).await.unwrap();
    let second = of_checkout(sample_payment(3));
    let error = write_changes(&store, Changes::default().with_payment(second.clone())).await.unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::ConstraintViolated);
    assert_eq!(store.load_payment(&second.entity, &second.id).unwrap(), None);
    // The shopper abandons the first payment in the same commit.
    let mut abandoned = waiting;
    abandoned.redirect.as_mut().unwrap().abandoned = true;
    write_changes(&store, Changes::default().with_payment(abandoned.clone()).with_payment(second.clone()))
        .await
        .unwrap();
    assert_eq!(store.load_payment(&second.entity, &second.id).unwrap(), Some(second));
}

pub(crate) async fn the_amount_and_the_final_result_of_a_payment_never_change(backend: impl Backend) {
    let store = backend.open_store();
    let paid = sample_payment(1);
    write_changes(&store, Changes::default().with_payment(pending_payment(2)).with_payment(paid.clone()))
        .await
        .unwrap();
    for changed in [with_result(&paid, codes::CARD_EXPIRED), Payment { amount: sample_amount("91.00"), ..paid.clone() }]
    {
        let error = write_changes(&store, Changes::default().with_payment(changed.clone())).await.unwrap_err();
        assert_eq!(error.kind(), StoreErrorKind::ConstraintViolated);
        assert_eq!(store.load_payment(&paid.entity, &paid.id).unwrap().as_ref(), Some(&paid));
    }
    let approved = with_result(&pending_payment(2), codes::TEST_INTERNAL);
    write_changes(&store, Changes::default().with_payment(approved.clone())).await.unwrap();
    assert_eq!(store.load_payment(&approved.entity, &approved.id).unwrap(), Some(approved));
}

pub(crate) async fn follow_up_payments_stay_within_the_amount(backend: impl Backend) {
    let store = backend.open_store();
    let paid = sample_payment(1);
    let refund = |seconds, amount| follow_up(&paid, seconds, PaymentType::Refund, amount);
    write_changes(&store, Changes::default().with_payment(paid.clone())).await.unwrap();
    write_changes(&store, Changes::default().with_payment(refund(2, "90.00"))).await.unwrap();
    let too_much = refund(3, "2.01");
    let error = write_changes(&store, Changes::default().with_payment(too_much.clone())).await.unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::ConstraintViolated);
    assert_eq!(store.load_payment(&too_much.entity, &too_much.id).unwrap(), None);
    write_changes(&store, Changes::default().with_payment(refund(4, "2.00"))).await.unwrap();
    let (_, links) = store.load_with_follow_ups(std::slice::from_ref(&paid.entity), &paid.id).unwrap().unwrap();
    assert_eq!(links.iter().map(|link| link.hundredths).collect::<Vec<_>>(), [9000, 200]);
}

pub(crate) async fn a_reference_is_paid_by_a_payment_that_succeeded_or_may_yet(backend: impl Backend) {
    let store = backend.open_store();
    let order = |payment: Payment| with_parameter(payment, "merchantTransactionId", "order-1");
    let is_paid_ignoring = async |ignored: Option<Payment>| {
        let reference = Some((sample_entity(1).id, "order-1".to_owned()));
        let keys = RecordKeys { reference, ignored_payment: ignored.map(|payment| payment.id), ..RecordKeys::none() };
        store.update(keys, |loaded| Ok((Changes::default(), loaded.reference_paid))).await.unwrap().unwrap()
    };
    write_changes(&store, Changes::default().with_payment(order(with_result(&sample_payment(1), codes::CARD_EXPIRED))))
        .await
        .unwrap();
    assert!(!is_paid_ignoring(None).await);
    write_changes(&store, Changes::default().with_payment(order(pending_payment(2)))).await.unwrap();
    assert!(is_paid_ignoring(None).await && !is_paid_ignoring(Some(pending_payment(2))).await);
    let mut abandoned = order(pending_payment(2));
    abandoned.redirect.as_mut().unwrap().abandoned = true;
    write_changes(&store, Changes::default().with_payment(abandoned.clone())).await.unwrap();
    assert!(!is_paid_ignoring(None).await);
    write_changes(&store, Changes::default().with_payment(order(sample_payment(3)))).await.unwrap();
    assert!(is_paid_ignoring(None).await && is_paid_ignoring(Some(pending_payment(2))).await);
}

pub(crate) async fn a_wallet_token_pays_once(backend: impl Backend) {
    let store = backend.open_store();
    let token = UsedWalletToken { entity: sample_entity(1).id, id: "token".to_owned(), until: sample_time(60) };
    let is_used = async || {
        let keys = RecordKeys { wallet_token: Some(token.clone()), ..RecordKeys::none() };
        store.update(keys, |loaded| Ok((Changes::default(), loaded.token_used))).await.unwrap().unwrap()
    };
    assert!(!is_used().await);
    write_changes(&store, Changes::default().with_used_token(&token).with_payment(sample_payment(1))).await.unwrap();
    assert!(is_used().await);
    let second_use =
        write_changes(&store, Changes::default().with_used_token(&token).with_payment(sample_payment(2))).await;
    assert_eq!(second_use.unwrap_err().kind(), StoreErrorKind::ConstraintViolated);
    assert_eq!(store.load_payment(&sample_entity(1).id, &sample_payment(2).id).unwrap(), None);
    // Another node, whose clock is behind, may still accept the token.
    store.delete_expired_wallet_tokens(sample_time(60 + 3599)).await.unwrap();
    assert!(is_used().await);
    store.delete_expired_wallet_tokens(sample_time(60 + 3600)).await.unwrap();
    assert!(!is_used().await);
}
