//! `crash ROUNDS [cluster]`: kills a gateway under load at random moments, or parts of a cluster, this number of times,
//! and prints a summary.

use anyhow::{Context as _, bail};
use tillgate_tests::crash::{self, ClusterFault, InstallationKind};

/// Number of gateways on a cluster.
const NODES: u8 = 3;

/// Runs the crash test with the number of rounds in the first argument, and prints a summary. Fails if that is no
/// number, or a guarantee is violated.
#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let rounds = arguments.next().context("usage: crash ROUNDS [cluster]")?.parse()?;
    let kind = match arguments.next().as_deref() {
        None => InstallationKind::Single,
        Some("cluster") => InstallationKind::Cluster(NODES, ClusterFault::ALL.to_vec()),
        Some(other) => bail!("there is no installation {other:?}"),
    };
    let is_cluster = kind != InstallationKind::Single;
    let crash::CrashSummary { answers, sent_again, received, repeated, hosts_killed, booked, longest_outage } =
        crash::run_rounds(kind, rounds).await?;
    println!(
        "{rounds} times killed: {answers} answers, all of them kept; {sent_again} requests sent again, none done twice; \
         {received} requests received from the gateway, {repeated} of them once more and under the same id; the acquirer's \
         host killed {hosts_killed} times, its {booked} entries equal to the gateway's payments"
    );
    if is_cluster {
        println!("a shopper could pay again after {:.1} seconds at most", longest_outage.as_secs_f64());
    }
    Ok(())
}
