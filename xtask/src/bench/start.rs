//! Starts of the gateway: with a million payments in the store, and after `kill -9` with a large write-ahead log.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use sha2::{Digest as _, Sha256};

use super::Bench;
use super::child::kill_after_line;
use super::load::serve_store;
use super::numbers::{median, to_megabytes};
use super::table::{Goal, ResultRow};
use crate::toolchain::run_step;

/// Sources that determine the format of a stored payment. If one changes, the filled store is made again.
const SHAPE: [&str; 6] = [
    "server/crates/store/src/schema/migrations.rs",
    "server/crates/store/src/document.rs",
    "server/crates/store/src/payment/rows.rs",
    "server/crates/domain/src/payment/account.rs",
    "server/crates/domain/src/payment/record.rs",
    "tests/src/bench/sample.rs",
];

/// Measures starts with many payments and after a crash. Returns a row for each.
pub fn bench_starts(bench: &Bench) -> Result<Vec<ResultRow>> {
    eprintln!("Starts:");
    Ok(vec![start_with_many_payments(bench)?, start_after_crash(bench)?])
}

/// Starts a gateway seven times on the filled store. Returns the row on the median time until it listens.
fn start_with_many_payments(bench: &Bench) -> Result<ResultRow> {
    let count = if bench.quick { "10000" } else { "1000000" };
    let folder = ensure_filled_store(bench, count)?;
    let times = run_step("starting seven times", || {
        let start = |_| {
            let server = serve_store(bench, &folder, &[])?;
            let took = server.took;
            server.stop_gracefully()?;
            Ok(took)
        };
        (0..7).map(start).collect::<Result<Vec<Duration>>>()
    })?;
    let size = fs::metadata(folder.join("data/tillgate.db"))?.len();
    Ok(ResultRow {
        what: format!("Start with {} payments", if bench.quick { "10 000" } else { "a million" }),
        reached: median_ms(&times),
        goal: Goal::AtMost(300.0),
        unit: "ms",
        figures: format!(
            "file of {:.0} MB; slowest of {} {:.0} ms",
            to_megabytes(size),
            times.len(),
            slowest_ms(&times)
        ),
    })
}

/// Returns the folder of a store with this number of payments: that of an earlier run, or a new one, which replaces
/// those of older formats.
pub(super) fn ensure_filled_store(bench: &Bench, count: &str) -> Result<PathBuf> {
    let mut hash = Sha256::new();
    for path in SHAPE {
        hash.update(fs::read(crate::workspace_root().join(path)).with_context(|| format!("reading {path}"))?);
    }
    let name: String = hash.finalize().iter().take(6).map(|byte| format!("{byte:02x}")).collect();
    let stores = bench.folder.join(format!("filled-{count}"));
    let folder = stores.join(name);
    let complete = folder.join("complete");
    if !complete.exists() {
        let _ = fs::remove_dir_all(&stores);
        fs::create_dir_all(&folder)?;
        run_step(&format!("filling a store with {count} payments (kept for the next run)"), || {
            let status =
                Command::new(&bench.programs.store).arg("fill").arg(folder.join("data")).arg(count).status()?;
            ensure!(status.success(), "the store was not filled");
            Ok(fs::write(&complete, "")?)
        })?;
    }
    Ok(folder)
}

/// Leaves a large write-ahead log behind, and starts a gateway on it three times, killing it each time. Returns the row
/// on the median time until it listens.
fn start_after_crash(bench: &Bench) -> Result<ResultRow> {
    // Twice the size at which the gateway itself restarts its log.
    let mebibytes = if bench.quick { "32" } else { "256" };
    let folder = bench.folder.join("crash");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder)?;
    let data = folder.join("data");
    run_step(&format!("writing a log of {mebibytes} MiB, then kill -9"), || {
        kill_after_line(Command::new(&bench.programs.store).arg("log").arg(&data).arg(mebibytes), "ready")
    })?;
    let times = run_step("starting three times, each killed as well", || {
        // A killed server leaves the log unchanged for the next start.
        (0..3).map(|_| Ok(serve_store(bench, &folder, &[])?.took)).collect::<Result<Vec<Duration>>>()
    })?;
    let log = fs::metadata(data.join("tillgate.db-wal"))?.len();
    fs::remove_dir_all(&folder)?;
    Ok(ResultRow {
        what: "Start after kill -9".to_owned(),
        reached: median_ms(&times),
        goal: Goal::AtMost(2000.0),
        unit: "ms",
        figures: format!("log of {:.0} MB; slowest of {} {:.0} ms", to_megabytes(log), times.len(), slowest_ms(&times)),
    })
}

/// Returns the median in milliseconds, NaN if there is none.
fn median_ms(times: &[Duration]) -> f64 {
    median(times.iter().map(|time| time.as_secs_f64() * 1e3))
}

/// Returns the longest time in milliseconds, NaN if there is none.
fn slowest_ms(times: &[Duration]) -> f64 {
    times.iter().max().map_or(f64::NAN, |time| time.as_secs_f64() * 1e3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sources_of_a_stored_payments_format_are_where_the_bench_reads_them() {
        for path in SHAPE {
            assert!(crate::workspace_root().join(path).is_file(), "{path}");
        }
    }
}
