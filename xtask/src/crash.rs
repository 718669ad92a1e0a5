//! `cargo xtask crash`: kills a gateway and an acquirer's host at random moments under load, or parts of a cluster, and
//! checks that nothing is lost.

use anyhow::{Context as _, Result, bail, ensure};

use crate::test::tools;
use crate::{cargo, server};

/// Number of rounds of one gateway, and of a cluster, whose rounds take half a minute.
const ROUNDS: (u32, u32) = (200, 30);

/// Text of `cargo xtask crash --help`.
pub const HELP: &str = "\
Builds the form and the gateway, starts it on a store of its own, and lets clients pay, reserve, capture,
reverse, refund, decide on a bank's page and submit checkouts until the process is killed (SIGKILL) at a random moment; then it is started
again, 200 times by default. Every answer that a client got has to be in the store, a request that is sent
again under its Idempotency-Key does nothing twice, and in the end, when the sandbox's clock is moved, every
pending payment ends, and every message to the merchant comes at least once and always under one id.
The acquirer's host is killed as well, in two rounds of three: its ledger and the gateway's payments have to be
equal to the cent.

  --rounds N  how often it is killed (default: 200; 30 with --cluster)
  --cluster   three gateways behind HAProxy, on three nodes of PostgreSQL under Patroni, as docs/scaling.md sets them
              up. Each round kills the machine of the primary, its database, a gateway, the primary and a gateway, or
              all connections, or stops the machine of the primary for a while. The programs of the cluster are installed if they are missing

Examples: cargo xtask crash --rounds 20
          cargo xtask crash --cluster";

/// Builds everything and runs the crash test. Fails for an unknown option, and if a guarantee is violated.
pub fn run_crash_test(arguments: &[String]) -> Result<()> {
    let (rounds, is_cluster) = parse_options(arguments)?;
    let patroni = if is_cluster { Some(tools::ensure_cluster_programs()?) } else { None };
    let gateway = server::build_with_form()?;
    let status = cargo::command()
        .args(["run", "--quiet", "--package", "tillgate-tests", "--bin", "crash", "--", &rounds.to_string()])
        .args(is_cluster.then_some("cluster"))
        .env("TILLGATE_BIN", gateway)
        .envs(patroni)
        .status()
        .context("running cargo")?;
    ensure!(status.success(), "the gateway has not kept its word");
    Ok(())
}

/// Parses the options. Returns the number of rounds, and true for a cluster.
fn parse_options(arguments: &[String]) -> Result<(u32, bool)> {
    let (mut rounds, mut is_cluster) = (None, false);
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--cluster" => is_cluster = true,
            "--rounds" => {
                let count = arguments.next().and_then(|count| count.parse().ok());
                rounds = Some(count.context("--rounds needs a number")?);
            }
            other => bail!("there is no option {other:?}"),
        }
    }
    Ok((rounds.unwrap_or(if is_cluster { ROUNDS.1 } else { ROUNDS.0 }), is_cluster))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn parse(arguments: &[&str]) -> Option<(u32, bool)> {
        parse_options(&arguments.iter().map(|argument| (*argument).to_owned()).collect::<Vec<_>>()).ok()
    }

    #[test]
    fn a_cluster_has_fewer_rounds_unless_their_number_is_given() {
        assert_eq!(parse(&[]), Some((200, false)));
        assert_eq!(parse(&["--cluster"]), Some((30, true)));
        assert_eq!(parse(&["--cluster", "--rounds", "2"]), Some((2, true)));
        assert_eq!(parse(&["--rounds", "20"]), Some((20, false)));
        assert_eq!((parse(&["--rounds"]), parse(&["--rounds", "x"]), parse(&["--nodes"])), (None, None, None));
    }
}
