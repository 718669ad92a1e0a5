//! The order of writes in a cluster: one after the other for a merchant, side by side for several.

use std::sync::Arc;
use std::time::Duration;

use tillgate_domain::access::audit::AuditEntry;
use tillgate_domain::access::entity::Entity;
use tillgate_domain::access::level::Level;
use tillgate_domain::checkout::Checkout;
use tillgate_domain::id::EntityId;
use tillgate_engine::postgres::PostgresSession;
use tillgate_engine::{Session, WriteScope};
use tokio::task::JoinHandle;

use super::tests::{CLUSTER, open_node, parse};
use crate::conformance::samples::{sample_checkout, sample_entity, sample_time, write_changes};
use crate::ledger::write_entry;
use crate::write::changes::{Change, Stage, WriteContext};
use crate::{AdminStore, Changes, LoadedRecords, RecordKeys, Store, StoreError};

/// An entry of the audit log about an entity, or about the whole gateway.
#[derive(Debug)]
struct SampleEntry(Option<EntityId>);

impl Change for SampleEntry {
    fn stage(&self) -> Stage {
        Stage::Schedule
    }

    fn apply(&self, context: &WriteContext<'_>) -> Result<bool, StoreError> {
        let entry = AuditEntry::new(sample_time(0), "sample", "");
        write_entry(context.session, self.0.as_ref(), &entry, sample_time(0))?;
        Ok(false)
    }
}

/// Returns the checkout of a merchant. Both have this number.
fn checkout_of(number: u8) -> Checkout {
    Checkout { entity: sample_entity(number).id, ..sample_checkout(number) }
}

/// Returns a channel of the first merchant.
fn channel() -> Entity {
    Entity { level: Level::Channel, parent: Some(sample_entity(1).id), ..sample_entity(9) }
}

/// Opens nodes of a database with two merchants, each with a checkout, and a channel of the first one.
async fn open_nodes<const N: usize>() -> (String, [Arc<Store>; N]) {
    let address = CLUSTER.create_database().unwrap();
    let admin = AdminStore::open_cluster(&parse(&address), None).unwrap();
    for entity in [sample_entity(1), sample_entity(2), channel()] {
        admin.add_entity(&entity, sample_time(0)).unwrap();
    }
    let nodes = std::array::from_fn(|_| open_node(&address));
    for number in [1, 2] {
        write_changes(&nodes[0], Changes::default().with_checkout(&checkout_of(number))).await.unwrap();
    }
    for node in &nodes {
        let query = "SELECT number FROM revision";
        let stored: i64 = node.run_read(|session| Ok(session.query_one(query, (), |row| row.get(0))?)).unwrap();
        // Until then a node decides everything alone.
        while node.directory.find_merchant(&sample_entity(1).id).is_none_or(|(_, loaded)| loaded != stored) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
    (address, nodes)
}

/// Adds one to the version of a merchant's checkout, in a decision about this entity.
fn raise_version(store: &Arc<Store>, number: u8, owner: &Entity) -> JoinHandle<u64> {
    let (store, keys) = (Arc::clone(store), RecordKeys::for_checkout(&checkout_of(number).id).owned_by(&owner.id));
    tokio::spawn(async move {
        let decide = |loaded: LoadedRecords| {
            let mut next = loaded.checkout.expect("it has been stored");
            next.version += 1;
            Ok((Changes::default().with_checkout(&next), next.version))
        };
        store.update(keys, decide).await.unwrap().unwrap()
    })
}

/// Waits until this number of sessions of a database wait for a lock.
async fn wait_for_waiters(session: &PostgresSession, expected: i64) {
    let session: &dyn Session = session;
    let query = "SELECT count(*) FROM pg_locks WHERE NOT granted AND locktype = 'advisory'
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())";
    while session.query_one::<i64, tillgate_engine::Error>(query, (), |row| row.get(0)).unwrap() != expected {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_transaction_that_never_ends_delays_no_other_merchant() {
    let (address, [one, other]) = open_nodes().await;
    let stopped = PostgresSession::connect(&parse(&address)).unwrap();
    let merchant = sample_entity(1);
    stopped.begin_write_within(WriteScope::Owner(merchant.id.as_str())).unwrap();
    let waiting = [raise_version(&one, 1, &merchant), raise_version(&other, 1, &channel())];
    wait_for_waiters(&stopped, 2).await;
    for node in [&one, &other] {
        for _ in 0..10 {
            raise_version(node, 2, &sample_entity(2)).await.unwrap();
        }
    }
    assert!(waiting.iter().all(|task| !task.is_finished()), "a merchant and its channels have one order");
    stopped.roll_back().unwrap();
    let [first, second] = waiting;
    let mut versions = [first.await.unwrap(), second.await.unwrap()];
    versions.sort_unstable();
    assert_eq!(versions[1], versions[0] + 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_concerns_everything_waits_for_every_merchant_and_lets_the_others_by() {
    let (address, [node]) = open_nodes().await;
    let held = PostgresSession::connect(&parse(&address)).unwrap();
    held.begin_write_within(WriteScope::Owner(sample_entity(1).id.as_str())).unwrap();
    let store = Arc::clone(&node);
    let everything = tokio::spawn(async move { store.run_write(|_| Ok(())).await });
    wait_for_waiters(&held, 1).await;
    for _ in 0..5 {
        raise_version(&node, 2, &sample_entity(2)).await.unwrap();
    }
    assert!(!everything.is_finished());
    held.roll_back().unwrap();
    everything.await.unwrap().unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn merchants_wait_for_what_concerns_everything() {
    let (address, [node]) = open_nodes().await;
    let held = PostgresSession::connect(&parse(&address)).unwrap();
    held.begin_write().unwrap();
    let waiting = [1, 2].map(|number| raise_version(&node, number, &sample_entity(number)));
    wait_for_waiters(&held, 2).await;
    assert!(waiting.iter().all(|task| !task.is_finished()));
    held.roll_back().unwrap();
    for task in waiting {
        task.await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn decisions_of_a_merchant_at_two_nodes_are_taken_one_after_the_other_beside_those_of_another() {
    let (_, nodes) = open_nodes::<2>().await;
    let (mut first, mut second) = (Vec::new(), Vec::new());
    for number in 0..60 {
        let owner = if number % 3 == 0 { channel() } else { sample_entity(1) };
        first.push(raise_version(&nodes[number % 2], 1, &owner));
        second.push(raise_version(&nodes[(number / 2) % 2], 2, &sample_entity(2)));
    }
    for tasks in [first, second] {
        let mut versions = Vec::new();
        for task in tasks {
            versions.push(task.await.unwrap());
        }
        versions.sort_unstable();
        assert_eq!(versions, (versions[0]..versions[0] + 60).collect::<Vec<u64>>());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn entries_of_several_merchants_at_once_keep_each_chain_whole() {
    let (_, nodes) = open_nodes::<2>().await;
    let entities = [Some(sample_entity(1)), Some(sample_entity(2)), Some(channel()), None];
    let write = |number: usize| {
        let (node, entity) = (Arc::clone(&nodes[number % 2]), entities[number / 2 % 4].clone());
        tokio::spawn(async move {
            let keys = entity.as_ref().map(|entity| RecordKeys::none().owned_by(&entity.id));
            let changes = Changes::default().with(SampleEntry(entity.map(|entity| entity.id)));
            node.update(keys.unwrap_or_default(), move |_| Ok((changes, ()))).await.unwrap().unwrap();
            if number.is_multiple_of(40) {
                node.bind_audit_chains(sample_time(0)).await.unwrap();
            }
        })
    };
    for task in (0..200).map(write).collect::<Vec<_>>() {
        task.await.unwrap();
    }
    let rows = |session: &dyn Session| {
        let query = "SELECT entity, number, json_extract(CAST(document AS TEXT), '$.follows') FROM audit_entry
            ORDER BY number";
        Ok(session.query_all(query, (), |row| row.read::<(String, i64, String)>())?)
    };
    let rows: Vec<(String, i64, String)> = nodes[0].run_read(rows).unwrap();
    assert!(rows.len() > 200, "{}", rows.len());
    let mut ends = std::collections::HashMap::new();
    for (chain, number, follows) in rows {
        let before = ends.insert(chain, number).unwrap_or(0);
        assert_eq!(follows, before.to_string(), "entry {number}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_channel_that_has_moved_waits_for_its_new_merchant_whatever_its_node_has_heard() {
    let (address, nodes) = open_nodes::<2>().await;
    let checkout = Checkout { entity: channel().id, ..checkout_of(1) };
    write_changes(&nodes[0], Changes::default().with_checkout(&checkout)).await.unwrap();
    let moved = Entity { parent: Some(sample_entity(2).id), ..channel() };
    AdminStore::open_cluster(&parse(&address), None).unwrap().update_entity(&moved).unwrap();
    let held = PostgresSession::connect(&parse(&address)).unwrap();
    held.begin_write_within(WriteScope::Owner(sample_entity(2).id.as_str())).unwrap();
    // The nodes have not heard of it yet, or have.
    let waiting = nodes.each_ref().map(|node| raise_version(node, 1, &channel()));
    wait_for_waiters(&held, 2).await;
    assert!(waiting.iter().all(|task| !task.is_finished()));
    held.roll_back().unwrap();
    for task in waiting {
        task.await.unwrap();
    }
}
