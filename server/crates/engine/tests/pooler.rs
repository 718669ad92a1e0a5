//! pgbouncer between a session and its server.
#![allow(clippy::unwrap_used, missing_docs)]

use tillgate_engine::postgres::{PostgresAddress, SessionLimits, check_pooling};
use tillgate_test_cluster::{Cluster, Pooler};

const IGNORED: &str = "ignore_startup_parameters = options";

/// Checks an address through a pooler with these settings. Returns the reason if it is refused.
fn refuse(cluster: &Cluster, settings: &str) -> Option<String> {
    let pooler = Pooler::start(cluster, settings).unwrap();
    let address = PostgresAddress::parse(&pooler.address("postgres"), "tests", SessionLimits::default()).unwrap();
    check_pooling(&address).err().map(|error| error.to_string())
}

#[test]
fn a_pooler_that_breaks_what_sessions_rely_on_is_refused_with_the_reason() {
    let cluster = Cluster::start(&[]).unwrap();
    let direct = PostgresAddress::parse(&cluster.address("postgres"), "tests", SessionLimits::default()).unwrap();
    check_pooling(&direct).unwrap();
    let reason = refuse(&cluster, "pool_mode = session").unwrap();
    assert!(reason.contains("does not take the limits of sessions") && reason.contains("options"), "{reason}");
    let reason = refuse(&cluster, &format!("pool_mode = session\n{IGNORED}")).unwrap();
    assert!(reason.contains("drops the limits of sessions"), "{reason}");
    // The role may have limits of its own.
    let limit = "ALTER ROLE tester SET idle_in_transaction_session_timeout = '10s'";
    cluster.run_sql("postgres", limit).unwrap();
    assert_eq!(refuse(&cluster, &format!("pool_mode = session\n{IGNORED}")), None);
    let reason = refuse(&cluster, &format!("pool_mode = transaction\n{IGNORED}")).unwrap();
    assert!(reason.contains("shares sessions"), "{reason}");
}
