//! Two nodes on a cluster of PostgreSQL whose primary dies, as `docs/scaling.md` sets them up. `cargo xtask crash
//! --cluster` runs more rounds with more faults.

use std::time::Duration;

use tillgate_tests::crash::{self, ClusterFault, InstallationKind};

/// Longest time until a shopper can pay again: the times of Patroni in the tests, with some for a busy machine.
const LONGEST_OUTAGE: Duration = Duration::from_secs(60);

#[tokio::test(flavor = "multi_thread")]
async fn a_shopper_pays_while_the_primary_and_a_node_die_and_nothing_is_lost_or_done_twice() -> anyhow::Result<()> {
    let faults = vec![ClusterFault::PrimaryAndNode];
    let seen = crash::run_rounds(InstallationKind::Cluster(2, faults), 1).await?;
    assert!(seen.answers > 20 && seen.sent_again > 0 && seen.booked > 0, "{seen:?}");
    assert!(seen.longest_outage < LONGEST_OUTAGE, "{seen:?}");
    Ok(())
}
