//! What is kept for a time, and what is gone after it.

use super::Backend;
use super::samples::{at, entity, payment, pending, registration, write};
use crate::domain::idempotency::{Answer, IdempotencyKey, Named};
use crate::domain::registration::Ended;
use crate::domain::standing_instruction::{Chain, Pending, Terms};
use crate::store::form_build::StoredBuild;
use crate::store::velocity::VelocityCount;
use crate::store::{Changes, KeptAnswer, Keys, NewRegistration, OnFileKeys, Promise, Store, StoreError};
use crate::vault::{BlindIndex, FINGERPRINT};

fn key() -> IdempotencyKey {
    IdempotencyKey::parse(b"order-1").unwrap()
}

fn answer(made: i64, body: &str) -> KeptAnswer {
    KeptAnswer {
        named: Named { entity: entity(1).id, key: key(), fingerprint: [7; FINGERPRINT] },
        answer: Answer { status: 200, body: body.as_bytes().to_vec() },
        made: at(made),
        until: at(made + 100),
        owner: Some(entity(2).id),
    }
}

pub(in crate::store) async fn an_answer_is_replayed_until_its_day_is_over(backend: impl Backend) {
    let store = backend.open();
    write(&store, Changes::default().payment(&payment(1)).answer(answer(0, "one"))).await.unwrap();
    let found = store.answer(&entity(1).id, &key(), at(99)).unwrap().unwrap();
    assert_eq!((found.answer.status, &found.answer.body[..]), (200, &b"one"[..]));
    assert_eq!((&found.fingerprint[..], found.owner), (&[7; FINGERPRINT][..], Some(entity(2).id)));
    assert!(store.answer(&entity(1).id, &key(), at(100)).unwrap().is_none());
    assert!(store.answer(&entity(2).id, &key(), at(0)).unwrap().is_none());
    store.purge_answers(at(99)).await.unwrap();
    assert!(store.answer(&entity(1).id, &key(), at(99)).unwrap().is_some());
    store.purge_answers(at(100)).await.unwrap();
    assert!(store.answer(&entity(1).id, &key(), at(99)).unwrap().is_none());
}

pub(in crate::store) async fn the_second_request_of_a_name_writes_nothing(backend: impl Backend) {
    let store = backend.open();
    write(&store, Changes::default().payment(&payment(1)).answer(answer(0, "one"))).await.unwrap();
    let second = write(&store, Changes::default().payment(&payment(2)).answer(answer(50, "two"))).await;
    assert!(matches!(second, Err(StoreError::NameTaken)));
    assert_eq!(store.payment(&entity(1).id, &payment(2).id).unwrap(), None);
    // Its day is over: the name is free.
    write(&store, Changes::default().answer(answer(100, "three"))).await.unwrap();
    assert_eq!(store.answer(&entity(1).id, &key(), at(150)).unwrap().unwrap().answer.body, b"three");
}

pub(in crate::store) async fn a_card_is_kept_until_its_time_has_come(backend: impl Backend) {
    let store = backend.open();
    let keep = |second: i64| Changes::default().payment(&payment(second)).card(&payment(second).id, vec![1], at(10));
    write(&store, keep(1).and(keep(2))).await.unwrap();
    write(&store, Changes::default().without_card(&payment(1).id, at(10))).await.unwrap();
    assert!(!store.cards_due(at(9)).unwrap());
    assert!(store.cards_due(at(10)).unwrap());
    assert_eq!(store.purge_cards(at(9)).await.unwrap(), 0);
    assert_eq!(store.purge_cards(at(10)).await.unwrap(), 1);
    assert!(!store.cards_due(at(10)).unwrap());
    store.overwrite_deleted().await.unwrap();
}

fn chain() -> Chain {
    Chain {
        initial: "CHAIN".to_owned(),
        entity: entity(1).id,
        payment: None,
        registration: Some(registration(1).id),
        shown: None,
        terms: Terms::default(),
        charges: 0,
        latest: None,
    }
}

async fn load_chain(store: &Store) -> Option<Chain> {
    let on_file = OnFileKeys { chain: Some((entity(1).id, "CHAIN".to_owned())), ..OnFileKeys::default() };
    let keys = Keys { on_file, ..Keys::none() };
    store.update(keys, |loaded| Ok((Changes::default(), loaded.on_file.chain))).await.unwrap().unwrap()
}

pub(in crate::store) async fn a_registration_that_ends_loses_its_account_and_its_chains(backend: impl Backend) {
    let store = backend.open();
    let (stored, expiring) = (registration(1), registration(2));
    for registration in [&stored, &expiring] {
        let changes = Changes::default().registration(registration);
        write(&store, changes.account(registration, BlindIndex::from([1; 32]), vec![9])).await.unwrap();
    }
    write(&store, Changes::default().chain(&chain())).await.unwrap();
    let with_account = |id| store.registration_with_account(&[entity(2).id, entity(1).id], id).unwrap().unwrap();
    assert_eq!(with_account(&stored.id), (stored.clone(), Some(vec![9])));
    assert_eq!(load_chain(&store).await, Some(chain()));
    write(&store, Changes::default().registration(&stored.ended(Ended::Deregistered))).await.unwrap();
    assert_eq!(with_account(&stored.id), (stored.ended(Ended::Deregistered), None));
    assert_eq!(load_chain(&store).await, None);
    // The other one ends with its retention.
    let end = expiring.retained_until.unwrap();
    assert!(store.registrations_due(end).unwrap());
    assert_eq!(store.end_registrations(end).await.unwrap(), 1);
    assert_eq!(with_account(&expiring.id), (expiring.ended(Ended::Expired), None));
    assert!(!store.registrations_due(end).unwrap());
}

pub(in crate::store) async fn a_promise_is_kept_until_it_is_settled_or_too_old(backend: impl Backend) {
    let store = backend.open();
    let promise = || Promise {
        owner: entity(2).id,
        registration: Some(NewRegistration {
            registration: registration(1),
            blind: BlindIndex::from([3; 32]),
            sealed: vec![4],
        }),
        agreement: Some(Pending::First(chain())),
        card: Some(vec![5]),
    };
    let (one, two) = (pending(1), pending(2));
    for payment in [&one, &two] {
        write(&store, Changes::default().payment(payment).promise(payment, promise(), at(50))).await.unwrap();
    }
    let found = store.promise(&one).unwrap().unwrap();
    assert_eq!((found.owner, found.agreement, found.card), (entity(2).id, promise().agreement, Some(vec![5])));
    let new = found.registration.unwrap();
    assert_eq!((new.registration, new.blind.as_bytes(), new.sealed), (registration(1), &[3; 32], vec![4]));
    write(&store, Changes::default().without_promise(&one.id)).await.unwrap();
    assert!(store.promise(&one).unwrap().is_none());
    store.forget_promises(at(49)).await.unwrap();
    assert!(store.promise(&two).unwrap().is_some());
    store.forget_promises(at(50)).await.unwrap();
    assert!(store.promise(&two).unwrap().is_none());
}

pub(in crate::store) async fn velocity_counts_are_loaded_as_they_were_saved(backend: impl Backend) {
    let store = backend.open();
    let until = |seconds| i64::try_from(at(seconds).as_nanosecond()).unwrap();
    let count = |kind, seconds| VelocityCount { kind, name: [kind; 16], until: until(seconds) };
    store.save_velocity_counts(vec![count(1, 10), count(2, 20), count(3, 1)]).await.unwrap();
    store.save_velocity_counts(vec![count(1, 30)]).await.unwrap();
    assert_eq!(store.velocity_counts(at(5)).unwrap(), [count(1, 30), count(2, 20)]);
    store.purge_velocity_counts(at(20)).await.unwrap();
    assert_eq!(store.velocity_counts(at(0)).unwrap(), [count(1, 30)]);
}

pub(in crate::store) async fn a_build_of_the_form_is_loaded_as_it_was_stored(backend: impl Backend) {
    let store = backend.open();
    let build = |id: &str, content: &str| StoredBuild {
        id: id.to_owned(),
        seal: Some(vec![1]),
        files: vec![("loader.js".to_owned(), content.as_bytes().to_vec())],
    };
    store.save_form_build(build("one", "first"), at(0)).await.unwrap();
    store.save_form_build(build("one", "second"), at(1)).await.unwrap();
    store.save_form_build(build("two", "other"), at(5)).await.unwrap();
    assert_eq!(store.form_build("one").unwrap(), Some(build("one", "second")));
    assert_eq!(store.other_form_builds("one").unwrap(), [build("two", "other")]);
    assert!(!store.note_form_build_used("three".to_owned(), at(9)).await.unwrap());
    assert!(store.note_form_build_used("one".to_owned(), at(9)).await.unwrap());
    store.purge_form_builds(at(9)).await.unwrap();
    assert_eq!(store.form_build("two").unwrap(), None);
    assert_eq!(store.form_build("one").unwrap(), Some(build("one", "second")));
}
