//! `cargo xtask bench`: the gateway against floors that the same machine reaches in the same run.
//!
//! Times are not stable between machines, nor on one machine between hours; ratios are. So every round of the gateway
//! stands beside a round of its floor, several times in turn, and the table shows the median of the ratios.

mod after;
mod child;
mod load;
mod numbers;
mod page;
mod programs;
mod requests;
mod rounds;
mod start;
mod table;
mod tenants;
mod traffic;

use std::fs;
use std::path::PathBuf;

use anyhow::{Context as _, Result, bail};

use programs::Programs;
use table::Row;

/// Text of `cargo xtask bench --help`.
pub const HELP: &str = "\
Builds the gateway for release and prints what it reaches against its goals, as ratios to floors that
are measured in the same run. Takes about five minutes after the build; the first run also fills a
store with a million payments, which is kept in target/bench.

  --only PART  only this part; may be repeated. The parts:
                 load   capacity against the floors, latency at half of it, memory afterwards
                 after  stored cards, refunds, queries, and payments into a full store
                 tenants  payments of one merchant while another reads all it can
                 start  start with a million payments, and after kill -9 with a large write-ahead log
                 form   weight, round trips, long tasks, layout shift and time of the hosted form in Chromium
  --quick      a few seconds: shows that everything runs, not what it reaches

Example: cargo xtask bench --only load";

/// What to measure, and how long.
#[derive(Debug, Clone)]
struct Bench {
    quick: bool,
    programs: Programs,
    /// Where stores and logs go: a real disk, not a folder in memory.
    folder: PathBuf,
}

/// A part of the bench.
struct Part {
    name: &'static str,
    run: fn(&Bench) -> Result<Vec<Row>>,
}

const PARTS: &[Part] = &[
    Part { name: "load", run: load::run },
    Part { name: "after", run: after::run },
    Part { name: "tenants", run: tenants::run },
    Part { name: "start", run: start::run },
    Part { name: "form", run: page::run },
];

/// Measures and prints.
pub fn run(arguments: &[String]) -> Result<()> {
    let (quick, parts) = options(arguments)?;
    let programs = Programs::build()?;
    let folder = crate::root().join("target/bench");
    fs::create_dir_all(&folder).with_context(|| format!("making {}", folder.display()))?;
    let bench = Bench { quick, programs, folder };
    let mut rows = Vec::new();
    for part in parts {
        rows.extend((part.run)(&bench)?);
    }
    table::print(&rows);
    Ok(())
}

fn options(arguments: &[String]) -> Result<(bool, Vec<&'static Part>)> {
    let (mut quick, mut only) = (false, Vec::new());
    let mut arguments = arguments.iter().map(String::as_str);
    while let Some(argument) = arguments.next() {
        match argument {
            "--quick" => quick = true,
            "--only" => {
                let name = arguments.next().context("--only needs the name of a part")?;
                let part = PARTS.iter().find(|part| part.name == name);
                only.push(part.with_context(|| format!("there is no part named {name:?}"))?);
            }
            other => bail!("there is no option {other:?}"),
        }
    }
    Ok((quick, if only.is_empty() { PARTS.iter().collect() } else { only }))
}
