//! Starts: with a million payments in the store, and after `kill -9` with a large write-ahead log.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use sha2::{Digest as _, Sha256};

use super::Bench;
use super::child::kill_at;
use super::load::serve;
use super::numbers::{median, megabytes};
use super::table::{Goal, Row};
use crate::toolchain::step;

/// What decides how a stored payment looks. The filled store is made anew when one of them changes.
const SHAPE: [&str; 5] = [
    "server/src/store/schema.rs",
    "server/src/store/rows.rs",
    "server/src/domain/payment/account.rs",
    "server/src/domain/payment/record.rs",
    "tests/src/bench/sample.rs",
];

pub fn run(bench: &Bench) -> Result<Vec<Row>> {
    eprintln!("Starts:");
    Ok(vec![with_many_payments(bench)?, after_a_crash(bench)?])
}

fn with_many_payments(bench: &Bench) -> Result<Row> {
    let count = if bench.quick { "10000" } else { "1000000" };
    let folder = filled(bench, count)?;
    let times = step("starting seven times", || {
        let start = |_| {
            let server = serve(bench, &folder, &[])?;
            let took = server.took;
            server.stop()?;
            Ok(took)
        };
        (0..7).map(start).collect::<Result<Vec<Duration>>>()
    })?;
    let size = fs::metadata(folder.join("data/tillgate.db"))?.len();
    Ok(Row {
        what: format!("Start with {} payments", if bench.quick { "10 000" } else { "a million" }),
        reached: middle(&times),
        goal: Goal::AtMost(300.0),
        unit: "ms",
        figures: format!("file of {:.0} MB; slowest of {} {:.0} ms", megabytes(size), times.len(), slowest(&times)),
    })
}

/// A store with so many payments: the one of an earlier run, or a new one in the place of older ones.
pub(super) fn filled(bench: &Bench, count: &str) -> Result<PathBuf> {
    let mut hash = Sha256::new();
    for path in SHAPE {
        hash.update(fs::read(crate::root().join(path)).with_context(|| format!("reading {path}"))?);
    }
    let name: String = hash.finalize().iter().take(6).map(|byte| format!("{byte:02x}")).collect();
    let stores = bench.folder.join(format!("filled-{count}"));
    let folder = stores.join(name);
    let complete = folder.join("complete");
    if !complete.exists() {
        let _ = fs::remove_dir_all(&stores);
        fs::create_dir_all(&folder)?;
        step(&format!("filling a store with {count} payments (kept for the next run)"), || {
            let status =
                Command::new(&bench.programs.store).arg("fill").arg(folder.join("data")).arg(count).status()?;
            ensure!(status.success(), "the store was not filled");
            Ok(fs::write(&complete, "")?)
        })?;
    }
    Ok(folder)
}

fn after_a_crash(bench: &Bench) -> Result<Row> {
    // Twice the length at which the gateway itself lets its log start over.
    let mebibytes = if bench.quick { "32" } else { "256" };
    let folder = bench.folder.join("crash");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder)?;
    let data = folder.join("data");
    step(&format!("writing a log of {mebibytes} MiB, then kill -9"), || {
        kill_at(Command::new(&bench.programs.store).arg("log").arg(&data).arg(mebibytes), "ready")
    })?;
    let times = step("starting three times, each killed as well", || {
        // A server that is killed leaves the log as it was for the next one.
        (0..3).map(|_| Ok(serve(bench, &folder, &[])?.took)).collect::<Result<Vec<Duration>>>()
    })?;
    let log = fs::metadata(data.join("tillgate.db-wal"))?.len();
    fs::remove_dir_all(&folder)?;
    Ok(Row {
        what: "Start after kill -9".to_owned(),
        reached: middle(&times),
        goal: Goal::AtMost(2000.0),
        unit: "ms",
        figures: format!("log of {:.0} MB; slowest of {} {:.0} ms", megabytes(log), times.len(), slowest(&times)),
    })
}

fn middle(times: &[Duration]) -> f64 {
    median(times.iter().map(|time| time.as_secs_f64() * 1e3))
}

fn slowest(times: &[Duration]) -> f64 {
    times.iter().max().map_or(f64::NAN, |time| time.as_secs_f64() * 1e3)
}
