//! Nodes of a cluster side by side, and connections that end at the worst moment.

mod faults;
mod repeats;

use std::io::{Read as _, Write as _};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use tillgate_engine::postgres::{PostgresAddress, SessionLimits};
use tillgate_test_cluster::Cluster;

use crate::cluster::NodeOptions;
use crate::conformance::samples::{empty_directory, sample_checkout, sample_entity, sample_time, write_changes};
use crate::risk::velocity::VelocityChange;
use crate::{AdminStore, Changes, LoadedRecords, RecordKeys, Store, StoreErrorKind};

/// The cluster of the databases.
pub(crate) static CLUSTER: LazyLock<Cluster> = LazyLock::new(|| Cluster::start(&[]).unwrap());

/// The last message of a transaction, as it is sent.
const COMMIT: &[u8] = b"COMMIT\0";

/// Forwards everything.
const FORWARD: u8 = 0;
/// Forwards the next commit and swallows its answer.
const SWALLOW_ANSWER: u8 = 1;
/// Swallows the next commit.
const SWALLOW_COMMIT: u8 = 2;
/// Cuts every connection that says something.
pub(super) const CUT: u8 = 3;

pub(crate) fn parse(address: &str) -> PostgresAddress {
    PostgresAddress::parse(address, "tests", SessionLimits::default()).unwrap()
}

/// Opens a node of a cluster.
pub(super) fn open_node(address: &str) -> Arc<Store> {
    Arc::new(Store::open_cluster(&parse(address), empty_directory(), NodeOptions::of_test()).unwrap())
}

/// A network between a node and a cluster.
pub(super) struct ForwardedNetwork {
    folder: tempfile::TempDir,
    pub(super) mode: Arc<AtomicU8>,
    /// No answer arrives as long as a test has locked it.
    pub(super) answers: Arc<tokio::sync::Mutex<()>>,
}

impl ForwardedNetwork {
    /// Begins to forward connections to the cluster's socket.
    pub(super) fn start(cluster: &Path) -> Self {
        let (folder, mode) = (tempfile::tempdir().unwrap(), Arc::new(AtomicU8::new(FORWARD)));
        let answers = Arc::new(tokio::sync::Mutex::new(()));
        let name = ".s.PGSQL.5432";
        let (listener, target) = (UnixListener::bind(folder.path().join(name)).unwrap(), cluster.join(name));
        let (shared, gate) = (Arc::clone(&mode), Arc::clone(&answers));
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let server = UnixStream::connect(&target).unwrap();
                let (from_server, to_client) = (server.try_clone().unwrap(), client.try_clone().unwrap());
                let gate = Arc::clone(&gate);
                std::thread::spawn(move || forward_answers(from_server, to_client, &gate));
                let mode = Arc::clone(&shared);
                std::thread::spawn(move || forward_questions(client, server, &mode));
            }
        });
        Self { folder, mode, answers }
    }

    /// Returns the address of a database through this network.
    pub(super) fn address(&self, database: &str) -> String {
        format!("postgres:///{database}?user=tester&host={}", self.folder.path().display())
    }
}

/// Forwards the answers of the server until one side ends.
fn forward_answers(mut server: UnixStream, mut client: UnixStream, gate: &tokio::sync::Mutex<()>) {
    let mut buffer = [0; 65_536];
    while let Ok(length) = server.read(&mut buffer)
        && length > 0
    {
        let _open = gate.blocking_lock();
        if client.write_all(&buffer[..length]).is_err() {
            break;
        }
    }
    let _ = client.shutdown(Shutdown::Both);
}

/// Forwards the messages of a client until one side ends, or until a commit that is lost.
fn forward_questions(mut client: UnixStream, mut server: UnixStream, mode: &AtomicU8) {
    let mut buffer = [0; 65_536];
    while let Ok(length) = client.read(&mut buffer)
        && length > 0
    {
        let message = &buffer[..length];
        let is_commit = message.windows(COMMIT.len()).any(|bytes| bytes == COMMIT);
        if mode.load(Ordering::Acquire) == CUT {
            let _ = client.shutdown(Shutdown::Both);
            break;
        }
        let loss = if is_commit { mode.swap(FORWARD, Ordering::AcqRel) } else { FORWARD };
        if loss != FORWARD {
            client.shutdown(Shutdown::Both).unwrap();
        }
        if loss == SWALLOW_COMMIT || server.write_all(message).is_err() {
            break;
        }
    }
    // A message that was sent is still carried out.
    let _ = server.shutdown(Shutdown::Write);
}

/// Adds one to the version of a checkout, whatever it is.
async fn raise_version(store: &Store, number: u8) -> Result<u64, StoreErrorKind> {
    let decide = |loaded: LoadedRecords| {
        let mut next = loaded.checkout.expect("it has been stored");
        next.version += 1;
        Ok((Changes::default().with_checkout(&next), next.version))
    };
    let written = store.update(RecordKeys::for_checkout(&sample_checkout(number).id), decide).await;
    written.map(|decided| decided.unwrap()).map_err(|error| error.kind())
}

/// Opens a node through a network, and another one directly.
pub(super) fn open_both() -> (ForwardedNetwork, Arc<Store>, Arc<Store>) {
    let direct = CLUSTER.create_database().unwrap();
    let database = direct.split_once(":///").unwrap().1.split_once('?').unwrap().0;
    let network = ForwardedNetwork::start(CLUSTER.folder());
    let (node, other) = (open_node(&network.address(database)), open_node(&direct));
    (network, node, other)
}

/// Opens a node through a network, with a checkout, and another one directly.
async fn open_through_network() -> (ForwardedNetwork, Arc<Store>, Arc<Store>) {
    let (network, node, other) = open_both();
    write_changes(&node, Changes::default().with_checkout(&sample_checkout(1))).await.unwrap();
    (network, node, other)
}

fn version(store: &Store) -> u64 {
    store.load_checkout(&sample_checkout(1).id).unwrap().unwrap().version
}

#[tokio::test(flavor = "multi_thread")]
async fn a_commit_whose_answer_is_lost_is_answered_as_done() {
    let (network, node, other) = open_through_network().await;
    let before = version(&other);
    network.mode.store(SWALLOW_ANSWER, Ordering::Release);
    assert_eq!(raise_version(&node, 1).await, Ok(before + 1));
    assert_eq!((version(&node), version(&other)), (before + 1, before + 1));
    assert_eq!(raise_version(&node, 1).await, Ok(before + 2));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_commit_that_never_arrives_is_made_again() {
    let (network, node, other) = open_through_network().await;
    let before = version(&other);
    network.mode.store(SWALLOW_COMMIT, Ordering::Release);
    assert_eq!(raise_version(&node, 1).await, Ok(before + 1));
    assert_eq!((version(&node), version(&other)), (before + 1, before + 1));
    assert_eq!(raise_version(&node, 1).await, Ok(before + 2));
}

#[tokio::test(flavor = "multi_thread")]
async fn decisions_of_two_nodes_about_one_checkout_are_taken_one_after_the_other() {
    let address = CLUSTER.create_database().unwrap();
    let nodes = [open_node(&address), open_node(&address)];
    write_changes(&nodes[0], Changes::default().with_checkout(&sample_checkout(1))).await.unwrap();
    let first = version(&nodes[1]);
    let tasks = (0..60).map(|number| {
        let node = Arc::clone(&nodes[number % 2]);
        tokio::spawn(async move { raise_version(&node, 1).await.unwrap() })
    });
    let mut versions = Vec::new();
    for task in tasks.collect::<Vec<_>>() {
        versions.push(task.await.unwrap());
    }
    versions.sort_unstable();
    assert_eq!(versions, (first + 1..=first + 60).collect::<Vec<u64>>());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_entity_of_a_command_reaches_every_node() {
    let address = CLUSTER.create_database().unwrap();
    let directories = [empty_directory(), empty_directory()];
    let open = |directory| Store::open_cluster(&parse(&address), directory, NodeOptions::of_test()).unwrap();
    let _nodes = directories.each_ref().map(|directory| open(Arc::clone(directory)));
    let entity = sample_entity(1);
    AdminStore::open_cluster(&parse(&address), None).unwrap().add_entity(&entity, sample_time(0)).unwrap();
    for directory in &directories {
        while directory.find_entity(&entity.id).is_none() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_goes_on_by_itself_after_the_database_was_killed_and_loses_nothing() {
    let cluster = Cluster::start(&["fsync=on"]).unwrap();
    let node = open_node(&cluster.create_database().unwrap());
    write_changes(&node, Changes::default().with_checkout(&sample_checkout(1))).await.unwrap();
    let mut last = version(&node);
    for _ in 0..3 {
        last = raise_version(&node, 1).await.unwrap();
        tokio::task::block_in_place(|| cluster.crash_and_restart().unwrap());
        // The first read may meet a session whose connection is gone.
        let _ = node.load_checkout(&sample_checkout(1).id);
        assert_eq!(raise_version(&node, 1).await, Ok(last + 1));
        last += 1;
    }
    assert_eq!(version(&node), last);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_one_node_counts_against_the_limits_the_others_read_at_their_next_look() {
    let address = CLUSTER.create_database().unwrap();
    let (one, other) = (open_node(&address), open_node(&address));
    let mut since = 0;
    assert_eq!(other.load_velocity_changes(&mut since).unwrap(), []);
    for number in 1..=3 {
        let change = VelocityChange { kind: number, name: [number; 16], cost: 5_000_000_000 };
        let counted = one.add_velocity_changes(vec![change], sample_time(0), i64::MAX / 4).await.unwrap();
        // Those of the earlier looks are read again for a while, which changes nothing.
        let changed = other.load_velocity_changes(&mut since).unwrap();
        assert!(changed.contains(&counted[0]) && changed.len() == usize::from(number), "{changed:?}");
    }
}
