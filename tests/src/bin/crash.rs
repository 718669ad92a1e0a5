//! `crash ROUNDS`: kills a gateway under load at random moments, this number of times, and prints a summary.

use anyhow::Context as _;
use tillgate_tests::crash;

/// Runs the crash test with the number of rounds in the first argument, and prints a summary. Fails if that is no
/// number, or a guarantee is violated.
#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let rounds = std::env::args().nth(1).context("usage: crash ROUNDS")?.parse()?;
    let crash::CrashSummary { answers, sent_again, received, repeated, hosts_killed, booked } =
        crash::run_rounds(rounds).await?;
    println!(
        "{rounds} times killed: {answers} answers, all of them kept; {sent_again} requests sent again, none done twice; \
         {received} requests received from the gateway, {repeated} of them once more and under the same id; the acquirer's \
         host killed {hosts_killed} times, its {booked} entries equal to the gateway's payments"
    );
    Ok(())
}
