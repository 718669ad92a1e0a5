//! A cluster under Patroni whose primary dies.
#![allow(clippy::unwrap_used, missing_docs)]

use std::time::{Duration, Instant};

use tillgate_test_cluster::PatroniCluster;

/// Longest time until another primary takes writes, on a busy machine.
const LONGEST_FAILOVER: Duration = Duration::from_secs(60);

/// Writes a row until another primary takes it. It may have been stored although the answer was lost.
fn write_at_next_primary(cluster: &PatroniCluster, row: &str) {
    let began = Instant::now();
    while cluster.run_sql(&format!("INSERT INTO number VALUES ({row}) ON CONFLICT DO NOTHING")).is_err() {
        assert!(began.elapsed() < LONGEST_FAILOVER, "{}", cluster.read_logs());
    }
    eprintln!("failover took {:?}", began.elapsed());
}

#[test]
fn a_standby_takes_over_with_all_commits_and_the_old_primary_comes_back_as_a_standby() {
    let cluster = PatroniCluster::start().unwrap();
    cluster.run_sql("CREATE TABLE number (n bigint PRIMARY KEY); INSERT INTO number VALUES (1)").unwrap();
    let primary = cluster.find_primary().unwrap();
    cluster.kill_machine(primary).unwrap();
    write_at_next_primary(&cluster, "2");
    assert_eq!(cluster.run_sql("SELECT sum(n) FROM number").unwrap(), "3");
    let second = cluster.find_primary().unwrap();
    assert_ne!(second, primary);
    cluster.start_machine(primary).unwrap();
    cluster.wait_until_whole().unwrap();
    // One that only stops for a while believes to be the primary when it goes on.
    cluster.suspend_machine(second).unwrap();
    write_at_next_primary(&cluster, "4");
    let third = cluster.find_primary().unwrap();
    assert_ne!(third, second);
    cluster.resume_machine(second).unwrap();
    cluster.wait_until_whole().unwrap();
    assert_eq!(cluster.find_primary(), Some(third));
    assert_eq!(cluster.run_sql("SELECT sum(n) FROM number").unwrap(), "7");
}
