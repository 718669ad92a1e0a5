//! The ledger: its share of a payment; and the settlement of many payments with their files, and their report, against
//! bare scans that format as many bytes. The floor of a settlement also inserts its lines.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use super::Bench;
use super::load::{serve_store, start_gateway};
use super::numbers::{format_thousands, median, to_megabytes};
use super::stored_payments::copy_filled_store;
use super::table::{Goal, ResultRow};
use super::traffic::{LoadDuration, LoadTarget};
use crate::toolchain::run_step;

/// Measures the ledger and settlements. The stores and logs are deleted unless the measurement fails.
pub fn bench_ledger(bench: &Bench) -> Result<Vec<ResultRow>> {
    eprintln!("The ledger:");
    let folder = bench.folder.join("ledger");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder)?;
    let mut rows = vec![measure_payments(bench, &folder.join("payments"))?];
    rows.extend(measure_settlement(bench, &folder.join("settlement"))?);
    fs::remove_dir_all(&folder)?;
    Ok(rows)
}

/// Measures payments under load, and the time that the ledger adds to each on the writer's thread. Payments without the
/// ledger would be as many as fit into the time without that part.
fn measure_payments(bench: &Bench, folder: &Path) -> Result<ResultRow> {
    fs::create_dir_all(folder)?;
    let cost = run_program(bench, &["cost", &folder.join("cost").to_string_lossy()])?;
    let cost = cost["microseconds"].as_f64().context("no microseconds")?;
    let (merchant, server) = start_gateway(bench, folder, &[])?;
    let requests = merchant.post_requests("/v1/payments", &merchant.payment_bodies());
    let target = LoadTarget { server: &server, requests };
    let seconds = |quick, full| Duration::from_millis(if bench.quick { quick } else { full });
    let span = LoadDuration { warm_up: seconds(100, 300), measure: seconds(300, 1200) };
    let rounds = if bench.quick { 1 } else { 7 };
    let runs = run_step("payments", || {
        (0..rounds).map(|_| target.run_load(&bench.programs.load, span, None)).collect::<Result<Vec<_>>>()
    })?;
    drop(target);
    server.stop_gracefully()?;
    let per_second = median(runs.iter().map(|run| run.per_second));
    Ok(ResultRow {
        what: "Payments with the ledger : without".to_owned(),
        reached: 1.0 - cost * per_second / 1e6,
        goal: Goal::AtLeast(0.85),
        unit: "",
        figures: format!("{cost:.1} µs of each; {} a second with it", format_thousands(per_second)),
    })
}

/// Settles a copy of the filled store, downloads its files and the report of its payments, and measures the floors.
fn measure_settlement(bench: &Bench, folder: &Path) -> Result<Vec<ResultRow>> {
    fs::create_dir_all(folder)?;
    let count = if bench.quick { "10000" } else { "1000000" };
    let merchant = copy_filled_store(bench, count, folder)?;
    let data = folder.join("data");
    let data = data.to_string_lossy();
    let server = serve_store(bench, folder, &[])?;
    let settled = run_step(&format!("settling {count} payments, and downloading the files"), || {
        run_program(bench, &["settle", &data, &server.address, &merchant.entity_id, &merchant.token])
    })?;
    let settled_memory = server.resident_memory()?.1;
    let reported = run_step("downloading their report", || {
        run_program(bench, &["report", &server.address, &merchant.entity_id, &merchant.token])
    })?;
    let memory = server.resident_memory()?.1;
    server.stop_gracefully()?;
    let (settling, downloading) = (read_number(&settled, "settled")?, read_number(&settled, "downloaded")?);
    let inserted = run_step("inserting the lines of the settlement", || {
        run_program(bench, &["insert", &data, &folder.join("floor").to_string_lossy()])
    })?;
    let scan = |bytes: &Value| -> Result<f64> {
        let scanned = run_step("scanning the payments", || run_program(bench, &["scan", &data, &bytes.to_string()]))?;
        rows_per_second(&scanned, "payments")
    };
    let (file_scan, report_scan) = (scan(&settled["bytes"])?, scan(&reported["bytes"])?);
    let floor = 1.0 / (1.0 / rows_per_second(&inserted, "records")? + 1.0 / file_scan);
    let lines = read_number(&settled, "records")? / (settling + downloading);
    let mut settlement = compare_rates("Settlement and files : bare inserts and a scan", lines, floor, 0.2);
    settlement.figures += &format!(
        "; settled in {settling:.1} s, downloaded in {downloading:.1} s; a scan alone {}",
        format_thousands(file_scan)
    );
    let report = rows_per_second(&reported, "payments")?;
    Ok(vec![
        settlement,
        show_memory("Memory after a settlement and its files", settled_memory),
        // A scan copies parts of documents. A report decodes 13 cells of each, and sends them over HTTP.
        compare_rates("Report of transactions : bare scan", report, report_scan, 0.1),
        show_memory("Memory after a report", memory),
    ])
}

/// Returns the row that compares two numbers of rows a second.
fn compare_rates(what: &str, reached: f64, floor: f64, goal: f64) -> ResultRow {
    ResultRow {
        what: what.to_owned(),
        reached: reached / floor,
        goal: Goal::AtLeast(goal),
        unit: "",
        figures: format!("{} : {} rows a second", format_thousands(reached), format_thousands(floor)),
    }
}

/// Returns the row of the memory after some work.
fn show_memory(what: &str, bytes: u64) -> ResultRow {
    ResultRow {
        what: what.to_owned(),
        reached: to_megabytes(bytes),
        goal: Goal::AtMost(200.0),
        unit: "MB",
        figures: "anonymous, resident".to_owned(),
    }
}

/// Reads the number of rows of a result by its name, and divides it by the result's seconds.
fn rows_per_second(value: &Value, name: &str) -> Result<f64> {
    Ok(read_number(value, name)? / read_number(value, "seconds")?)
}

/// Reads a number of a result by its name.
fn read_number(value: &Value, name: &str) -> Result<f64> {
    value[name].as_f64().with_context(|| format!("no {name}"))
}

/// Runs the program `ledger`, and parses the JSON that it prints.
fn run_program(bench: &Bench, arguments: &[&str]) -> Result<Value> {
    let output = Command::new(&bench.programs.ledger).args(arguments).output()?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Ok(serde_json::from_slice(&output.stdout)?)
}
