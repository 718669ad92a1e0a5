//! The store as its callers see it: groups, savepoints, durability, and changes by another process.

use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use tillgate_shared::parameter::Parameters;

use super::*;
use crate::credential::Credential;
use crate::domain::entity::{Entity, Settings};
use crate::domain::id::EntityId;

fn entity() -> Entity {
    let id = EntityId::new(Timestamp::UNIX_EPOCH, [1; 9]);
    Entity {
        id,
        name: "Bakery".to_owned(),
        live: false,
        merchant: None,
        ahead: jiff::SignedDuration::ZERO,
        settings: Settings::default(),
    }
}

fn checkout(random: u8) -> Checkout {
    let id = CheckoutId::new(Timestamp::UNIX_EPOCH, [random; 10], "tx01");
    Checkout::new(id, entity().id, Timestamp::UNIX_EPOCH, "build".to_owned(), Parameters::default())
}

fn store() -> (tempfile::TempDir, Arc<Directory>, Arc<Store>) {
    let folder = tempfile::tempdir().unwrap();
    let directory = Arc::new(Directory::default());
    let store = Arc::new(Store::open(folder.path(), Arc::clone(&directory)).unwrap());
    (folder, directory, store)
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_decisions_about_one_checkout_are_taken_one_after_the_other() {
    let (_folder, _, store) = store();
    let first = checkout(1);
    let changes = Changes::default().checkout(&first);
    store.update(Keys::none(), move |_| Ok((changes, ()))).await.unwrap().unwrap();
    let raised = (0..50).map(|_| {
        let (store, keys) = (Arc::clone(&store), Keys::checkout(&first.id));
        tokio::spawn(async move {
            store
                .update(keys, |loaded| {
                    let mut next = loaded.checkout.expect("it has been stored");
                    next.version += 1;
                    Ok((Changes::default().checkout(&next), next.version))
                })
                .await
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

#[tokio::test(flavor = "multi_thread")]
async fn a_write_that_fails_takes_nothing_from_its_neighbours_in_the_group() {
    let (_folder, _, store) = store();
    let writes = (0..40u8).map(|number| {
        let store = Arc::clone(&store);
        tokio::spawn(async move {
            store
                .run(move |connection| {
                    rows::Changes::default().checkout(&checkout(number)).apply(connection)?;
                    if number % 4 == 0 { Err(StoreError::Stopped) } else { Ok(()) }
                })
                .await
                .is_ok()
        })
    });
    for (number, task) in (0..40u8).zip(writes.collect::<Vec<_>>()) {
        let answered = task.await.unwrap();
        let stored = store.checkout(&checkout(number).id).unwrap().is_some();
        assert_eq!((answered, stored), (number % 4 != 0, number % 4 != 0), "write {number}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_answered_is_there_when_the_file_is_opened_again() {
    let (folder, _, store) = store();
    let changes = Changes::default().checkout(&checkout(7));
    store.update(Keys::none(), move |_| Ok((changes, ()))).await.unwrap().unwrap();
    drop(store);
    let store = Store::open(folder.path(), Arc::new(Directory::default())).unwrap();
    assert_eq!(store.checkout(&checkout(7).id).unwrap(), Some(checkout(7)));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_that_another_process_makes_or_revokes_is_noticed() {
    let (folder, directory, _store) = store();
    let other = AdminStore::open(folder.path()).unwrap();
    let entity = entity();
    other.add_entity(&entity, Timestamp::now()).unwrap();
    let credential = Credential::new("user".to_owned(), "secret", entity.id.clone());
    other.add_token(&credential, "", Timestamp::now()).unwrap();
    let knows = |password| {
        directory.authenticate("user", password, std::net::IpAddr::from([192, 0, 2, 1]), Timestamp::now()).is_ok()
    };
    until(|| knows("secret")).await;
    assert!(!knows("other"));
    assert!(other.revoke_token("user", Timestamp::now()).unwrap());
    until(|| !knows("secret")).await;
}

/// Waits for a condition; the writer looks for foreign changes twice a second.
async fn until(condition: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while !condition() {
        assert!(Instant::now() < deadline, "the condition did not come true");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
