//! The load generator of `cargo xtask bench`: reads a plan (JSON) from standard input, executes it, and prints the
//! result (JSON).

use std::io::Read as _;

use anyhow::Context as _;
use tillgate_tests::bench;

/// Executes the plan on standard input and prints its result.
fn main() -> anyhow::Result<()> {
    let mut plan = String::new();
    std::io::stdin().read_to_string(&mut plan)?;
    let plan = serde_json::from_str(&plan).context("reading the plan")?;
    println!("{}", serde_json::to_string(&bench::run_plan(&plan)?)?);
    Ok(())
}
