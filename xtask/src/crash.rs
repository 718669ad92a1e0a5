//! `cargo xtask crash`: kills a gateway and an acquirer's host at random moments under load, and checks that nothing is
//! lost.

use anyhow::{Context as _, Result, bail, ensure};

use crate::{cargo, server};

/// Text of `cargo xtask crash --help`.
pub const HELP: &str = "\
Builds the form and the gateway, starts it on a store of its own, and lets clients pay, reserve, capture,
reverse, refund, decide on a bank's page and submit checkouts until the process is killed (SIGKILL) at a random moment; then it is started
again, 200 times by default. Every answer that a client got has to be in the store, a request that is sent
again under its Idempotency-Key does nothing twice, and in the end, when the sandbox's clock is moved, every
pending payment ends, and every message to the merchant comes at least once and always under one id.
The acquirer's host is killed as well, in two rounds of three: its ledger and the gateway's payments have to be
equal to the cent.

  --rounds N  how often it is killed (default: 200)

Example: cargo xtask crash --rounds 20";

/// Builds everything and runs the crash test. Fails for an unknown option, and if a guarantee is violated.
pub fn run_crash_test(arguments: &[String]) -> Result<()> {
    let rounds = match arguments {
        [] => 200,
        [name, count] if name == "--rounds" => count.parse::<u32>().context("--rounds needs a number")?,
        _ => bail!("there is no option {:?}", arguments.join(" ")),
    };
    let gateway = server::build_with_form()?;
    let status = cargo::command()
        .args(["run", "--quiet", "--package", "tillgate-tests", "--bin", "crash", "--", &rounds.to_string()])
        .env("TILLGATE_BIN", gateway)
        .status()
        .context("running cargo")?;
    ensure!(status.success(), "the gateway has not kept its word");
    Ok(())
}
