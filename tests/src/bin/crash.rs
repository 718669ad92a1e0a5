//! `crash ROUNDS`: kills a gateway at random moments under load, so many times, and says what was seen.

use anyhow::Context as _;
use tillgate_tests::crash;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let rounds = std::env::args().nth(1).context("usage: crash ROUNDS")?.parse()?;
    let crash::Summary { answers, sent_again, received, repeated, hosts_killed, booked } = crash::run(rounds).await?;
    println!(
        "{rounds} times killed: {answers} answers, all of them kept; {sent_again} requests sent again, none done twice; \
         {received} requests received from the gateway, {repeated} of them once more and under the same id; the acquirer's \
         host killed {hosts_killed} times, its {booked} entries equal to the gateway's payments"
    );
    Ok(())
}
