//! Risk rules: the time of an evaluation, the velocity counters of a payment, payments with and without the rules and
//! beside a dry run, and a start with many stored counters.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};

use super::Bench;
use super::load::{create_merchant, serve_store};
use super::numbers::median;
use super::requests::MerchantAccess;
use super::rounds::{compare_throughput, run_rounds};
use super::table::{Goal, ResultRow};
use super::traffic::{LoadDuration, LoadTarget};
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
    let payments = measure_payments(bench, &folder)?;
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
    let times = [
        row("Evaluation of 200 rules", time("evaluation_p99")?, 300.0, "µs", "p99".to_owned()),
        row("Counters of a payment", time("payment_p50")?, 60.0, "µs", payment),
        row(
            "Start with stored counters",
            median(starts.iter().map(|time| time.as_secs_f64() * 1e3)),
            300.0,
            "ms",
            format!("{count} rows"),
        ),
    ];
    Ok(payments.into_iter().chain(times).collect())
}

/// Payments of a merchant. The order is the order in a round, so that there are payments for the dry run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum PaymentKind {
    WithoutRules,
    WithRules,
    BesideDryRun,
}

/// Measures payments of two merchants of one gateway, one of them with the rules. Most shoppers are new, so that each
/// payment adds counters. The payments without rules are also measured beside a dry run on the payments of the other
/// merchant. Returns the rows on both ratios. The store in `folder` is deleted unless that fails.
fn measure_payments(bench: &Bench, folder: &Path) -> Result<Vec<ResultRow>> {
    fs::create_dir_all(folder)?;
    let without = create_merchant(bench, folder, &[])?;
    let with = create_merchant(bench, folder, &["--risk", "on"])?;
    let rules = Command::new(&bench.programs.risk).arg("rules").output()?;
    let file = folder.join("rules.toml");
    fs::write(&file, rules.stdout)?;
    let run_risk_command = |arguments: &[&str]| -> Result<serde_json::Value> {
        let mut command = Command::new(&bench.programs.gateway);
        let output =
            command.arg("risk").args(arguments).arg("--json").arg("--data").arg(folder.join("data")).output()?;
        ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Ok(serde_json::from_slice(&output.stdout)?)
    };
    let added = run_risk_command(&["add", &with.entity_id, &file.to_string_lossy()])?;
    run_risk_command(&["activate", &with.entity_id, added["version"].as_str().context("no version")?])?;
    let gateway = serve_store(bench, folder, &[])?;
    let target = |merchant: &MerchantAccess| LoadTarget {
        server: &gateway,
        requests: merchant.post_requests("/v1/payments", &merchant.shopper_payment_bodies()),
    };
    let targets = BTreeMap::from([
        (PaymentKind::WithoutRules, target(&without)),
        (PaymentKind::WithRules, target(&with)),
        (PaymentKind::BesideDryRun, target(&without)),
    ]);
    let start_dry_run = || {
        let mut command = Command::new(&bench.programs.gateway);
        command.args(["risk", "dry-run", &with.entity_id]).arg(&file);
        command.args(["--from", "2000-01-01", "--to", "2099-12-31", "--data"]).arg(folder.join("data"));
        command.stdout(Stdio::null()).stderr(Stdio::null()).spawn()
    };
    let seconds = |quick, full| Duration::from_millis(if bench.quick { quick } else { full });
    let span = LoadDuration { warm_up: seconds(100, 300), measure: seconds(300, 1200) };
    let rounds = if bench.quick { 1 } else { 7 };
    let runs = run_rounds("payments", rounds, &targets, |kind, target| {
        let run_load = || target.run_load(&bench.programs.load, span, None);
        if kind == PaymentKind::BesideDryRun { run_beside_programs(start_dry_run, run_load) } else { run_load() }
    })?;
    drop(targets);
    gateway.stop_gracefully()?;
    fs::remove_dir_all(folder)?;
    let compare = |what, kind, goal| compare_throughput(&runs, what, kind, PaymentKind::WithoutRules, goal);
    Ok(vec![
        compare("Payments, with 200 rules : without", PaymentKind::WithRules, 0.8),
        compare("Payments, beside a dry run : alone", PaymentKind::BesideDryRun, 0.9),
    ])
}

/// Runs a measurement while programs run beside it, one after the other. The last one is killed at the end.
fn run_beside_programs<T>(
    start: impl Fn() -> std::io::Result<Child> + Sync,
    measure: impl FnOnce() -> Result<T>,
) -> Result<T> {
    let is_over = AtomicBool::new(false);
    let run_program = || -> Result<()> {
        let mut program = start()?;
        while !is_over.load(Ordering::Relaxed) {
            if let Some(status) = program.try_wait()? {
                ensure!(status.success(), "a program beside the measurement failed: {status}");
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        program.kill()?;
        program.wait()?;
        Ok(())
    };
    std::thread::scope(|scope| {
        let programs = scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                run_program()?;
            }
            Ok::<_, anyhow::Error>(())
        });
        let measured = measure();
        is_over.store(true, Ordering::Relaxed);
        programs.join().map_err(|_| anyhow::anyhow!("the thread of the programs panicked"))??;
        measured
    })
}
