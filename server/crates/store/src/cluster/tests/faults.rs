//! A database that takes no writes, no connections or no commits, or stops.

use std::sync::Arc;
use std::time::Duration;

use tillgate_engine::postgres::{PostgresAddress, PostgresSession, SessionLimits};
use tillgate_test_cluster::Cluster;
use tokio::task::{JoinHandle, block_in_place};

use super::{raise_version, version};
use crate::cluster::NodeOptions;
use crate::conformance::samples::{empty_directory, sample_checkout, write_changes};
use crate::{Changes, DiskFault, Store, StoreErrorKind};

/// Pause between two looks at the database.
const LOOK: Duration = Duration::from_millis(10);
/// Limits of a node that soon stops to wait for a commit.
const IMPATIENT: Duration = Duration::from_millis(500);
const UNREACHABLE: Result<u64, StoreErrorKind> = Err(StoreErrorKind::Disk(DiskFault::Unreachable));

/// Starts a cluster with a node, a checkout in its store, and the name of its database.
async fn start_with_checkout(limits: SessionLimits) -> (Cluster, Arc<Store>) {
    let cluster = Cluster::start(&["max_connections=12", "superuser_reserved_connections=0"]).unwrap();
    let address = PostgresAddress::parse(&cluster.create_database().unwrap(), "tests", limits).unwrap();
    let node = Arc::new(Store::open_cluster(&address, empty_directory(), NodeOptions::of_test()).unwrap());
    write_changes(&node, Changes::default().with_checkout(&sample_checkout(1))).await.unwrap();
    (cluster, node)
}

/// Changes a setting of a running cluster, which takes effect a moment later.
fn set(cluster: &Cluster, statement: &str) {
    for statement in [statement, "SELECT pg_reload_conf()"] {
        block_in_place(|| cluster.run_sql("postgres", statement).unwrap());
    }
}

/// Writes until the database takes it. Returns the version after it.
async fn write_until_taken(node: &Store) -> u64 {
    loop {
        match raise_version(node, 1).await {
            UNREACHABLE => tokio::time::sleep(LOOK).await,
            taken => return taken.unwrap(),
        }
    }
}

/// Returns the processes of the database whose commits wait for a standby.
fn find_waiting_commits(cluster: &Cluster) -> Vec<String> {
    let query = "SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep'";
    let found = block_in_place(|| cluster.run_sql("postgres", query).unwrap());
    found.lines().map(str::to_owned).collect()
}

/// Writes in a task until a commit waits for a standby. Returns the task, and the process of the database.
async fn begin_write(cluster: &Cluster, node: &Arc<Store>) -> (JoinHandle<Result<u64, StoreErrorKind>>, String) {
    set(cluster, "ALTER SYSTEM SET synchronous_standby_names = 'absent'");
    loop {
        let writer = Arc::clone(node);
        let write = tokio::spawn(async move { raise_version(&writer, 1).await });
        while !write.is_finished() {
            if let Some(process) = find_waiting_commits(cluster).pop() {
                return (write, process);
            }
            tokio::time::sleep(LOOK).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_commit_whose_wait_for_a_standby_is_cancelled_is_answered_once_a_standby_has_it() {
    let (cluster, node) = start_with_checkout(SessionLimits::default()).await;
    let (write, process) = begin_write(&cluster, &node).await;
    let before = version(&node);
    block_in_place(|| cluster.run_sql("postgres", &format!("SELECT pg_cancel_backend({process})")).unwrap());
    // The database has answered that it is committed. The node asks for the outcome, which waits for a standby as well.
    while find_waiting_commits(&cluster).iter().all(|waiting| *waiting == process) {
        tokio::time::sleep(LOOK).await;
    }
    assert!(!write.is_finished());
    set(&cluster, "ALTER SYSTEM RESET synchronous_standby_names");
    assert_eq!(write.await.unwrap(), Ok(before + 1));
    assert_eq!(version(&node), before + 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_commit_that_waits_too_long_is_found_done_once_a_standby_has_it_and_nobody_sees_it_before() {
    let limits = SessionLimits { commit: IMPATIENT, lock: IMPATIENT, ..SessionLimits::default() };
    let (cluster, node) = start_with_checkout(limits).await;
    let (write, _) = begin_write(&cluster, &node).await;
    let before = version(&node);
    // The node asks for the outcome on another connection, which waits for the lock of the commit.
    let is_asking = "SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%FROM commit_mark%' AND state = 'active'
        AND wait_event_type = 'Lock'";
    while block_in_place(|| cluster.run_sql("postgres", is_asking).unwrap()) == "0" {
        assert!(!write.is_finished());
        tokio::time::sleep(LOOK).await;
    }
    assert_eq!(version(&node), before);
    set(&cluster, "ALTER SYSTEM RESET synchronous_standby_names");
    assert_eq!(write.await.unwrap(), Ok(before + 1));
    assert_eq!(raise_version(&node, 1).await, Ok(before + 2));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_that_becomes_read_only_refuses_writes_until_it_is_writable() {
    let (cluster, node) = start_with_checkout(SessionLimits::default()).await;
    let mut last = version(&node);
    set(&cluster, "ALTER SYSTEM SET default_transaction_read_only = on");
    while let Ok(raised) = raise_version(&node, 1).await {
        last = raised;
    }
    // The first one has lost its connection, and no other one is made.
    assert_eq!(raise_version(&node, 1).await, UNREACHABLE);
    set(&cluster, "ALTER SYSTEM RESET default_transaction_read_only");
    assert_eq!(write_until_taken(&node).await, last + 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_without_a_free_connection_refuses_writes_until_there_is_one() {
    let (cluster, node) = start_with_checkout(SessionLimits::default()).await;
    let mut last = version(&node);
    let limits = SessionLimits::default();
    let address = PostgresAddress::parse(&cluster.address("postgres"), "others", limits).unwrap();
    let end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'tests'";
    let mut others = Vec::new();
    // The node's connections are ended, and others take all that are free. It may be faster with one of its own.
    loop {
        others.truncate(others.len().saturating_sub(1));
        block_in_place(|| cluster.run_sql("postgres", end).unwrap());
        while let Ok(other) = block_in_place(|| PostgresSession::connect(&address)) {
            others.push(other);
        }
        match raise_version(&node, 1).await {
            Ok(raised) => last = raised,
            refused => break assert_eq!(refused, UNREACHABLE),
        }
    }
    drop(others);
    assert_eq!(write_until_taken(&node).await, last + 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_that_stops_in_the_middle_answers_later_and_nothing_is_done_twice() {
    let limits = SessionLimits { commit: IMPATIENT, answer: IMPATIENT, lock: IMPATIENT, ..SessionLimits::default() };
    let (cluster, node) = start_with_checkout(limits).await;
    let before = version(&node);
    cluster.signal("STOP").unwrap();
    assert_eq!(raise_version(&node, 1).await, UNREACHABLE);
    cluster.signal("CONT").unwrap();
    assert_eq!(write_until_taken(&node).await, before + 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_that_lacks_what_it_has_confirmed_is_noticed_by_its_nodes() {
    let (cluster, node) = start_with_checkout(SessionLimits::default()).await;
    let database =
        cluster.run_sql("postgres", "SELECT datname FROM pg_stat_activity WHERE application_name = 'tests' LIMIT 1");
    let database = database.unwrap();
    let reconnect = || {
        let end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'tests'";
        block_in_place(|| cluster.run_sql("postgres", end).unwrap());
    };
    for round in 1..4 {
        raise_version(&node, 1).await.unwrap();
        reconnect();
        raise_version(&node, 1).await.unwrap();
        assert!(!node.lacks_commits(), "round {round}: a connection that ends loses nothing");
    }
    // A primary that has missed the last commit has this.
    block_in_place(|| cluster.run_sql(&database, "UPDATE commit_mark SET number = number - 1").unwrap());
    reconnect();
    raise_version(&node, 1).await.unwrap();
    assert!(node.lacks_commits());
}
