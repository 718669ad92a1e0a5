//! Leases of nodes that end, stop, lose their connection or have a wrong clock.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};
use tillgate_os::clock::Clock;

use crate::cluster::NodeOptions;
use crate::cluster::background_work::BackgroundWork;
use crate::cluster::tests::{CLUSTER, CUT, open_both, open_node, parse};
use crate::conformance::samples::empty_directory;
use crate::{Sources, Store, StoreErrorKind};

/// The longest pause of background work after the death of its node.
const TAKEOVER: Duration = Duration::from_secs(10);
/// Pause between two looks at what the nodes may do.
const LOOK: Duration = Duration::from_millis(5);

/// Returns the kinds of work that a node may do.
fn work_of(node: &Store) -> Vec<BackgroundWork> {
    BackgroundWork::ALL.into_iter().filter(|work| node.may_work(*work)).collect()
}

/// Looks at two nodes until a condition is true, and checks each time that no work is done by both. Returns the time
/// that it took.
async fn watch_until(nodes: [&Store; 2], condition: impl Fn() -> bool) -> Duration {
    let began = Instant::now();
    while !condition() {
        let [first, second] = nodes.map(work_of);
        assert!(!first.iter().any(|work| second.contains(work)), "{first:?} {second:?}");
        assert!(began.elapsed() < 2 * TAKEOVER, "{first:?} {second:?}");
        tokio::time::sleep(LOOK).await;
    }
    began.elapsed()
}

/// Opens two nodes of a cluster, of which the first has all the work.
async fn open_nodes() -> [Arc<Store>; 2] {
    let address = CLUSTER.create_database().unwrap();
    let nodes = [open_node(&address), open_node(&address)];
    nodes[0].join_cluster("tx01").await.unwrap();
    nodes[1].join_cluster("tx02").await.unwrap();
    assert_eq!((work_of(&nodes[0]).len(), work_of(&nodes[1]).len()), (8, 0));
    nodes
}

#[tokio::test(flavor = "multi_thread")]
async fn each_kind_of_work_is_done_by_one_node_for_longer_than_a_lease() {
    let [first, second] = open_nodes().await;
    assert!(!first.is_clock_off() && !second.is_clock_off());
    let began = Instant::now();
    watch_until([&first, &second], || began.elapsed() > super::LEASE + super::RENEWAL).await;
    assert_eq!((work_of(&first).len(), work_of(&second).len()), (8, 0), "it is renewed");
}

#[tokio::test(flavor = "multi_thread")]
async fn work_that_is_given_back_goes_on_elsewhere_at_once_and_does_not_come_back() {
    let [first, second] = open_nodes().await;
    first.give_back(BackgroundWork::Deliveries).await;
    let took = watch_until([&first, &second], || second.may_work(BackgroundWork::Deliveries)).await;
    assert!(took < Duration::from_secs(3), "{took:?}");
    assert_eq!((work_of(&first).len(), work_of(&second)), (7, vec![BackgroundWork::Deliveries]));
    first.leave_cluster().await;
    assert_eq!(work_of(&first), []);
    let took = watch_until([&first, &second], || work_of(&second).len() == 8).await;
    assert!(took < Duration::from_secs(3), "{took:?}");
    // Its name is free as well.
    let next = open_node(&CLUSTER.create_database().unwrap());
    next.join_cluster("tx01").await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn the_work_of_a_node_that_dies_goes_on_within_ten_seconds() {
    let [first, second] = open_nodes().await;
    let died = Instant::now();
    // The thread ends with the store, and gives nothing back.
    drop(first);
    while work_of(&second).len() < 8 && died.elapsed() < TAKEOVER {
        tokio::time::sleep(LOOK).await;
    }
    assert_eq!(work_of(&second).len(), 8);
    assert!(died.elapsed() > super::LEASE - super::RENEWAL * 2, "the lease had not ended: {:?}", died.elapsed());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_without_a_connection_stops_before_another_one_begins() {
    let (network, first, second) = open_both();
    first.join_cluster("tx01").await.unwrap();
    second.join_cluster("tx02").await.unwrap();
    assert_eq!(work_of(&first).len(), 8);
    network.mode.store(CUT, Ordering::Release);
    let took = watch_until([&first, &second], || work_of(&second).len() == 8).await;
    assert!(took < TAKEOVER, "{took:?}");
    // The connection is back, and the work stays where it is.
    network.mode.store(0, Ordering::Release);
    let began = Instant::now();
    watch_until([&first, &second], || began.elapsed() > super::RENEWAL * 3).await;
    assert_eq!((work_of(&first).len(), work_of(&second).len()), (0, 8));
    // It is a node again.
    second.leave_cluster().await;
    watch_until([&first, &second], || work_of(&first).len() == 8).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_that_hears_of_its_lease_too_late_does_not_rely_on_it() {
    let (network, first, second) = open_both();
    first.join_cluster("tx01").await.unwrap();
    second.join_cluster("tx02").await.unwrap();
    let answers = network.answers.lock().await;
    // The lease of the question that is under way is as long as any, and the first node learns of it only at the end.
    let took = watch_until([&first, &second], || work_of(&second).len() == 8).await;
    assert!(took < TAKEOVER + super::RENEWAL, "{took:?}");
    drop(answers);
    let began = Instant::now();
    watch_until([&first, &second], || began.elapsed() > super::RENEWAL * 3).await;
    assert_eq!((work_of(&first).len(), work_of(&second).len()), (0, 8));
}

/// A clock that is off.
struct WrongClock(SignedDuration);

impl Clock for WrongClock {
    fn now(&self) -> Timestamp {
        Timestamp::now() + self.0
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_clock_of_a_node_does_not_matter() {
    let address = CLUSTER.create_database().unwrap();
    let open = |hours| {
        let clock = Arc::new(WrongClock(SignedDuration::from_hours(hours)));
        let options = NodeOptions { sources: Sources { clock, ..Sources::system() }, ..NodeOptions::of_test() };
        Store::open_cluster(&parse(&address), empty_directory(), options).unwrap()
    };
    let (early, late) = (open(-5), open(5));
    early.join_cluster("tx01").await.unwrap();
    late.join_cluster("tx02").await.unwrap();
    let began = Instant::now();
    watch_until([&early, &late], || began.elapsed() > super::RENEWAL * 3).await;
    assert_eq!((work_of(&early).len(), work_of(&late).len()), (8, 0));
    // Both are told, because they serve no live entities.
    assert!(early.is_clock_off() && late.is_clock_off());
    early.leave_cluster().await;
    let took = watch_until([&early, &late], || work_of(&late).len() == 8).await;
    assert!(took < Duration::from_secs(3), "{took:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_name_belongs_to_one_node_until_it_ends() {
    let address = CLUSTER.create_database().unwrap();
    let (first, second, third) = (open_node(&address), open_node(&address), open_node(&address));
    first.join_cluster("tx01").await.unwrap();
    let refused = second.join_cluster("tx01").await.unwrap_err();
    assert_eq!(refused.kind(), StoreErrorKind::InUse);
    assert!(refused.to_string().contains("tx01") && refused.to_string().contains("--node"), "{refused}");
    assert_eq!((work_of(&first).len(), work_of(&second).len()), (8, 0));
    // A node that was killed starts again under its name, after its lease.
    drop(first);
    third.join_cluster("tx01").await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_is_one_nodes_at_a_time() {
    let nodes = open_nodes().await;
    let turn = nodes[0].take_turn("refund of 1").await.unwrap();
    let other = nodes[1].take_turn("refund of 2").await.unwrap();
    let (waiting, began) = (Arc::clone(&nodes[1]), Instant::now());
    let taken = tokio::spawn(async move {
        let _turn = waiting.take_turn("refund of 1").await.unwrap();
        began.elapsed()
    });
    // Longer than a lease, so that the turn has to be renewed.
    let held = super::LEASE + super::RENEWAL;
    tokio::time::sleep(held).await;
    drop(turn);
    assert!(taken.await.unwrap() >= held);
    drop(other);
}
