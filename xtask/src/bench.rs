//! `cargo xtask bench`: measures the gateway against floors on the same machine in the same run.
//!
//! Times differ between machines, and on one machine between hours; ratios are stable. So each round of the gateway
//! runs beside a round of its floor, several times in turn, and the table shows the median of the ratios.

mod child;
mod hostile_load;
mod ledger;
mod lines;
mod load;
mod neighbour_loads;
mod neighbours;
mod numbers;
mod page;
mod postgres;
mod programs;
mod requests;
mod risk;
mod rounds;
mod row_sizes;
mod schedules;
mod start;
mod stored_payments;
mod table;
mod tenants;
mod traffic;

use std::fs;
use std::path::PathBuf;

use anyhow::{Context as _, Result, bail};

use programs::Programs;
use table::ResultRow;

/// Text of `cargo xtask bench --help`.
pub const HELP: &str = "\
Builds the gateway for distribution and prints what it reaches against its goals, as ratios to floors that
are measured in the same run. Takes about nine minutes after the build; the first run also fills a
store with a million payments, which is kept in target/bench.

  --only PART  only this part, or several with commas. The parts:
                 load   capacity against the floors, latency at half of it, memory afterwards
                 after  stored cards, refunds, queries, and payments into a full store
                 lines  payments over one line of ISO 8583, and the failover of a host that is killed
                 tenants  payments of one merchant while another reads all it can, and beside hostile load of
                        another on each resource that merchants share
                 start  start with a million payments, and after kill -9 with a large write-ahead log
                 risk   evaluation of 200 rules, 20 velocity counters of a payment, start with a million of them,
                        payments with the rules, and payments beside a dry run
                 ledger  payments with the ledger, and the settlement of a million payments with its files and report
                 schedules  runs of 100,000 schedules that are due at once, and a payment beside them
                 postgres  payments in a cluster of PostgreSQL against equal rows and SQLite, two nodes against
                        one, a merchant beside a large one, and the figures of the model in docs/scaling.md;
                        needs PostgreSQL
                 form   weight, round trips, long tasks, layout shift and time of the hosted form in Chromium
  --quick      a few seconds: shows that everything runs, not what it reaches

Example: cargo xtask bench --only load";

/// Settings of a run.
#[derive(Debug, Clone)]
struct Bench {
    /// Measures for a few seconds only, to show that everything runs.
    quick: bool,
    programs: Programs,
    /// Folder of stores and logs, on a real disk and not in memory.
    folder: PathBuf,
}

/// A part of the bench.
struct BenchPart {
    name: &'static str,
    run: fn(&Bench) -> Result<Vec<ResultRow>>,
}

const PARTS: &[BenchPart] = &[
    BenchPart { name: "load", run: load::bench_load },
    BenchPart { name: "after", run: stored_payments::bench_stored_payments },
    BenchPart { name: "lines", run: lines::bench_lines },
    BenchPart { name: "tenants", run: tenants::bench_tenants },
    BenchPart { name: "start", run: start::bench_starts },
    BenchPart { name: "risk", run: risk::bench_risk_rules },
    BenchPart { name: "ledger", run: ledger::bench_ledger },
    BenchPart { name: "schedules", run: schedules::bench_schedules },
    BenchPart { name: "postgres", run: postgres::bench_postgres },
    BenchPart { name: "form", run: page::bench_form },
];

/// Builds all programs, measures the selected parts, and prints the table. A missed goal is no error.
pub fn run_bench(arguments: &[String]) -> Result<()> {
    let (quick, parts) = parse_options(arguments)?;
    let programs = Programs::build_all()?;
    let folder = crate::workspace_root().join("target/bench");
    fs::create_dir_all(&folder).with_context(|| format!("making {}", folder.display()))?;
    let bench = Bench { quick, programs, folder };
    let mut rows = Vec::new();
    for part in parts {
        rows.extend((part.run)(&bench)?);
    }
    table::print_table(&rows);
    Ok(())
}

/// Parses `--quick` and `--only NAME,…`. Returns true for the former, and all parts if none is named. Fails for other
/// options and unknown parts.
fn parse_options(arguments: &[String]) -> Result<(bool, Vec<&'static BenchPart>)> {
    let (mut quick, mut only) = (false, Vec::new());
    let mut arguments = arguments.iter().map(String::as_str);
    while let Some(argument) = arguments.next() {
        match argument {
            "--quick" => quick = true,
            "--only" => {
                for name in arguments.next().context("--only needs the name of a part")?.split(',') {
                    let part = PARTS.iter().find(|part| part.name == name);
                    only.push(part.with_context(|| format!("there is no part named {name:?}"))?);
                }
            }
            other => bail!("there is no option {other:?}"),
        }
    }
    Ok((quick, if only.is_empty() { PARTS.iter().collect() } else { only }))
}
