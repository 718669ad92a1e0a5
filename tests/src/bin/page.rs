//! The form part of `cargo xtask bench`: `page ROUNDS MILLISECONDS` compares the hosted form with a static page, and
//! prints what it has seen (JSON). The gateway is the binary that TILLGATE_BIN names.

use std::time::Duration;

use anyhow::{Context as _, bail};
use tillgate_tests::bench::page::compare;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [rounds, delay] = &arguments[..] else { bail!("usage: page ROUNDS MILLISECONDS") };
    let delay = Duration::from_millis(delay.parse().context("the delay each way")?);
    let report = compare(rounds.parse().context("the number of rounds")?, delay).await?;
    println!("{}", serde_json::to_string(&report)?);
    Ok(())
}
