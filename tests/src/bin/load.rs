//! The load generator of `cargo xtask bench`: reads a plan (JSON) from standard input, carries it out, prints the
//! outcome (JSON).

use std::io::Read as _;

use anyhow::Context as _;
use tillgate_tests::bench;

fn main() -> anyhow::Result<()> {
    let mut plan = String::new();
    std::io::stdin().read_to_string(&mut plan)?;
    let plan = serde_json::from_str(&plan).context("reading the plan")?;
    println!("{}", serde_json::to_string(&bench::run(&plan)?)?);
    Ok(())
}
