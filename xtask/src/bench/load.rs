//! Under load: capacity against the floors, latency at half of it, and memory after all that.
//!
//! The floors: one row (the form body, durable), equal rows (as many rows and bytes as a payment writes, counted in the
//! gateway's own store), an echo (as many bytes as the status answer), and equal rows in two commits with an authorisation at the
//! acquirer's host between them.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use super::Bench;
use super::child::Server;
use super::numbers::{median, megabytes};
use super::requests::{Merchant, submits};
use super::rounds::{rounds_of, tail, throughput};
use super::table::{Goal, Row};
use super::traffic::{Span, Target};

/// Checkouts that were paid, whose status is then asked for.
const PAID: usize = 256;
/// Payments whose rows are counted.
const COUNTED: i64 = 640;

/// One target, by its place in the list that a round goes through.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    RowOfCheckout,
    Checkouts,
    RowOfPayment,
    Payments,
    EqualRows,
    ExternalPayments,
    Asked,
    Echo,
    Status,
}

pub fn run(bench: &Bench) -> Result<Vec<Row>> {
    eprintln!("Under load:");
    let folder = bench.folder.join("load");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder)?;
    let rows = measure(bench, &folder)?;
    fs::remove_dir_all(&folder)?;
    Ok(rows)
}

fn measure(bench: &Bench, folder: &Path) -> Result<Vec<Row>> {
    let programs = &bench.programs;
    let host = acquirer_host(bench, folder)?;
    let key = host_key(folder);
    let url = format!("http://{}", host.address);
    let acquirer = ["--acquirer".as_ref(), url.as_ref(), "--acquirer-key-file".as_ref(), key.as_os_str()];
    let (merchant, gateway) = gateway(bench, folder, &acquirer)?;
    let checkouts = paid_checkouts(bench, &merchant, &gateway)?;
    let written = rows_of_a_payment(bench, folder, &merchant, &gateway)?;
    let (orders, payments) = (merchant.checkout_bodies(), merchant.payment_bodies());
    let statuses = merchant.status(|id| format!("/v1/checkouts/{id}/payment"), &checkouts);
    let status = Target { server: &gateway, requests: statuses };
    let answer = status.once(&programs.load)?.bytes;
    let one_row = floor(bench, folder, "one-row", &[orders[0].len()], answer, &[])?;
    let at_host = ["--host".as_ref(), host.address.as_ref(), "--host-key".as_ref(), key.as_os_str()];
    let equal_rows = floor(bench, folder, "equal-rows", &written, answer, &at_host)?;
    let external = merchant.external_payment_bodies();
    let mut targets: BTreeMap<Kind, Target<'_>> = [
        (Kind::RowOfCheckout, &one_row, merchant.posts("/rows", &orders)),
        (Kind::Checkouts, &gateway, merchant.posts("/v1/checkouts", &orders)),
        (Kind::RowOfPayment, &one_row, merchant.posts("/rows", &payments)),
        (Kind::Payments, &gateway, merchant.posts("/v1/payments", &payments)),
        (Kind::EqualRows, &equal_rows, merchant.posts("/rows", &payments)),
        (Kind::ExternalPayments, &gateway, merchant.posts("/v1/payments", &external)),
        (Kind::Asked, &equal_rows, merchant.posts("/asked", &external)),
        (Kind::Echo, &one_row, merchant.status(|id| format!("/echo/{id}"), &checkouts)),
        (Kind::Status, &gateway, status.requests),
    ]
    .into_iter()
    .map(|(kind, server, requests)| (kind, Target { server, requests }))
    .collect();

    let seconds = |quick, full| Duration::from_millis(if bench.quick { quick } else { full });
    let closed = Span { warm_up: seconds(100, 300), measure: seconds(300, 1200) };
    let rounds = if bench.quick { 1 } else { 7 };
    let capacity = rounds_of("capacity", rounds, &targets, |_, target| target.run(&programs.load, closed, None))?;

    // Latency is compared with the stricter floor.
    for kind in [Kind::EqualRows, Kind::ExternalPayments, Kind::Asked] {
        targets.remove(&kind);
    }
    let open = Span { warm_up: seconds(100, 300), measure: seconds(300, 1700) };
    let rounds = if bench.quick { 1 } else { 5 };
    let latency = rounds_of("latency at half of it", rounds, &targets, |kind, target| {
        let half = median(capacity[&kind].iter().map(|run| run.per_second)) / 2.0;
        target.run(&programs.load, open, Some(half))
    })?;
    let (resident, anonymous) = gateway.memory()?;
    gateway.stop()?;

    let mut rows = vec![
        throughput(&capacity, "POST /v1/checkouts : one-row floor", Kind::Checkouts, Kind::RowOfCheckout, 0.5),
        throughput(&capacity, "POST /v1/payments : one-row floor", Kind::Payments, Kind::RowOfPayment, 0.35),
        throughput(&capacity, "POST /v1/payments : equal-rows floor", Kind::Payments, Kind::EqualRows, 0.5),
        throughput(
            &capacity,
            "POST /v1/payments, external : two commits and the host",
            Kind::ExternalPayments,
            Kind::Asked,
            0.5,
        ),
        throughput(&capacity, "GET status : echo", Kind::Status, Kind::Echo, 0.6),
        tail(&latency, "p99 of POST /v1/checkouts : one-row floor", Kind::Checkouts, Kind::RowOfCheckout),
        tail(&latency, "p99 of POST /v1/payments : one-row floor", Kind::Payments, Kind::RowOfPayment),
        tail(&latency, "p99 of GET status : echo", Kind::Status, Kind::Echo),
    ];
    rows.push(Row {
        what: "Memory after the load".to_owned(),
        reached: megabytes(resident),
        goal: Goal::AtMost(100.0),
        unit: "MB",
        figures: format!("{:.0} MB of it its own, the rest files", megabytes(anonymous)),
    });
    Ok(rows)
}

/// A gateway with a sandbox entity and more arguments, as operators run it: access log on, into a file.
pub(super) fn gateway(bench: &Bench, folder: &Path, more: &[&OsStr]) -> Result<(Merchant, Server)> {
    let program = &bench.programs.gateway;
    let data = folder.join("data");
    let made = Command::new(program)
        .args(["entity", "create", "--name", "Kiln & Tide", "--json", "--data"])
        .arg(&data)
        .output()
        .context("starting the gateway")?;
    ensure!(made.status.success(), "no entity: {}", String::from_utf8_lossy(&made.stderr));
    let made: Value = serde_json::from_slice(&made.stdout)?;
    let text = |name: &str| made[name].as_str().map(str::to_owned).with_context(|| format!("no {name}"));
    let merchant = Merchant { entity_id: text("entityId")?, token: text("token")? };
    Ok((merchant, serve(bench, folder, more)?))
}

/// A gateway on the store in a folder, with more arguments.
pub(super) fn serve(bench: &Bench, folder: &Path, more: &[&OsStr]) -> Result<Server> {
    let mut command = Command::new(&bench.programs.gateway);
    command.args(["serve", "--listen", "127.0.0.1:0", "--data"]).arg(folder.join("data")).args(more);
    Server::start(&mut command, &folder.join("gateway.log"))
}

/// An acquirer's host, in a process of its own.
fn acquirer_host(bench: &Bench, folder: &Path) -> Result<Server> {
    let mut command = Command::new(&bench.programs.gateway);
    command.args(["acquirer-host", "--listen", "127.0.0.1:0", "--data"]).arg(folder.join("host"));
    command.arg("--key-file").arg(host_key(folder));
    Server::start(&mut command, &folder.join("host.log"))
}

/// The key that it shares with the gateway and the floor.
fn host_key(folder: &Path) -> PathBuf {
    folder.join("host.key")
}

pub(super) fn floor(
    bench: &Bench,
    folder: &Path,
    name: &str,
    rows: &[usize],
    answer: usize,
    more: &[&OsStr],
) -> Result<Server> {
    let mut command = Command::new(&bench.programs.floor);
    command.arg("--data").arg(folder.join(name)).args(["--answer", &answer.to_string()]).args(more);
    for bytes in rows {
        command.args(["--row", &bytes.to_string()]);
    }
    Server::start(&mut command, &folder.join(format!("{name}.log")))
}

/// Ids of checkouts that were paid through the form's own request.
fn paid_checkouts(bench: &Bench, merchant: &Merchant, gateway: &Server) -> Result<Vec<String>> {
    let load = &bench.programs.load;
    let bodies: Vec<String> = merchant.checkout_bodies().into_iter().cycle().take(PAID).collect();
    let checkouts = Target { server: gateway, requests: merchant.posts("/v1/checkouts", &bodies) }.once(load)?.ids;
    ensure!(checkouts.len() == PAID, "{} checkouts instead of {PAID}", checkouts.len());
    Target { server: gateway, requests: submits(&checkouts) }.once(load)?;
    Ok(checkouts)
}

/// The bytes of each row that one payment writes, counted in the store before and after some hundred of them.
fn rows_of_a_payment(bench: &Bench, folder: &Path, merchant: &Merchant, gateway: &Server) -> Result<Vec<usize>> {
    let count = || -> Result<BTreeMap<String, [i64; 2]>> {
        let output = Command::new(&bench.programs.store).arg("rows").arg(folder.join("data")).output()?;
        ensure!(output.status.success(), "rows: {}", String::from_utf8_lossy(&output.stderr));
        let tables: BTreeMap<String, Value> = serde_json::from_slice(&output.stdout)?;
        let number = |table: &Value, name: &str| table[name].as_i64().context("a size");
        tables
            .into_iter()
            .map(|(name, table)| Ok((name, [number(&table, "rows")?, number(&table, "bytes")?])))
            .collect()
    };
    let before = count()?;
    let bodies: Vec<String> = merchant.payment_bodies().into_iter().cycle().take(usize::try_from(COUNTED)?).collect();
    Target { server: gateway, requests: merchant.posts("/v1/payments", &bodies) }.once(&bench.programs.load)?;
    let mut written = Vec::new();
    for (table, [rows, bytes]) in count()? {
        let [rows_before, bytes_before] = before.get(&table).copied().unwrap_or_default();
        let (rows, bytes) = (rows - rows_before, bytes - bytes_before);
        for _ in 0..rows / COUNTED {
            written.push(usize::try_from(bytes / rows)?);
        }
    }
    ensure!(!written.is_empty(), "a payment writes nothing");
    eprintln!("  a payment writes rows of {written:?} bytes");
    Ok(written)
}
