//! Retention: data that is kept for a time and deleted afterwards.

use tillgate_domain::idempotency::{
    EncodedResponse, FINGERPRINT_LENGTH, IdempotencyKey, IdempotentRequest, StoredResponse,
};
use tillgate_domain::payment::Payment;
use tillgate_domain::payment::retry_rules::AttemptHistory;
use tillgate_domain::registration::standing_instruction::{InstructionTerms, PendingInstruction, StandingInstruction};
use tillgate_domain::registration::{Registration, RegistrationEnd};
use tillgate_vault::KeyId;

use super::Backend;
use super::samples::{
    pending_payment, sample_entity, sample_payment, sample_registration, sample_time, sealed_record, write_changes,
};
use crate::form_build::StoredBuild;
use crate::keys::key_retirement::RetireError;
use crate::keys::key_retirement::retire_key;
use crate::risk::velocity::{VelocityChange, VelocityCount};
use crate::{
    AttemptKeys, AttemptRow, Changes, DeferredEffects, NewRegistration, RecordKeys, Store, StoreErrorKind,
    StoredCredentialKeys,
};

fn sample_key() -> IdempotencyKey {
    IdempotencyKey::parse(b"order-1").unwrap()
}

/// Returns the response of a request with the sample key. It expires 100 seconds after `created`, and is about entity
/// 2.
fn sample_response(created: i64, body: &str) -> StoredResponse {
    StoredResponse {
        request: IdempotentRequest {
            entity: sample_entity(1).id,
            key: sample_key(),
            fingerprint: [7; FINGERPRINT_LENGTH],
        },
        response: EncodedResponse { status: 200, body: body.as_bytes().to_vec() },
        created: sample_time(created),
        expires: sample_time(created + 100),
        owner: Some(sample_entity(2).id),
    }
}

pub(crate) async fn an_answer_is_replayed_until_its_day_is_over(backend: impl Backend) {
    let store = backend.open_store();
    write_changes(&store, Changes::default().with_payment(sample_payment(1)).with_response(sample_response(0, "one")))
        .await
        .unwrap();
    let found = store.load_response(&sample_entity(1).id, &sample_key(), sample_time(99)).unwrap().unwrap();
    assert_eq!((found.response.status, &found.response.body[..]), (200, &b"one"[..]));
    assert_eq!((&found.fingerprint[..], found.owner), (&[7; FINGERPRINT_LENGTH][..], Some(sample_entity(2).id)));
    assert!(store.load_response(&sample_entity(1).id, &sample_key(), sample_time(100)).unwrap().is_none());
    assert!(store.load_response(&sample_entity(2).id, &sample_key(), sample_time(0)).unwrap().is_none());
    store.delete_expired_responses(sample_time(99)).await.unwrap();
    assert!(store.load_response(&sample_entity(1).id, &sample_key(), sample_time(99)).unwrap().is_some());
    store.delete_expired_responses(sample_time(100)).await.unwrap();
    assert!(store.load_response(&sample_entity(1).id, &sample_key(), sample_time(99)).unwrap().is_none());
}

pub(crate) async fn the_second_request_of_a_name_writes_nothing(backend: impl Backend) {
    let store = backend.open_store();
    write_changes(&store, Changes::default().with_payment(sample_payment(1)).with_response(sample_response(0, "one")))
        .await
        .unwrap();
    let second = write_changes(
        &store,
        Changes::default().with_payment(sample_payment(2)).with_response(sample_response(50, "two")),
    )
    .await;
    assert_eq!(second.unwrap_err().kind(), StoreErrorKind::DuplicateKey);
    assert_eq!(store.load_payment(&sample_entity(1).id, &sample_payment(2).id).unwrap(), None);
    // The response has expired, so the idempotency key is free.
    write_changes(&store, Changes::default().with_response(sample_response(100, "three"))).await.unwrap();
    assert_eq!(
        store.load_response(&sample_entity(1).id, &sample_key(), sample_time(150)).unwrap().unwrap().response.body,
        b"three"
    );
}

pub(crate) async fn a_response_is_replaced_by_the_same_request_alone(backend: impl Backend) {
    let store = backend.open_store();
    write_changes(&store, Changes::default().with_response(sample_response(0, "pending"))).await.unwrap();
    let replayed = || {
        store
            .load_response(&sample_entity(1).id, &sample_key(), sample_time(99))
            .unwrap()
            .map(|found| found.response.body)
    };
    let mut other = sample_response(1, "another request");
    other.request.fingerprint = [8; FINGERPRINT_LENGTH];
    write_changes(&store, Changes::default().with_replaced_response(other)).await.unwrap();
    assert_eq!(replayed().unwrap(), b"pending");
    write_changes(&store, Changes::default().with_replaced_response(sample_response(50, "approved"))).await.unwrap();
    assert_eq!(replayed().unwrap(), b"approved");
    // Replacing a response neither extends its retention nor restores a deleted one.
    store.delete_expired_responses(sample_time(100)).await.unwrap();
    write_changes(&store, Changes::default().with_replaced_response(sample_response(101, "late"))).await.unwrap();
    assert_eq!(replayed(), None);
}

pub(crate) async fn a_card_is_kept_until_its_time_has_come(backend: impl Backend) {
    let store = backend.open_store();
    let with_card = |second: i64| {
        Changes::default().with_payment(sample_payment(second)).with_card(
            &sample_payment(second).id,
            sealed_record(1),
            sample_time(10),
        )
    };
    write_changes(&store, with_card(1).merged_with(with_card(2))).await.unwrap();
    write_changes(&store, Changes::default().without_card(&sample_payment(1).id, sample_time(10))).await.unwrap();
    assert!(!store.has_expired_cards(sample_time(9)).unwrap());
    assert!(store.has_expired_cards(sample_time(10)).unwrap());
    assert_eq!(store.delete_expired_cards(sample_time(9)).await.unwrap(), 0);
    assert_eq!(store.delete_expired_cards(sample_time(10)).await.unwrap(), 1);
    assert!(!store.has_expired_cards(sample_time(10)).unwrap());
    store.scrub_wal().await.unwrap();
}

/// Returns a standing instruction with the id `CHAIN`, of registration 1.
fn sample_instruction() -> StandingInstruction {
    StandingInstruction {
        initial: "CHAIN".to_owned(),
        entity: sample_entity(1).id,
        payment: None,
        registration: Some(sample_registration(1).id),
        shown: None,
        terms: InstructionTerms::default(),
        charges: 0,
        latest: None,
    }
}

/// Loads the standing instruction with the id `CHAIN`.
async fn load_instruction(store: &Store) -> Option<StandingInstruction> {
    let stored_credentials = StoredCredentialKeys {
        standing_instruction: Some((sample_entity(1).id, "CHAIN".to_owned())),
        ..StoredCredentialKeys::default()
    };
    let keys = RecordKeys { stored_credentials, ..RecordKeys::none() };
    store
        .update(keys, |loaded| Ok((Changes::default(), loaded.stored_credentials.standing_instruction)))
        .await
        .unwrap()
        .unwrap()
}

pub(crate) async fn a_registration_that_ends_loses_its_account_and_its_chains(backend: impl Backend) {
    let store = backend.open_store();
    let (stored, expiring) = (sample_registration(1), sample_registration(2));
    for registration in [&stored, &expiring] {
        let changes = Changes::default().with_registration(registration);
        write_changes(&store, changes.with_account(registration, sealed_record(9))).await.unwrap();
    }
    write_changes(&store, Changes::default().with_standing_instruction(&sample_instruction())).await.unwrap();
    let with_account =
        |id| store.load_registration_with_account(&[sample_entity(2).id, sample_entity(1).id], id).unwrap().unwrap();
    assert_eq!(with_account(&stored.id), (stored.clone(), Some(sealed_record(9))));
    assert_eq!(load_instruction(&store).await, Some(sample_instruction()));
    write_changes(&store, Changes::default().with_registration(&stored.as_ended(RegistrationEnd::Deregistered)))
        .await
        .unwrap();
    assert_eq!(with_account(&stored.id), (stored.as_ended(RegistrationEnd::Deregistered), None));
    assert_eq!(load_instruction(&store).await, None);
    // The other registration ends with its retention.
    let end = expiring.retained_until.unwrap();
    assert!(store.has_expired_registrations(end).unwrap());
    assert_eq!(store.end_expired_registrations(end, Registration::as_expired).await.unwrap(), 1);
    assert_eq!(with_account(&expiring.id), (expiring.as_ended(RegistrationEnd::Expired), None));
    assert!(!store.has_expired_registrations(end).unwrap());
}

pub(crate) async fn accounts_without_a_registration_block_no_others(backend: impl Backend) {
    let store = backend.open_store();
    // The accounts name another entity than their registrations, so that no registration is found for them. They fill
    // a whole batch, and are due before the account that has a registration.
    let mut changes = Changes::default();
    for number in 2..=101 {
        let registration = Registration { retained_until: Some(sample_time(10)), ..sample_registration(number) };
        let foreign = Registration { entity: sample_entity(2).id, ..registration.clone() };
        changes = changes.with_registration(&registration).with_account(&foreign, sealed_record(number));
    }
    let expiring = sample_registration(1);
    changes = changes.with_registration(&expiring).with_account(&expiring, sealed_record(1));
    write_changes(&store, changes).await.unwrap();
    let end = expiring.retained_until.unwrap();
    assert_eq!(store.end_expired_registrations(end, Registration::as_expired).await.unwrap(), 100);
    assert_eq!(store.end_expired_registrations(end, Registration::as_expired).await.unwrap(), 1);
    assert!(!store.has_expired_registrations(end).unwrap());
    let ended = store.load_registration(&expiring.entity, &expiring.id).unwrap();
    assert_eq!(ended, Some(expiring.as_ended(RegistrationEnd::Expired)));
}

pub(crate) async fn a_promise_is_kept_until_it_is_settled_or_too_old(backend: impl Backend) {
    let store = backend.open_store();
    let effects = || DeferredEffects {
        owner: sample_entity(2).id,
        registration: Some(NewRegistration { registration: sample_registration(1), account: sealed_record(4) }),
        renewal: None,
        instruction: Some(PendingInstruction::First(sample_instruction())),
        card: Some(sealed_record(5)),
    };
    let (one, two) = (pending_payment(1), pending_payment(2));
    for payment in [&one, &two] {
        write_changes(
            &store,
            Changes::default().with_payment(payment.clone()).with_deferred_effects(payment, effects(), sample_time(50)),
        )
        .await
        .unwrap();
    }
    let found = store.load_deferred_effects(&one).unwrap().unwrap();
    assert_eq!(
        (found.owner, found.instruction, found.card),
        (sample_entity(2).id, effects().instruction, Some(sealed_record(5)))
    );
    let new = found.registration.unwrap();
    assert_eq!((new.registration, new.account), (sample_registration(1), sealed_record(4)));
    write_changes(&store, Changes::default().without_deferred_effects(&one.id)).await.unwrap();
    assert!(store.load_deferred_effects(&one).unwrap().is_none());
    store.delete_expired_effects(sample_time(49)).await.unwrap();
    assert!(store.load_deferred_effects(&two).unwrap().is_some());
    store.delete_expired_effects(sample_time(50)).await.unwrap();
    assert!(store.load_deferred_effects(&two).unwrap().is_none());
}

pub(crate) async fn a_promised_date_is_told_from_a_promised_registration(backend: impl Backend) {
    let store = backend.open_store();
    let renewal = || NewRegistration { registration: sample_registration(1), account: sealed_record(4) };
    let effects = || DeferredEffects {
        owner: sample_entity(1).id,
        registration: None,
        renewal: Some(renewal()),
        instruction: None,
        card: None,
    };
    let payment = Payment { registration: Some(sample_registration(1).id), ..pending_payment(1) };
    let changes = Changes::default().with_payment(payment.clone());
    write_changes(&store, changes.with_deferred_effects(&payment, effects(), sample_time(50))).await.unwrap();
    let found = store.load_deferred_effects(&payment).unwrap().unwrap();
    assert!(found.registration.is_none());
    assert_eq!(found.renewal.unwrap().account, renewal().account);
}

pub(crate) async fn a_renewed_account_takes_the_place_of_the_stored_one(backend: impl Backend) {
    let store = backend.open_store();
    let stored = sample_registration(1);
    let changes = Changes::default().with_registration(&stored);
    write_changes(&store, changes.with_account(&stored, sealed_record(1))).await.unwrap();
    let renewed = Registration { retained_until: Some(sample_time(7200)), ..stored };
    let changes = Changes::default().with_registration(&renewed);
    write_changes(&store, changes.with_account_replaced(&renewed, sealed_record(2))).await.unwrap();
    let found =
        store.load_registration_with_account(std::slice::from_ref(&renewed.entity), &renewed.id).unwrap().unwrap();
    assert_eq!(found, (renewed, Some(sealed_record(2))));
    assert!(!store.has_expired_registrations(sample_time(7199)).unwrap());
    assert!(store.has_expired_registrations(sample_time(7200)).unwrap(), "it is kept as long as its document says");
}

pub(crate) async fn everything_that_needs_a_vault_key_is_counted_until_it_is_gone(backend: impl Backend) {
    let (admin, store) = (backend.open_admin(), backend.open_store());
    let key = KeyId([4; 4]);
    admin.register_vault_key(key, sample_time(0)).unwrap();
    let mut response = sample_response(0, "one");
    response.request.fingerprint = [4; FINGERPRINT_LENGTH];
    let changes = Changes::default()
        .with_payment(sample_payment(1))
        .with_card(&sample_payment(1).id, sealed_record(4), sample_time(10))
        .with_response(response);
    write_changes(&store, changes).await.unwrap();
    assert_eq!(admin.count_sealed_by(key).unwrap(), [("card", 1)]);
    assert!(admin.count_sealed_by(KeyId([5; 4])).unwrap().is_empty());
    assert_eq!(
        (
            admin.count_responses_by_key(key, sample_time(99)).unwrap(),
            admin.count_responses_by_key(key, sample_time(100)).unwrap()
        ),
        (1, 0)
    );
    assert_eq!(admin.find_missing_vault_keys(&[]).unwrap(), [key]);
    assert!(admin.find_missing_vault_keys(&[key]).unwrap().is_empty());
    let uses = |now| match retire_key(&admin, key, now) {
        Err(RetireError::InUse { records, replays }) => Some((records.len(), replays)),
        retired => {
            retired.unwrap();
            None
        }
    };
    assert_eq!(uses(sample_time(1)), Some((1, 1)));
    store.delete_expired_cards(sample_time(10)).await.unwrap();
    assert_eq!(uses(sample_time(10)), Some((0, 1)));
    assert_eq!(admin.load_vault_keys().unwrap()[0].retired, None);
    assert_eq!(uses(sample_time(100)), None);
    assert_eq!(admin.load_vault_keys().unwrap()[0].retired, Some(sample_time(100)));
}

pub(crate) async fn changes_of_velocity_counts_are_added_up(backend: impl Backend) {
    let stores = [backend.open_store(), backend.open_store()];
    let until = |seconds| i64::try_from(sample_time(seconds).as_nanosecond()).unwrap();
    let count = |kind, seconds| VelocityCount { kind, name: [kind; 16], until: until(seconds) };
    let change = |kind, seconds: i64| VelocityChange { kind, name: [kind; 16], cost: seconds * 1_000_000_000 };
    let limit = 100 * 1_000_000_000;
    for (store, now, changes, expected) in [
        (0, 0, vec![change(1, 10), change(2, 20), change(3, 1)], vec![count(1, 10), count(2, 20), count(3, 1)]),
        (1, 0, vec![change(1, 20), change(2, 0)], vec![count(1, 30), count(2, 20)]),
        // A refund, and the cost of a count that was empty.
        (0, 5, vec![change(1, -3), change(3, 2)], vec![count(1, 27), count(3, 7)]),
        (1, 5, vec![change(1, 200)], vec![count(1, 105)]),
    ] {
        assert_eq!(stores[store].add_velocity_changes(changes, sample_time(now), limit).await.unwrap(), expected);
    }
    let loaded = || stores[0].load_velocity_counts(sample_time(5)).unwrap();
    assert_eq!(loaded(), [count(1, 105), count(2, 20), count(3, 7)]);
    stores[0].delete_expired_velocity_counts(sample_time(20)).await.unwrap();
    assert_eq!(loaded(), [count(1, 105)]);
}

pub(crate) async fn records_of_attempts_are_kept_until_they_end_or_an_approval_deletes_them(backend: impl Backend) {
    let store = backend.open_store();
    let load = async |keys: AttemptKeys| {
        let keys = RecordKeys { attempts: Some(keys), ..RecordKeys::none() };
        let loaded = store.update(keys, |loaded| Ok((Changes::default(), loaded.attempts))).await.unwrap();
        let records = loaded.unwrap();
        (records.card.is_some(), records.amount.is_some())
    };
    let keys = |card, amount| AttemptKeys { card: [card; 16], amount: [amount; 16] };
    let row = |name, ends| AttemptRow { name: [name; 16], history: AttemptHistory::default(), ends: sample_time(ends) };
    assert_eq!(load(keys(1, 2)).await, (false, false));
    for (name, ends) in [(1, 5), (2, 5), (3, 20), (2, 10)] {
        write_changes(&store, Changes::default().with_attempt_row(row(name, ends))).await.unwrap();
    }
    assert_eq!((load(keys(1, 2)).await, load(keys(4, 3)).await), ((true, true), (false, true)));
    store.delete_ended_attempts(sample_time(5)).await.unwrap();
    assert_eq!(load(keys(1, 2)).await, (false, true), "a row that was written again has its new end");
    let many = (0..450_u16).fold(Changes::default(), |changes, number| {
        let mut name = [9; 16];
        name[..2].copy_from_slice(&number.to_be_bytes());
        changes.with_attempt_row(AttemptRow { name, ..row(9, 7) })
    });
    write_changes(&store, many).await.unwrap();
    store.delete_ended_attempts(sample_time(9)).await.unwrap();
    assert_eq!(load(keys(9, 2)).await, (false, true));
    write_changes(&store, Changes::default().without_attempts(keys(4, 3))).await.unwrap();
    assert_eq!(load(keys(2, 3)).await, (true, false));
}

pub(crate) async fn a_build_of_the_form_is_loaded_as_it_was_stored(backend: impl Backend) {
    let store = backend.open_store();
    let build = |id: &str, content: &str| StoredBuild {
        id: id.to_owned(),
        seal: Some(sealed_record(1)),
        files: vec![("loader.js".to_owned(), content.as_bytes().to_vec())],
    };
    store.save_form_build(build("one", "first"), sample_time(0)).await.unwrap();
    store.save_form_build(build("one", "second"), sample_time(1)).await.unwrap();
    store.save_form_build(build("two", "other"), sample_time(5)).await.unwrap();
    assert_eq!(store.load_form_build("one").unwrap(), Some(build("one", "second")));
    assert_eq!(store.load_other_form_builds("one").unwrap(), [build("two", "other")]);
    assert_eq!(store.list_form_builds().unwrap(), ["one", "two"].map(str::to_owned).into());
    assert!(!store.mark_form_build_used("three".to_owned(), sample_time(9)).await.unwrap());
    assert!(store.mark_form_build_used("one".to_owned(), sample_time(9)).await.unwrap());
    store.delete_old_form_builds(sample_time(9)).await.unwrap();
    assert_eq!(store.load_form_build("two").unwrap(), None);
    assert_eq!(store.load_form_build("one").unwrap(), Some(build("one", "second")));
}
