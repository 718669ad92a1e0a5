//! Kill -9 at random moments. `cargo xtask crash` runs more rounds.

use tillgate_tests::crash::{self, InstallationKind};

#[tokio::test(flavor = "multi_thread")]
async fn a_gateway_that_is_killed_twenty_times_under_load_keeps_every_answer_and_does_nothing_twice()
-> anyhow::Result<()> {
    let seen = crash::run_rounds(InstallationKind::Single, 20).await?;
    assert!(seen.answers > 20 && seen.received > 20 && seen.booked > 0, "{seen:?}");
    Ok(())
}
