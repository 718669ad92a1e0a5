//! Timers: written with their cause, due in order, gone with their effect.

use jiff::SignedDuration;
use tillgate_shared::result::codes;

use super::Backend;
use super::samples::{at, checkout, entity, pending, with_result, write};
use crate::domain::checkout::Checkout;
use crate::domain::entity::Entity;
use crate::domain::level::Level;
use crate::domain::payment::Payment;
use crate::store::timer::Kind;
use crate::store::{Changes, Store};

/// The subjects of the timers of a kind that began up to so many seconds after the beginning.
fn due(store: &Store, kind: Kind, until: i64, most: u32) -> Vec<String> {
    store.timers_due(kind, at(until), most).unwrap().into_iter().map(|timer| timer.subject).collect()
}

pub(in crate::store) async fn timers_are_due_in_the_order_in_which_they_began(backend: impl Backend) {
    backend.open_admin().add_entity(&entity(1), at(0)).unwrap();
    let store = backend.open();
    let (early, middle, late) = (pending(1), pending(2), pending(3));
    for payment in [&late, &early, &middle] {
        write(&store, Changes::default().payment(payment)).await.unwrap();
    }
    let ids = [&early, &middle, &late].map(|payment| payment.id.to_string());
    assert_eq!(due(&store, Kind::End, 3, 10), ids);
    assert_eq!(due(&store, Kind::End, 3, 2), ids[..2]);
    assert_eq!(due(&store, Kind::End, 2, 10), ids[..2]);
    assert_eq!(due(&store, Kind::Remind, 3, 10), [""; 0]);
    // Written again, a payment waits since the same moment.
    write(&store, Changes::default().payment(&early)).await.unwrap();
    assert_eq!(due(&store, Kind::End, 3, 10), ids);
    store.stop_timer(Kind::End, ids[1].clone()).await.unwrap();
    assert_eq!(due(&store, Kind::End, 3, 10), [ids[0].clone(), ids[2].clone()]);
}

pub(in crate::store) async fn a_payment_that_gets_its_outcome_stops_its_timer(backend: impl Backend) {
    backend.open_admin().add_entity(&entity(1), at(0)).unwrap();
    let store = backend.open();
    write(&store, Changes::default().payment(&pending(1)).payment(&pending(2))).await.unwrap();
    write(&store, Changes::default().payment(&with_result(&pending(1), codes::CARD_EXPIRED))).await.unwrap();
    assert_eq!(due(&store, Kind::End, 10, 10), [pending(2).id.to_string()]);
}

/// A checkout after an attempt.
fn attempted(before: &Checkout, attempt: &Payment) -> Checkout {
    Checkout { paid: false, ..before.clone() }.attempted(attempt, at(10)).unwrap()
}

pub(in crate::store) async fn a_reminder_waits_while_its_attempt_is_pending(backend: impl Backend) {
    backend.open_admin().add_entity(&entity(1), at(0)).unwrap();
    let store = backend.open();
    let attempt = Payment { checkout: Some(checkout(1).id), ..pending(1) };
    let tried = attempted(&checkout(1), &attempt);
    let address = Some("https://shop.example/remind".to_owned());
    let changes = Changes::default().checkout(&tried).payment(&attempt).remind(&tried, address.clone(), at(1), true);
    write(&store, changes).await.unwrap();
    assert_eq!(due(&store, Kind::Remind, 60, 10), [""; 0]);
    write(&store, Changes::default().payment(&with_result(&attempt, codes::TEST_INTERNAL))).await.unwrap();
    let reminders = store.timers_due(Kind::Remind, at(60), 10).unwrap();
    assert_eq!(reminders.len(), 1);
    let reminder = &reminders[0];
    assert_eq!((&reminder.subject[..], &reminder.entity), (tried.id.as_str(), &tried.entity));
    assert_eq!((&reminder.detail, reminder.attempt.as_deref()), (&address, Some(attempt.id.as_str())));
}

pub(in crate::store) async fn a_reminder_is_about_the_last_attempt(backend: impl Backend) {
    backend.open_admin().add_entity(&entity(1), at(0)).unwrap();
    let store = backend.open();
    let declined = |seconds| with_result(&pending(seconds), codes::CARD_EXPIRED);
    let first = attempted(&checkout(1), &declined(1));
    let address = Some("https://shop.example/remind".to_owned());
    write(&store, Changes::default().remind(&first, address.clone(), at(1), false)).await.unwrap();
    let second = attempted(&first, &declined(2));
    // The second attempt names no address: that of the first one serves.
    write(&store, Changes::default().remind(&second, None, at(2), false)).await.unwrap();
    let reminders = store.timers_due(Kind::Remind, at(60), 10).unwrap();
    assert_eq!(reminders.len(), 1);
    assert_eq!((reminders[0].attempt.as_deref(), &reminders[0].detail), (second.last_attempt(), &address));
    assert_eq!(due(&store, Kind::Remind, 1, 10), [""; 0]);
    let about = |checkout: &Checkout| (checkout.id.as_str().to_owned(), checkout.last_attempt().unwrap().to_owned());
    store.stop_reminders(vec![about(&first)]).await.unwrap();
    assert_eq!(due(&store, Kind::Remind, 60, 10).len(), 1);
    store.stop_reminders(vec![about(&second)]).await.unwrap();
    assert_eq!(due(&store, Kind::Remind, 60, 10), [""; 0]);
    // Nobody is reminded of a checkout for which no address was ever named.
    let nameless = attempted(&checkout(2), &declined(3));
    write(&store, Changes::default().remind(&nameless, None, at(3), false)).await.unwrap();
    assert_eq!(due(&store, Kind::Remind, 60, 10), [""; 0]);
}

pub(in crate::store) async fn a_clock_that_is_moved_moves_what_has_begun(backend: impl Backend) {
    let admin = backend.open_admin();
    admin.add_entity(&entity(1), at(0)).unwrap();
    let channel = Entity { level: Level::Channel, parent: Some(entity(1).id), ..entity(2) };
    admin.add_entity(&channel, at(0)).unwrap();
    admin.add_entity(&entity(3), at(0)).unwrap();
    admin.add_entity(&Entity { live: true, ..entity(4) }, at(0)).unwrap();
    let store = backend.open();
    let of_channel = Payment { entity: channel.id.clone(), ..pending(100) };
    let of_other = Payment { entity: entity(3).id, ..pending(101) };
    write(&store, Changes::default().payment(&of_channel).payment(&of_other)).await.unwrap();
    let by = SignedDuration::from_secs(60);
    write(&store, Changes::default().clock(&channel, by)).await.unwrap();
    assert_eq!(admin.entity(&channel.id).unwrap().unwrap().ahead, by);
    assert_eq!(due(&store, Kind::End, 40, 10), [of_channel.id.to_string()]);
    // What begins by the clock that is ahead has begun earlier by the machine's.
    let later = Payment { entity: channel.id.clone(), ..pending(160) };
    write(&store, Changes::default().payment(&later)).await.unwrap();
    assert_eq!(due(&store, Kind::End, 100, 10), [of_channel.id.to_string(), later.id.to_string()]);
    assert!(!admin.advance_clock(&entity(4).id, by).unwrap(), "a live clock is never moved");
}
