//! Risk rules: the time of an evaluation, the velocity counters of a payment, and a start with many stored counters.

use std::fs;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};

use super::Bench;
use super::load::serve_store;
use super::numbers::median;
use super::table::{Goal, ResultRow};
use crate::toolchain::run_step;

/// Measures rules with 20 velocity counters on a store with a million of their rows. Returns a row for each time.
pub fn bench_risk_rules(bench: &Bench) -> Result<Vec<ResultRow>> {
    eprintln!("Risk rules:");
    let count = if bench.quick { "10000" } else { "1000000" };
    let folder = bench.folder.join("risk");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder)?;
    let times = run_step(&format!("storing {count} counters, and counting payments"), || {
        let output = Command::new(&bench.programs.risk).arg(folder.join("data")).arg(count).output()?;
        ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Ok(serde_json::from_slice::<serde_json::Value>(&output.stdout)?)
    })?;
    let starts = run_step("starting seven times", || {
        let start = |_| {
            let server = serve_store(bench, &folder, &[])?;
            let took = server.took;
            server.stop_gracefully()?;
            Ok(took)
        };
        (0..7).map(start).collect::<Result<Vec<Duration>>>()
    })?;
    fs::remove_dir_all(&folder)?;
    let row = |what: &str, reached, most, unit, figures| ResultRow {
        what: what.to_owned(),
        reached,
        goal: Goal::AtMost(most),
        unit,
        figures,
    };
    let time = |name: &str| times[name].as_f64().with_context(|| format!("the program risk prints no {name}"));
    let payment =
        format!("p99 {:.0} µs; and {:.0} µs of a commit of 16", time("payment_p99")?, time("commit_share_p50")?);
    Ok(vec![
        row("Evaluation of 200 rules", time("evaluation_p99")?, 300.0, "µs", "p99".to_owned()),
        row("Counters of a payment", time("payment_p50")?, 60.0, "µs", payment),
        row(
            "Start with stored counters",
            median(starts.iter().map(|time| time.as_secs_f64() * 1e3)),
            300.0,
            "ms",
            format!("{count} rows"),
        ),
    ])
}
