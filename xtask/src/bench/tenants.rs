//! Two merchants of one gateway: payments of one, alone and while the other reads all its payments repeatedly.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::Result;

use super::Bench;
use super::load::start_gateway;
use super::neighbours::bench_neighbours;
use super::rounds::{compare_tail, run_rounds};
use super::stored_payments::copy_filled_store;
use super::table::ResultRow;
use super::traffic::{LoadDuration, LoadTarget};

/// Connections of the reading merchant, each always with a query in flight.
const READERS: u64 = 16;
/// Payments of the reading merchant: the limit of numbered pages.
const STORED: &str = "10000";
/// Payments per second of the other merchant.
const RATE: f64 = 100.0;

/// A run of payments. The order is the order in a round.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum RunKind {
    Alone,
    BesideReaders,
}

/// Measures payments of one merchant, alone, beside queries of another, and beside hostile load of another. Returns a
/// row for each. The stores are deleted unless a measurement fails.
pub fn bench_tenants(bench: &Bench) -> Result<Vec<ResultRow>> {
    eprintln!("Two merchants:");
    let folder = bench.folder.join("tenants");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder)?;
    let mut rows = measure_tenants(bench, &folder)?;
    fs::remove_dir_all(&folder)?;
    rows.extend(bench_neighbours(bench)?);
    Ok(rows)
}

/// Starts a gateway with both merchants, pays at [`RATE`] with and without [`READERS`] long queries in flight, and
/// compares the 99th percentiles of the latencies.
fn measure_tenants(bench: &Bench, folder: &Path) -> Result<Vec<ResultRow>> {
    let load = &bench.programs.load;
    let reader = copy_filled_store(bench, STORED, folder)?;
    let (payer, server) = start_gateway(bench, folder, &[])?;
    let payments = payer.post_requests("/v1/payments", &payer.payment_bodies());
    let readers = LoadTarget { server: &server, requests: vec![reader.long_query()] };
    let targets: BTreeMap<RunKind, LoadTarget<'_>> = [RunKind::Alone, RunKind::BesideReaders]
        .into_iter()
        .map(|kind| (kind, LoadTarget { server: &server, requests: payments.clone() }))
        .collect();
    let seconds = |quick, full| Duration::from_millis(if bench.quick { quick } else { full });
    let span = LoadDuration { warm_up: seconds(200, 500), measure: seconds(1000, 4000) };
    let rounds = if bench.quick { 1 } else { 5 };
    let runs = run_rounds("payments", rounds, &targets, |kind, target| {
        let pay = || target.run_load(load, span, Some(RATE));
        match kind {
            RunKind::Alone => pay(),
            RunKind::BesideReaders => readers.run_beside(load, READERS, None, span, pay),
        }
    })?;
    drop(targets);
    server.stop_gracefully()?;
    let what = format!("p99 of payments, {READERS} readers of another : none");
    Ok(vec![compare_tail(&runs, &what, RunKind::BesideReaders, RunKind::Alone)])
}
