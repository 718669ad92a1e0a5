//! Payments over one line of ISO 8583 against two commits with a round trip to a bare TCP host, and the failover to
//! another line while the host of the first one is killed.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};

use super::Bench;
use super::child::ServerProcess;
use super::hostile_load::send_request;
use super::load::{create_merchant, measure_payment_rows, serve_store, start_floor};
use super::requests::MerchantAccess;
use super::rounds::{compare_throughput, run_rounds};
use super::table::{Goal, ResultRow};
use super::traffic::{LoadDuration, LoadTarget};
use crate::toolchain::run_step;

/// Time for the lines to sign on.
const SIGN_ON_LIMIT: Duration = Duration::from_secs(10);
/// Payments of the failover. The host is killed after half of them.
const FAILOVER_PAYMENTS: usize = 200;

/// A target. The order is the order in a round.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum TargetKind {
    Payments,
    TwoCommits,
}

/// Measures lines. The stores and logs are deleted unless the measurement fails.
pub fn bench_lines(bench: &Bench) -> Result<Vec<ResultRow>> {
    eprintln!("Lines:");
    let folder = bench.folder.join("lines");
    let _ = fs::remove_dir_all(&folder);
    let capacity = measure_capacity(bench, &folder.join("capacity"))?;
    let failover = measure_failover(bench, &folder.join("failover"))?;
    fs::remove_dir_all(&folder)?;
    Ok(vec![capacity, failover])
}

/// Starts a bare host.
fn start_host(bench: &Bench, folder: &Path, name: &str) -> Result<ServerProcess> {
    let mut command = Command::new(&bench.programs.line_host);
    ServerProcess::start_and_wait(&mut command, &folder.join(format!("{name}.log")))
}

/// Writes the configuration of a line to each host, the first one first.
fn write_lines(folder: &Path, hosts: &[&ServerProcess]) -> Result<PathBuf> {
    let mut text = "dialect = \"iso87-ascii-4a\"\nacquirer = \"12345\"\nterminal = \"TILL0001\"\n".to_owned();
    for (place, host) in hosts.iter().enumerate() {
        text += &format!(
            "[[lines]]\nname = \"line-{place}\"\naddress = \"{}\"\npriority = {place}\nsecurity = \"plain\"\n",
            host.address
        );
    }
    let path = folder.join("lines.toml");
    fs::write(&path, text)?;
    Ok(path)
}

/// Starts a gateway with a line to each host, and waits until a payment is approved.
fn start_gateway(bench: &Bench, folder: &Path, hosts: &[&ServerProcess]) -> Result<(MerchantAccess, ServerProcess)> {
    let merchant = create_merchant(bench, folder, &["--connector", "iso8583", "--acquirer-merchant", "KILN1"])?;
    let lines = write_lines(folder, hosts)?;
    let gateway = serve_store(bench, folder, &["--acquirer-lines".as_ref(), lines.as_os_str()])?;
    let started = Instant::now();
    while !pay(&merchant, &gateway)? {
        ensure!(started.elapsed() < SIGN_ON_LIMIT, "the line is not signed on");
    }
    Ok((merchant, gateway))
}

/// Sends a payment over the line. Returns true if it is approved.
fn pay(merchant: &MerchantAccess, gateway: &ServerProcess) -> Result<bool> {
    let bodies = merchant.external_payment_bodies();
    let requests = merchant.post_requests("/v1/payments", bodies.get(..1).context("no payment")?);
    let (_, body) = send_request(&gateway.address, &requests.concat().into())?;
    Ok(String::from_utf8_lossy(&body).contains("000.100.112"))
}

/// Compares payments over one line with two commits and a round trip.
fn measure_capacity(bench: &Bench, folder: &Path) -> Result<ResultRow> {
    fs::create_dir_all(folder)?;
    let host = start_host(bench, folder, "host")?;
    let (merchant, gateway) = start_gateway(bench, folder, &[&host])?;
    let sizes = measure_payment_rows(bench, folder, &merchant, &gateway)?;
    let line = ["--line".as_ref(), host.address.as_ref()];
    let floor = start_floor(bench, folder, "two-commits", &sizes, 1000, &line)?;
    let bodies = merchant.external_payment_bodies();
    let targets: BTreeMap<TargetKind, LoadTarget<'_>> = [
        (TargetKind::Payments, &gateway, merchant.post_requests("/v1/payments", &bodies)),
        (TargetKind::TwoCommits, &floor, merchant.post_requests("/line-rows", &bodies)),
    ]
    .into_iter()
    .map(|(kind, server, requests)| (kind, LoadTarget { server, requests }))
    .collect();
    let seconds = |quick, full| Duration::from_millis(if bench.quick { quick } else { full });
    let span = LoadDuration { warm_up: seconds(100, 300), measure: seconds(300, 1200) };
    let rounds = if bench.quick { 1 } else { 7 };
    let run = |_, target: &LoadTarget<'_>| target.run_load(&bench.programs.load, span, None);
    let runs = run_rounds("payments over a line", rounds, &targets, run)?;
    drop(targets);
    gateway.stop_gracefully()?;
    let what = "POST /v1/payments over a line, 64 in flight : two commits and a round trip";
    Ok(compare_throughput(&runs, what, TargetKind::Payments, TargetKind::TwoCommits, 0.5))
}

/// Kills the host of the first line between payments, and measures the longest time between two approvals.
fn measure_failover(bench: &Bench, folder: &Path) -> Result<ResultRow> {
    fs::create_dir_all(folder)?;
    let (first, second) = (start_host(bench, folder, "first")?, start_host(bench, folder, "second")?);
    let (merchant, gateway) = start_gateway(bench, folder, &[&first, &second])?;
    let mut first = Some(first);
    let (mut longest, mut unapproved, mut last) = (Duration::ZERO, 0, Instant::now());
    run_step("killing a host", || {
        for payment in 0..FAILOVER_PAYMENTS {
            if payment == FAILOVER_PAYMENTS / 2 {
                // Dropped, and so killed.
                first = None;
            }
            if pay(&merchant, &gateway)? {
                longest = longest.max(last.elapsed());
                last = Instant::now();
            } else {
                unapproved += 1;
            }
        }
        Ok(())
    })?;
    gateway.stop_gracefully()?;
    Ok(ResultRow {
        what: "Longest time between approvals while a host is killed".to_owned(),
        reached: longest.as_secs_f64() * 1e3,
        goal: Goal::AtMost(2000.0),
        unit: "ms",
        figures: format!("{unapproved} of {FAILOVER_PAYMENTS} payments were not approved"),
    })
}
