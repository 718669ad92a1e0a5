//! Timers: written with their cause, due in order, and deleted with their effect.

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use tillgate_domain::access::entity::Entity;
use tillgate_domain::access::level::Level;
use tillgate_domain::checkout::Checkout;
use tillgate_domain::payment::Payment;
use tillgate_shared::result::codes;

use super::Backend;
use super::samples::{pending_payment, sample_checkout, sample_entity, sample_time, with_result, write_changes};
use crate::timer::TimerKind;
use crate::{Changes, LoadedRecords, RecordKeys, Store};

/// Returns the subjects of the timers of a kind that began up to `until` seconds after the start, oldest first, at most
/// `limit`.
fn due_subjects(store: &Store, kind: TimerKind, until: i64, limit: u32) -> Vec<String> {
    store.load_due_timers(kind, sample_time(until), limit).unwrap().into_iter().map(|timer| timer.subject).collect()
}

pub(crate) async fn timers_are_due_in_the_order_in_which_they_began(backend: impl Backend) {
    backend.open_admin().add_entity(&sample_entity(1), sample_time(0)).unwrap();
    let store = backend.open_store();
    let (early, middle, late) = (pending_payment(1), pending_payment(2), pending_payment(3));
    for payment in [&late, &early, &middle] {
        write_changes(&store, Changes::default().with_payment(payment.clone())).await.unwrap();
    }
    let ids = [&early, &middle, &late].map(|payment| payment.id.to_string());
    assert_eq!(due_subjects(&store, TimerKind::End, 3, 10), ids);
    assert_eq!(due_subjects(&store, TimerKind::End, 3, 2), ids[..2]);
    assert_eq!(due_subjects(&store, TimerKind::End, 2, 10), ids[..2]);
    assert_eq!(due_subjects(&store, TimerKind::Remind, 3, 10), [""; 0]);
    // Writing a pending payment again does not change the start of its timer.
    write_changes(&store, Changes::default().with_payment(early.clone())).await.unwrap();
    assert_eq!(due_subjects(&store, TimerKind::End, 3, 10), ids);
    store.stop_timer(TimerKind::End, ids[1].clone()).await.unwrap();
    assert_eq!(due_subjects(&store, TimerKind::End, 3, 10), [ids[0].clone(), ids[2].clone()]);
}

pub(crate) async fn a_payment_that_gets_its_outcome_stops_its_timer(backend: impl Backend) {
    backend.open_admin().add_entity(&sample_entity(1), sample_time(0)).unwrap();
    let store = backend.open_store();
    write_changes(&store, Changes::default().with_payment(pending_payment(1)).with_payment(pending_payment(2)))
        .await
        .unwrap();
    write_changes(&store, Changes::default().with_payment(with_result(&pending_payment(1), codes::CARD_EXPIRED)))
        .await
        .unwrap();
    assert_eq!(due_subjects(&store, TimerKind::End, 10, 10), [pending_payment(2).id.to_string()]);
}

/// Returns the checkout after an attempt, also if it is paid.
fn with_attempt(before: &Checkout, attempt: &Payment) -> Checkout {
    Checkout { paid: false, ..before.clone() }.with_attempt(attempt, sample_time(10)).unwrap()
}

pub(crate) async fn a_reminder_waits_while_its_attempt_is_pending(backend: impl Backend) {
    backend.open_admin().add_entity(&sample_entity(1), sample_time(0)).unwrap();
    let store = backend.open_store();
    let attempt = Payment { checkout: Some(sample_checkout(1).id), ..pending_payment(1) };
    let checkout = with_attempt(&sample_checkout(1), &attempt);
    let address = Some("https://shop.example/remind".to_owned());
    let changes = Changes::default().with_checkout(&checkout).with_payment(attempt.clone()).with_reminder(
        &checkout,
        address.clone(),
        sample_time(1),
        true,
    );
    write_changes(&store, changes).await.unwrap();
    assert_eq!(due_subjects(&store, TimerKind::Remind, 60, 10), [""; 0]);
    write_changes(&store, Changes::default().with_payment(with_result(&attempt, codes::TEST_INTERNAL))).await.unwrap();
    let reminders = store.load_due_timers(TimerKind::Remind, sample_time(60), 10).unwrap();
    assert_eq!(reminders.len(), 1);
    let reminder = &reminders[0];
    assert_eq!((&reminder.subject[..], &reminder.entity), (checkout.id.as_str(), &checkout.entity));
    assert_eq!((&reminder.detail, reminder.attempt.as_deref()), (&address, Some(attempt.id.as_str())));
}

pub(crate) async fn a_reminder_is_about_the_last_attempt(backend: impl Backend) {
    backend.open_admin().add_entity(&sample_entity(1), sample_time(0)).unwrap();
    let store = backend.open_store();
    let declined = |seconds| with_result(&pending_payment(seconds), codes::CARD_EXPIRED);
    let first = with_attempt(&sample_checkout(1), &declined(1));
    let address = Some("https://shop.example/remind".to_owned());
    write_changes(&store, Changes::default().with_reminder(&first, address.clone(), sample_time(1), false))
        .await
        .unwrap();
    let second = with_attempt(&first, &declined(2));
    // The second attempt names no address, so the reminder uses the address of the first one.
    write_changes(&store, Changes::default().with_reminder(&second, None, sample_time(2), false)).await.unwrap();
    let reminders = store.load_due_timers(TimerKind::Remind, sample_time(60), 10).unwrap();
    assert_eq!(reminders.len(), 1);
    assert_eq!((reminders[0].attempt.as_deref(), &reminders[0].detail), (second.last_attempt_id(), &address));
    assert_eq!(due_subjects(&store, TimerKind::Remind, 1, 10), [""; 0]);
    let about = |checkout: &Checkout| (checkout.id.as_str().to_owned(), checkout.last_attempt_id().unwrap().to_owned());
    store.stop_reminders(vec![about(&first)]).await.unwrap();
    assert_eq!(due_subjects(&store, TimerKind::Remind, 60, 10).len(), 1);
    store.stop_reminders(vec![about(&second)]).await.unwrap();
    assert_eq!(due_subjects(&store, TimerKind::Remind, 60, 10), [""; 0]);
    // No reminder is written for a checkout that never named an address.
    let nameless = with_attempt(&sample_checkout(2), &declined(3));
    write_changes(&store, Changes::default().with_reminder(&nameless, None, sample_time(3), false)).await.unwrap();
    assert_eq!(due_subjects(&store, TimerKind::Remind, 60, 10), [""; 0]);
}

pub(crate) async fn an_outcome_is_looked_up_until_it_is_written(backend: impl Backend) {
    backend.open_admin().add_entity(&sample_entity(1), sample_time(0)).unwrap();
    let store = backend.open_store();
    let asked = |seconds| Payment {
        connector: Some("host".to_owned()),
        redirect: None,
        ..with_result(&pending_payment(seconds), codes::PENDING)
    };
    let (first, second) = (asked(1), asked(2));
    for payment in [&second, &first] {
        write_changes(&store, Changes::default().with_payment(payment.clone())).await.unwrap();
    }
    let due = |store: &Store, at| {
        let due = store.load_due_timers(TimerKind::Inquire, at, 10).unwrap();
        due.into_iter().map(|timer| timer.subject).collect::<BTreeSet<String>>()
    };
    let (first_id, second_id) = (first.id.to_string(), second.id.to_string());
    let both = BTreeSet::from([first_id.clone(), second_id.clone()]);
    // Due at once, by the machine's clock.
    let (now, later) = (Timestamp::now(), Timestamp::now() + SignedDuration::from_hours(1));
    assert_eq!(due(&store, now), both);
    store.postpone_inquiry(&first.id, later).await.unwrap();
    assert_eq!(due(&store, now), BTreeSet::from([second_id]));
    assert_eq!(due(&store, later), both);
    // Another write of a pending payment leaves its timer alone.
    let announced = Payment { unannounced: !first.unannounced, ..first.clone() };
    write_changes(&store, Changes::default().with_payment(announced)).await.unwrap();
    assert_eq!(due(&store, later), both);
    let paid = Changes::default().with_payment(with_result(&second, codes::TEST_CONNECTOR));
    write_changes(&store, paid).await.unwrap();
    drop(store);
    assert_eq!(due(&backend.open_store(), later), BTreeSet::from([first_id]), "it outlives a restart");
}

pub(crate) async fn a_clock_that_is_moved_moves_what_has_begun(backend: impl Backend) {
    let admin = backend.open_admin();
    admin.add_entity(&sample_entity(1), sample_time(0)).unwrap();
    let channel = Entity { level: Level::Channel, parent: Some(sample_entity(1).id), ..sample_entity(2) };
    admin.add_entity(&channel, sample_time(0)).unwrap();
    admin.add_entity(&sample_entity(3), sample_time(0)).unwrap();
    let store = backend.open_store();
    let of_channel = Payment { entity: channel.id.clone(), ..pending_payment(100) };
    let of_other = Payment { entity: sample_entity(3).id, ..pending_payment(101) };
    write_changes(&store, Changes::default().with_payment(of_channel.clone()).with_payment(of_other.clone()))
        .await
        .unwrap();
    let by = SignedDuration::from_secs(60);
    write_changes(&store, Changes::default().with_clock_move(&channel, by)).await.unwrap();
    assert_eq!(admin.load_entity(&channel.id).unwrap().unwrap().ahead, by);
    assert_eq!(due_subjects(&store, TimerKind::End, 40, 10), [of_channel.id.to_string()]);
    // A timer that begins by a clock that is ahead has begun earlier by the machine's clock.
    let later = Payment { entity: channel.id.clone(), ..pending_payment(160) };
    write_changes(&store, Changes::default().with_payment(later.clone())).await.unwrap();
    assert_eq!(due_subjects(&store, TimerKind::End, 100, 10), [of_channel.id.to_string(), later.id.to_string()]);
    // A command moves the clock the same way.
    let moved = Changes::default().with_administrators_clock_move(&channel, by, ("joe".to_owned(), None), true);
    admin.update(&RecordKeys::none(), |_| Ok((moved, ()))).unwrap().unwrap();
    assert_eq!(admin.load_entity(&sample_entity(1).id).unwrap().unwrap().ahead, by * 2);
    assert_eq!(due_subjects(&store, TimerKind::End, 40, 10), [of_channel.id.to_string(), later.id.to_string()]);
    assert_eq!(admin.load_entity(&sample_entity(3).id).unwrap().unwrap().ahead, SignedDuration::ZERO);
}

pub(crate) async fn a_move_of_a_clock_is_decided_where_the_one_before_has_left_it(backend: impl Backend) {
    backend.open_admin().add_entity(&sample_entity(1), sample_time(0)).unwrap();
    let store = backend.open_store();
    let moves = (0..8).map(|_| {
        let store = Arc::clone(&store);
        tokio::spawn(async move {
            let advance = |loaded: LoadedRecords| {
                let entity = loaded.entity.expect("it has been stored");
                let by = entity.parse_clock_advance("30h")?;
                Ok((Changes::default().with_clock_move(&entity, by), entity.ahead + by))
            };
            store.update(RecordKeys::for_entity(&sample_entity(1).id), advance).await.unwrap().unwrap()
        })
    });
    let mut advances = Vec::new();
    for task in moves.collect::<Vec<_>>() {
        advances.push(task.await.unwrap());
    }
    advances.sort_unstable();
    assert_eq!(advances, (1..=8).map(|moves| SignedDuration::from_hours(30 * moves)).collect::<Vec<_>>());
}
