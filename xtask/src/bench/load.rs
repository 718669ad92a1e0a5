//! Capacity under load against the floors, latency at half of it, and memory afterwards.
//!
//! The floors are: one row (the request's body, durable), equal rows (as many rows and bytes as a payment writes,
//! counted in the gateway's own store), an echo (as many bytes as the status response), and equal rows in two commits
//! with an authorization at the acquirer's host between them.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use super::Bench;
use super::child::ServerProcess;
use super::numbers::{median, to_megabytes};
use super::requests::{MerchantAccess, submit_requests};
use super::rounds::{Runs, compare_tail, compare_throughput, run_rounds};
use super::row_sizes::{TableSize, TableSizes, find_row_sizes};
use super::table::{Goal, ResultRow};
use super::traffic::{LoadDuration, LoadTarget};

/// Number of paid checkouts whose status is read.
const PAID: usize = 256;
/// Number of payments whose rows are counted.
pub(super) const COUNTED: i64 = 640;

/// A target. The order is the order in a round.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum TargetKind {
    RowOfCheckout,
    Checkouts,
    RowOfPayment,
    Payments,
    EqualRows,
    ExternalPayments,
    HostBetweenCommits,
    Echo,
    Status,
}

/// Measures a gateway and its floors: throughput, latency at half of it, and then the gateway's memory. Returns rows of
/// ratios to the floors. The stores and logs are deleted unless the measurement fails.
pub fn bench_load(bench: &Bench) -> Result<Vec<ResultRow>> {
    eprintln!("Under load:");
    let folder = bench.folder.join("load");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder)?;
    let rows = measure_load(bench, &folder)?;
    fs::remove_dir_all(&folder)?;
    Ok(rows)
}

/// Starts the host, the gateway and its floors, measures capacity, then latency at half of it, then memory, and stops
/// the gateway. The servers write into `folder`.
fn measure_load(bench: &Bench, folder: &Path) -> Result<Vec<ResultRow>> {
    let programs = &bench.programs;
    let host = start_acquirer_host(bench, folder)?;
    let key = host_key_path(folder);
    let url = format!("http://{}", host.address);
    let acquirer = ["--acquirer".as_ref(), url.as_ref(), "--acquirer-key-file".as_ref(), key.as_os_str()];
    let (merchant, gateway) = start_gateway(bench, folder, &acquirer)?;
    let checkouts = pay_checkouts(bench, &merchant, &gateway)?;
    let row_sizes = measure_payment_rows(bench, folder, &merchant, &gateway)?;
    let (orders, payments) = (merchant.checkout_bodies(), merchant.payment_bodies());
    let statuses = merchant.status_requests(|id| format!("/v1/checkouts/{id}/payment"), &checkouts);
    let status = LoadTarget { server: &gateway, requests: statuses };
    let status_bytes = status.send_once(&programs.load)?.bytes;
    let one_row = start_floor(bench, folder, "one-row", &[orders[0].len()], status_bytes, &[])?;
    let at_host = ["--host".as_ref(), host.address.as_ref(), "--host-key".as_ref(), key.as_os_str()];
    let equal_rows = start_floor(bench, folder, "equal-rows", &row_sizes, status_bytes, &at_host)?;
    let external = merchant.external_payment_bodies();
    let mut targets: BTreeMap<TargetKind, LoadTarget<'_>> = [
        (TargetKind::RowOfCheckout, &one_row, merchant.post_requests("/rows", &orders)),
        (TargetKind::Checkouts, &gateway, merchant.post_requests("/v1/checkouts", &orders)),
        (TargetKind::RowOfPayment, &one_row, merchant.post_requests("/rows", &payments)),
        (TargetKind::Payments, &gateway, merchant.post_requests("/v1/payments", &payments)),
        (TargetKind::EqualRows, &equal_rows, merchant.post_requests("/rows", &payments)),
        (TargetKind::ExternalPayments, &gateway, merchant.post_requests("/v1/payments", &external)),
        (TargetKind::HostBetweenCommits, &equal_rows, merchant.post_requests("/authorized-rows", &external)),
        (TargetKind::Echo, &one_row, merchant.status_requests(|id| format!("/echo/{id}"), &checkouts)),
        (TargetKind::Status, &gateway, status.requests),
    ]
    .into_iter()
    .map(|(kind, server, requests)| (kind, LoadTarget { server, requests }))
    .collect();

    let seconds = |quick, full| Duration::from_millis(if bench.quick { quick } else { full });
    let closed = LoadDuration { warm_up: seconds(100, 300), measure: seconds(300, 1200) };
    let rounds = if bench.quick { 1 } else { 7 };
    let capacity = run_rounds("capacity", rounds, &targets, |_, target| target.run_load(&programs.load, closed, None))?;

    // Latency is compared with the stricter floor.
    for kind in [TargetKind::EqualRows, TargetKind::ExternalPayments, TargetKind::HostBetweenCommits] {
        targets.remove(&kind);
    }
    let open = LoadDuration { warm_up: seconds(100, 300), measure: seconds(300, 1700) };
    let rounds = if bench.quick { 1 } else { 5 };
    let latency = run_rounds("latency at half of it", rounds, &targets, |kind, target| {
        let half = median(capacity[&kind].iter().map(|run| run.per_second)) / 2.0;
        target.run_load(&programs.load, open, Some(half))
    })?;
    let (resident, anonymous) = gateway.resident_memory()?;
    gateway.stop_gracefully()?;
    let memory = memory_row(resident, anonymous);
    Ok([throughput_rows(&capacity), latency_rows(&latency), vec![memory]].concat())
}

/// Compares the throughput of the gateway with that of its floors.
fn throughput_rows(capacity: &Runs<TargetKind>) -> Vec<ResultRow> {
    vec![
        compare_throughput(
            capacity,
            "POST /v1/checkouts : one-row floor",
            TargetKind::Checkouts,
            TargetKind::RowOfCheckout,
            0.5,
        ),
        compare_throughput(
            capacity,
            "POST /v1/payments : one-row floor",
            TargetKind::Payments,
            TargetKind::RowOfPayment,
            0.35,
        ),
        compare_throughput(
            capacity,
            "POST /v1/payments : equal-rows floor",
            TargetKind::Payments,
            TargetKind::EqualRows,
            0.5,
        ),
        compare_throughput(
            capacity,
            "POST /v1/payments, external : two commits and the host",
            TargetKind::ExternalPayments,
            TargetKind::HostBetweenCommits,
            0.5,
        ),
        compare_throughput(capacity, "GET status : echo", TargetKind::Status, TargetKind::Echo, 0.6),
    ]
}

/// Compares the slowest responses at half of the capacity with those of the floors.
fn latency_rows(latency: &Runs<TargetKind>) -> Vec<ResultRow> {
    vec![
        compare_tail(
            latency,
            "p99 of POST /v1/checkouts : one-row floor",
            TargetKind::Checkouts,
            TargetKind::RowOfCheckout,
        ),
        compare_tail(
            latency,
            "p99 of POST /v1/payments : one-row floor",
            TargetKind::Payments,
            TargetKind::RowOfPayment,
        ),
        compare_tail(latency, "p99 of GET status : echo", TargetKind::Status, TargetKind::Echo),
    ]
}

/// Returns the row on the gateway's memory, from its resident and its anonymous bytes.
fn memory_row(resident: u64, anonymous: u64) -> ResultRow {
    ResultRow {
        what: "Memory after the load".to_owned(),
        reached: to_megabytes(resident),
        goal: Goal::AtMost(100.0),
        unit: "MB",
        figures: format!("{:.0} MB of it its own, the rest files", to_megabytes(anonymous)),
    }
}

/// Creates a sandbox entity in a new store, and starts a gateway on it with further arguments, as operators run it:
/// with the access log, in a file.
pub(super) fn start_gateway(bench: &Bench, folder: &Path, more: &[&OsStr]) -> Result<(MerchantAccess, ServerProcess)> {
    let merchant = create_merchant(bench, folder, &[])?;
    Ok((merchant, serve_store(bench, folder, more)?))
}

/// Creates a sandbox entity with these options in the store in `data` in this folder.
pub(super) fn create_merchant(bench: &Bench, folder: &Path, options: &[&str]) -> Result<MerchantAccess> {
    let output = Command::new(&bench.programs.gateway)
        .args(["entity", "create", "--name", "Kiln & Tide", "--json"])
        .args(options)
        .arg("--data")
        .arg(folder.join("data"))
        .output()
        .context("starting the gateway")?;
    ensure!(output.status.success(), "no entity: {}", String::from_utf8_lossy(&output.stderr));
    let entity: Value = serde_json::from_slice(&output.stdout)?;
    let text = |name: &str| entity[name].as_str().map(str::to_owned).with_context(|| format!("no {name}"));
    Ok(MerchantAccess { entity_id: text("entityId")?, token: text("token")? })
}

/// Starts a gateway on a free port, with further arguments, on the store in `data` in this folder. Its log goes there,
/// too.
pub(super) fn serve_store(bench: &Bench, folder: &Path, more: &[&OsStr]) -> Result<ServerProcess> {
    let mut command = Command::new(&bench.programs.gateway);
    command.args(["serve", "--listen", "127.0.0.1:0", "--data"]).arg(folder.join("data")).args(more);
    ServerProcess::start_and_wait(&mut command, &folder.join("gateway.log"))
}

/// Starts an acquirer's host as a separate process on a free port, with ledger, key and log in `folder`.
pub(super) fn start_acquirer_host(bench: &Bench, folder: &Path) -> Result<ServerProcess> {
    let mut command = Command::new(&bench.programs.gateway);
    command.args(["acquirer-host", "--listen", "127.0.0.1:0", "--data"]).arg(folder.join("host"));
    command.arg("--key-file").arg(host_key_path(folder));
    ServerProcess::start_and_wait(&mut command, &folder.join("host.log"))
}

/// Returns the key file that the host shares with the gateway and the floor.
pub(super) fn host_key_path(folder: &Path) -> PathBuf {
    folder.join("host.key")
}

/// Starts a floor that writes rows of these sizes for each request, and answers echoes with about `echo_bytes` bytes.
/// Its store and log are in `folder` under this name.
pub(super) fn start_floor(
    bench: &Bench,
    folder: &Path,
    name: &str,
    rows: &[usize],
    echo_bytes: usize,
    more: &[&OsStr],
) -> Result<ServerProcess> {
    let mut command = Command::new(&bench.programs.floor);
    command.arg("--data").arg(folder.join(name)).args(["--answer", &echo_bytes.to_string()]).args(more);
    for bytes in rows {
        command.args(["--row", &bytes.to_string()]);
    }
    ServerProcess::start_and_wait(&mut command, &folder.join(format!("{name}.log")))
}

/// Creates [`PAID`] checkouts and pays them with the requests of the form. Returns their ids.
fn pay_checkouts(bench: &Bench, merchant: &MerchantAccess, gateway: &ServerProcess) -> Result<Vec<String>> {
    let load = &bench.programs.load;
    let bodies: Vec<String> = merchant.checkout_bodies().into_iter().cycle().take(PAID).collect();
    let checkouts =
        LoadTarget { server: gateway, requests: merchant.post_requests("/v1/checkouts", &bodies) }.send_once(load)?.ids;
    ensure!(checkouts.len() == PAID, "{} checkouts instead of {PAID}", checkouts.len());
    LoadTarget { server: gateway, requests: submit_requests(&checkouts) }.send_once(load)?;
    Ok(checkouts)
}

/// Returns the mean size in bytes of each row that one payment writes, counted in the store before and after
/// [`COUNTED`] payments. Tables with less than one new row for each payment are left out.
pub(super) fn measure_payment_rows(
    bench: &Bench,
    folder: &Path,
    merchant: &MerchantAccess,
    gateway: &ServerProcess,
) -> Result<Vec<usize>> {
    let count = || -> Result<TableSizes> {
        let output = Command::new(&bench.programs.store).arg("rows").arg(folder.join("data")).output()?;
        ensure!(output.status.success(), "rows: {}", String::from_utf8_lossy(&output.stderr));
        let tables: BTreeMap<String, Value> = serde_json::from_slice(&output.stdout)?;
        let number = |table: &Value, name: &str| table[name].as_i64().context("a size");
        tables
            .into_iter()
            .map(|(name, table)| {
                Ok((name, TableSize { rows: number(&table, "rows")?, bytes: number(&table, "bytes")? }))
            })
            .collect()
    };
    let before = count()?;
    send_counted_payments(bench, merchant, gateway)?;
    find_row_sizes(&before, &count()?, COUNTED)
}

/// Sends [`COUNTED`] payments.
pub(super) fn send_counted_payments(bench: &Bench, merchant: &MerchantAccess, gateway: &ServerProcess) -> Result<()> {
    let bodies: Vec<String> = merchant.payment_bodies().into_iter().cycle().take(usize::try_from(COUNTED)?).collect();
    LoadTarget { server: gateway, requests: merchant.post_requests("/v1/payments", &bodies) }
        .send_once(&bench.programs.load)?;
    Ok(())
}
