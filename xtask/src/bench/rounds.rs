//! Rounds: every target in turn, several times, and ratios between two of them.

use std::collections::BTreeMap;

use anyhow::Result;

use super::numbers::{median, whole};
use super::table::{Goal, Row};
use super::traffic::{Run, Target};
use crate::toolchain::step;

/// The runs of each kind of target, one a round.
pub type Runs<K> = BTreeMap<K, Vec<Run>>;

/// Goes through all targets in turn, several times.
///
/// # Errors
/// When a run fails.
pub fn rounds_of<K: Copy + Ord>(
    what: &str,
    rounds: usize,
    targets: &BTreeMap<K, Target<'_>>,
    run: impl Fn(K, &Target<'_>) -> Result<Run>,
) -> Result<Runs<K>> {
    let mut runs = Runs::new();
    for round in 1..=rounds {
        step(&format!("{what}, round {round} of {rounds}"), || {
            for (kind, target) in targets {
                runs.entry(*kind).or_insert_with(Vec::new).push(run(*kind, target)?);
            }
            Ok(())
        })?;
    }
    Ok(runs)
}

/// The median of a figure, and of its ratio in each round, to the floor's.
fn compare<K: Ord>(runs: &Runs<K>, ours: K, floor: K, figure: fn(&Run) -> f64) -> [f64; 3] {
    let (ours, floor) = (&runs[&ours], &runs[&floor]);
    [
        median(ours.iter().zip(floor).map(|(ours, floor)| figure(ours) / figure(floor))),
        median(ours.iter().map(figure)),
        median(floor.iter().map(figure)),
    ]
}

/// Answers a second, ours to the floor's.
pub fn throughput<K: Copy + Ord>(runs: &Runs<K>, what: &str, ours: K, floor: K, goal: f64) -> Row {
    let [reached, per_second, floor_per_second] = compare(runs, ours, floor, |run| run.per_second);
    let [_, cpu, floor_cpu] = compare(runs, ours, floor, |run| run.cpu);
    Row {
        what: what.to_owned(),
        reached,
        goal: Goal::AtLeast(goal),
        unit: "",
        figures: format!(
            "{} : {} a second; processor time {cpu:.0} : {floor_cpu:.0} µs each",
            whole(per_second),
            whole(floor_per_second)
        ),
    }
}

/// The time that 99 of 100 answers stay within, ours to the floor's.
pub fn tail<K: Copy + Ord>(runs: &Runs<K>, what: &str, ours: K, floor: K) -> Row {
    let [reached, p99, floor_p99] = compare(runs, ours, floor, |run| run.p99);
    let [_, p50, floor_p50] = compare(runs, ours, floor, |run| run.p50);
    Row {
        what: what.to_owned(),
        reached,
        goal: Goal::AtMost(3.0),
        unit: "",
        figures: format!(
            "{:.1} : {:.1} ms; p50 {:.1} : {:.1} ms",
            p99 / 1e3,
            floor_p99 / 1e3,
            p50 / 1e3,
            floor_p50 / 1e3
        ),
    }
}
