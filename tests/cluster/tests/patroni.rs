//! A cluster under Patroni whose primary dies.
#![allow(clippy::unwrap_used, missing_docs)]

use std::time::{Duration, Instant};

use tillgate_test_cluster::PatroniCluster;

/// Longest time until another primary takes writes, on a busy machine.
const LONGEST_FAILOVER: Duration = Duration::from_secs(60);

#[test]
fn a_standby_takes_over_with_all_commits_and_the_old_primary_comes_back_as_a_standby() {
    let cluster = PatroniCluster::start().unwrap();
    cluster.run_sql("CREATE TABLE number (n bigint); INSERT INTO number VALUES (1)").unwrap();
    let primary = cluster.find_primary().unwrap();
    cluster.kill_machine(primary).unwrap();
    let began = Instant::now();
    while cluster.run_sql("INSERT INTO number VALUES (2)").is_err() {
        assert!(began.elapsed() < LONGEST_FAILOVER, "{}", cluster.read_logs());
    }
    eprintln!("failover took {:?}", began.elapsed());
    assert_eq!(cluster.run_sql("SELECT sum(n) FROM number").unwrap(), "3");
    assert_ne!(cluster.find_primary().unwrap(), primary);
    cluster.start_machine(primary).unwrap();
    cluster.wait_until_whole().unwrap();
}
