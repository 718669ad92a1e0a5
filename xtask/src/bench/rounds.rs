//! Rounds: runs every target in turn, several times, and compares two of them.

use std::collections::BTreeMap;

use anyhow::Result;

use super::numbers::{format_thousands, median};
use super::table::{Goal, ResultRow};
use super::traffic::{LoadTarget, RunMetrics};
use crate::toolchain::run_step;

/// Runs of each kind of target, one for each round.
pub type Runs<K> = BTreeMap<K, Vec<RunMetrics>>;

/// Runs all targets in turn, in the order of their kinds, `rounds` times. `what` is the label of the progress lines.
///
/// # Errors
/// If a run fails.
pub fn run_rounds<K: Copy + Ord>(
    what: &str,
    rounds: usize,
    targets: &BTreeMap<K, LoadTarget<'_>>,
    run: impl Fn(K, &LoadTarget<'_>) -> Result<RunMetrics>,
) -> Result<Runs<K>> {
    let mut runs = Runs::new();
    for round in 1..=rounds {
        run_step(&format!("{what}, round {round} of {rounds}"), || {
            for (kind, target) in targets {
                runs.entry(*kind).or_insert_with(Vec::new).push(run(*kind, target)?);
            }
            Ok(())
        })?;
    }
    Ok(runs)
}

/// Returns the median of the rounds' ratios of a figure, and the medians of the figure for both targets.
fn compare_medians<K: Ord>(runs: &Runs<K>, ours: K, floor: K, figure: fn(&RunMetrics) -> f64) -> [f64; 3] {
    let (ours, floor) = (&runs[&ours], &runs[&floor]);
    [
        median(ours.iter().zip(floor).map(|(ours, floor)| figure(ours) / figure(floor))),
        median(ours.iter().map(figure)),
        median(floor.iter().map(figure)),
    ]
}

/// Returns the row on a target's responses per second in relation to those of its floor. The goal is at least `goal`.
pub fn compare_throughput<K: Copy + Ord>(runs: &Runs<K>, what: &str, ours: K, floor: K, goal: f64) -> ResultRow {
    let [reached, per_second, floor_per_second] = compare_medians(runs, ours, floor, |run| run.per_second);
    let [_, cpu, floor_cpu] = compare_medians(runs, ours, floor, |run| run.cpu);
    ResultRow {
        what: what.to_owned(),
        reached,
        goal: Goal::AtLeast(goal),
        unit: "",
        figures: format!(
            "{} : {} a second; processor time {cpu:.0} : {floor_cpu:.0} µs each",
            format_thousands(per_second),
            format_thousands(floor_per_second)
        ),
    }
}

/// Returns the row on the 99th percentile of a target's latency in relation to that of its floor. The goal is at most
/// 3.
pub fn compare_tail<K: Copy + Ord>(runs: &Runs<K>, what: &str, ours: K, floor: K) -> ResultRow {
    compare_percentile(runs, what, [ours, floor], |run| run.p99)
}

/// Same as [`compare_tail`], for the 95th percentile. It depends less than the 99th on what else the machine does.
pub fn compare_slow_responses<K: Copy + Ord>(runs: &Runs<K>, what: &str, ours: K, floor: K) -> ResultRow {
    compare_percentile(runs, what, [ours, floor], |run| run.p95)
}

/// Returns the row on a percentile of a target's latency in relation to that of its floor, with the ratio of the
/// medians among its figures.
fn compare_percentile<K: Copy + Ord>(
    runs: &Runs<K>,
    what: &str,
    [ours, floor]: [K; 2],
    percentile: fn(&RunMetrics) -> f64,
) -> ResultRow {
    let [reached, slow, floor_slow] = compare_medians(runs, ours, floor, percentile);
    let [p50_ratio, p50, floor_p50] = compare_medians(runs, ours, floor, |run| run.p50);
    ResultRow {
        what: what.to_owned(),
        reached,
        goal: Goal::AtMost(3.0),
        unit: "",
        figures: format!(
            "{:.1} : {:.1} ms; p50 {:.1} : {:.1} ms, ratio {p50_ratio:.2}",
            slow / 1e3,
            floor_slow / 1e3,
            p50 / 1e3,
            floor_p50 / 1e3
        ),
    }
}
