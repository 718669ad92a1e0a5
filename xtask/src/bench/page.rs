//! The hosted form in a page: what it weighs on the wire, how many round trips it takes, and how long until it can be
//! used, against the same DOM as static HTML.

use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use super::Bench;
use super::numbers::median;
use super::table::{Goal, Row};
use crate::toolchain::step;
use crate::{form, test};

/// How much later each byte arrives on the long way.
const DELAY: Duration = Duration::from_millis(25);
/// Bytes that the form may weigh, in kB, by the standard library inside it.
const WEIGHT: [(bool, f64); 2] = [(true, 80.0), (false, 95.0)];

pub fn run(bench: &Bench) -> Result<Vec<Row>> {
    eprintln!("The form in a browser:");
    test::tools::chromium()?;
    let rounds = if bench.quick { 1 } else { 9 };
    let report = step(
        &format!("visiting it and its static twin {rounds} times, near and far, fast and slow, cold and warm"),
        || {
            let output = Command::new(&bench.programs.page)
                .args([rounds.to_string(), DELAY.as_millis().to_string()])
                .env("TILLGATE_BIN", &bench.programs.gateway)
                .output()
                .context("starting the browser's part")?;
            ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            Ok(serde_json::from_slice::<Value>(&output.stdout)?)
        },
    )?;
    let ways = report["ways"].as_array().context("no ways")?;
    let all = |name: &str| -> Result<Vec<f64>> {
        Ok(ways.iter().map(|way| numbers(&way[name])).collect::<Result<Vec<_>>>()?.concat())
    };
    let most = |name: &str| -> Result<f64> { Ok(all(name)?.into_iter().fold(0.0, f64::max)) };
    let longest_task = |of: &str| -> Result<f64> {
        let tasks = ways.iter().map(|way| numbers(&way["longest_task"][of]));
        Ok(median(tasks.collect::<Result<Vec<_>>>()?.concat()))
    };
    let mut rows = vec![
        weight(&report)?,
        Row {
            what: "Form, serial round trips".to_owned(),
            reached: all("round_trips")?.into_iter().fold(f64::INFINITY, f64::min),
            goal: Goal::AtMost(3.0),
            unit: "trips",
            figures: "until it is usable; what completes the frames comes after that".to_owned(),
        },
        Row {
            what: "Form, longest task on a processor 4 times slower".to_owned(),
            reached: longest_task("form")?,
            goal: Goal::AtMost(50.0),
            unit: "ms",
            figures: format!(
                "of the page or a frame, median of all visits; 0 where none took 50 ms; the static page {:.0} ms",
                longest_task("page")?
            ),
        },
        Row {
            what: "Form, layout shift".to_owned(),
            reached: most("shift")?,
            goal: Goal::AtMost(0.0),
            unit: "",
            figures: "the most of all visits, after the first paint".to_owned(),
        },
    ];
    for way in ways {
        let line =
            if way["far"] == true { format!("{} ms each way", DELAY.as_millis()) } else { "loopback".to_owned() };
        let processor = if way["slow"] == true { ", processor 4 times slower" } else { "" };
        for visit in ["cold", "warm"] {
            rows.push(time(&way[visit], format!("Form : static page, {visit}, {line}{processor}"))?);
        }
    }
    Ok(rows)
}

fn weight(report: &Value) -> Result<Row> {
    let files = report["files"].as_array().context("no files")?;
    let sum = |name: &str| files.iter().filter_map(|file| file[name].as_f64()).sum::<f64>() / 1e3;
    for file in files {
        eprintln!("  {:>7} B  {:<5} {}", file["bytes"], text(&file["encoding"]), text(&file["path"]));
    }
    let small = form::is_small()?;
    let goal = WEIGHT.iter().find(|(of_small, _)| *of_small == small).map_or(0.0, |(_, goal)| *goal);
    Ok(Row {
        what: "Form, on the wire".to_owned(),
        reached: sum("bytes"),
        goal: Goal::AtMost(goal),
        unit: "kB",
        figures: format!(
            "bodies of {} files; their heads are {:.1} kB; {} standard library",
            files.len(),
            sum("head"),
            if small { "small" } else { "stock" }
        ),
    })
}

/// The median of the rounds' ratios: what disturbed one round has disturbed both of its visits.
fn time(way: &Value, what: String) -> Result<Row> {
    let (ours, page, scripted) = (numbers(&way["form"])?, numbers(&way["page"])?, numbers(&way["scripted"])?);
    let reached = median(ours.iter().zip(&page).map(|(ours, page)| ours / page));
    let inherent = median(scripted.iter().zip(&page).map(|(scripted, page)| scripted / page));
    let figures = format!(
        "{:.0} : {:.0} ms until usable, {:.0} until its page part is there; a script that only puts the static page's form in: {inherent:.2}",
        median(ours),
        median(page),
        median(numbers(&way["complete"])?)
    );
    Ok(Row { what, reached, goal: Goal::AtMost(1.2), unit: "", figures })
}

fn numbers(values: &Value) -> Result<Vec<f64>> {
    Ok(values.as_array().context("no numbers")?.iter().filter_map(Value::as_f64).collect())
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
