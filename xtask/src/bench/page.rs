//! The hosted form in a page: its bytes on the wire, its round trips, and the time until it can be used, against the
//! same DOM as static HTML.

use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use super::Bench;
use super::numbers::median;
use super::table::{Goal, ResultRow};
use crate::toolchain::run_step;
use crate::{form, test};

/// Delay of every byte on the slow connection.
const DELAY: Duration = Duration::from_millis(25);
/// Maximum size of the form in kB, depending on the standard library in it.
const WEIGHT: [(bool, f64); 2] = [(true, 95.0), (false, 112.0)];

/// Longest task on a slow processor, in milliseconds.
const TASK: f64 = 100.0;
/// Largest time until the form is usable, in relation to the static page: cold, and warm on loopback at full speed.
const COLD: f64 = 1.35;
const WARM: f64 = 1.30;
/// The same with a slow connection or on a slow processor.
const HANDICAPPED: f64 = 1.45;

/// Visits the form and the same DOM as static HTML in a browser. Returns rows on its size, round trips, longest task,
/// layout shift, and the time until it is usable. Installs Chromium if it is missing.
pub fn bench_form(bench: &Bench) -> Result<Vec<ResultRow>> {
    eprintln!("The form in a browser:");
    test::tools::ensure_chromium()?;
    let rounds = if bench.quick { 1 } else { 9 };
    let report = run_step(
        &format!("visiting it and its static page {rounds} times, near and far, fast and slow, cold and warm"),
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
    let conditions = report["ways"].as_array().context("no conditions")?;
    let mut rows = summary_rows(&report, conditions)?;
    for condition in conditions {
        let line =
            if condition["far"] == true { format!("{} ms each way", DELAY.as_millis()) } else { "loopback".to_owned() };
        let processor = if condition["slow"] == true { ", processor 4 times slower" } else { "" };
        let is_handicapped = condition["far"] == true || condition["slow"] == true;
        for (visit, goal) in [("cold", COLD), ("warm", WARM)] {
            let goal = if is_handicapped { HANDICAPPED } else { goal };
            rows.push(time_row(&condition[visit], format!("Form : static page, {visit}, {line}{processor}"), goal)?);
        }
    }
    Ok(rows)
}

/// Returns the rows on size, round trips, longest task and layout shift, over the visits under all conditions.
fn summary_rows(report: &Value, conditions: &[Value]) -> Result<Vec<ResultRow>> {
    let all = |name: &str| -> Result<Vec<f64>> {
        Ok(conditions.iter().map(|condition| parse_numbers(&condition[name])).collect::<Result<Vec<_>>>()?.concat())
    };
    let most = |name: &str| -> Result<f64> { Ok(all(name)?.into_iter().fold(0.0, f64::max)) };
    let longest_task = |of: &str| -> Result<f64> {
        let tasks = conditions.iter().map(|condition| parse_numbers(&condition["longest_task"][of]));
        Ok(median(tasks.collect::<Result<Vec<_>>>()?.concat()))
    };
    Ok(vec![
        weight_row(report)?,
        ResultRow {
            what: "Form, serial round trips".to_owned(),
            reached: all("round_trips")?.into_iter().fold(f64::INFINITY, f64::min),
            goal: Goal::AtMost(3.0),
            unit: "trips",
            figures: "until it is usable; the checks of the frames come after that".to_owned(),
        },
        ResultRow {
            what: "Form, longest task on a processor 4 times slower".to_owned(),
            reached: longest_task("form")?,
            goal: Goal::AtMost(TASK),
            unit: "ms",
            figures: format!(
                "of the page or a frame, median of all visits; 0 where none took 50 ms; the static page {:.0} ms",
                longest_task("page")?
            ),
        },
        ResultRow {
            what: "Form, layout shift".to_owned(),
            reached: most("shift")?,
            goal: Goal::AtMost(0.0),
            unit: "",
            figures: "the most of all visits, after the first paint".to_owned(),
        },
    ])
}

/// Prints the size of each loaded file, and returns the row on the sum of their bodies. The goal depends on the
/// standard library of this build.
fn weight_row(report: &Value) -> Result<ResultRow> {
    let files = report["files"].as_array().context("no files")?;
    let sum = |name: &str| files.iter().filter_map(|file| file[name].as_f64()).sum::<f64>() / 1e3;
    for file in files {
        eprintln!("  {:>7} B  {:<5} {}", file["bytes"], text_or_empty(&file["encoding"]), text_or_empty(&file["path"]));
    }
    let small = form::uses_small_library()?;
    let goal = WEIGHT.iter().find(|(of_small, _)| *of_small == small).map_or(0.0, |(_, goal)| *goal);
    Ok(ResultRow {
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

/// Returns the row on the time until the form is usable, in relation to the static page's. It is the median of the
/// rounds' ratios, because a disturbance in a round affects both of its visits.
fn time_row(condition: &Value, what: String, goal: f64) -> Result<ResultRow> {
    let times = |name: &str| parse_numbers(&condition[name]);
    let (form, page) = (times("form")?, times("page")?);
    let ratio = |times: &[f64]| median(times.iter().zip(&page).map(|(time, page)| time / page));
    let figures = format!(
        "{:.0} : {:.0} ms until usable; until its frames take digits: {:.2}; a script that only puts the static page's form in: {:.2}",
        median(form.iter().copied()),
        median(page.iter().copied()),
        ratio(&times("typable")?),
        ratio(&times("scripted")?)
    );
    let reached = ratio(&form);
    Ok(ResultRow { what, reached, goal: Goal::AtMost(goal), unit: "", figures })
}

/// Returns the numbers in a JSON array, without its other values. Fails if it is no array.
fn parse_numbers(values: &Value) -> Result<Vec<f64>> {
    Ok(values.as_array().context("no numbers")?.iter().filter_map(Value::as_f64).collect())
}

/// Returns a JSON string, or an empty one for another value.
fn text_or_empty(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
