//! The form benchmark of `cargo xtask bench`: `page ROUNDS MILLISECONDS` compares the hosted form with a static page
//! and prints the measurements (JSON). TILLGATE_BIN names the gateway's binary.

use std::time::Duration;

use anyhow::{Context as _, bail};
use tillgate_tests::bench::page::compare_pages;

/// Compares the pages with the number of rounds and the delay of each direction in the arguments, and prints the
/// report.
#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [rounds, delay] = &arguments[..] else { bail!("usage: page ROUNDS MILLISECONDS") };
    let delay = Duration::from_millis(delay.parse().context("the delay each way")?);
    let report = compare_pages(rounds.parse().context("the number of rounds")?, delay).await?;
    println!("{}", serde_json::to_string(&report)?);
    Ok(())
}
