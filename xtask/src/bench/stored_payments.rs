//! Stored cards, refunds and queries against the floors, and payments into a full store against payments into an empty
//! one.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use super::Bench;
use super::load::{serve_store, start_floor, start_gateway};
use super::requests::MerchantAccess;
use super::rounds::{Runs, compare_throughput, run_rounds};
use super::start::ensure_filled_store;
use super::table::ResultRow;
use super::traffic::{LoadDuration, LoadTarget};
use crate::toolchain::run_step;

/// Number of registrations and queried payments that are created beforehand and used repeatedly.
const MADE: usize = 2048;
/// Number of refunded payments: so many that even a fast machine refunds each only a few times, as in production. Each
/// refund reads the earlier ones.
const REFUNDED: usize = 32 * 1024;

/// A target. The order is the order in a round.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum TargetKind {
    Row,
    Registered,
    Refunds,
    Echo,
    Query,
    Empty,
    Full,
}

/// Measures payments with stored cards, refunds, queries, and payments into a full store. Returns rows of ratios. The
/// stores and logs are deleted unless the measurement fails.
pub fn bench_stored_payments(bench: &Bench) -> Result<Vec<ResultRow>> {
    eprintln!("After the first payment:");
    let folder = bench.folder.join("after");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(folder.join("full"))?;
    let rows = measure_stored_payments(bench, &folder)?;
    fs::remove_dir_all(&folder)?;
    Ok(rows)
}

/// Starts a gateway with registrations and payments, another one on the filled store, and a floor; measures them in
/// turn, and stops both gateways.
fn measure_stored_payments(bench: &Bench, folder: &Path) -> Result<Vec<ResultRow>> {
    let load = &bench.programs.load;
    let (merchant, server) = start_gateway(bench, folder, &[])?;
    let (full_merchant, full_server) = start_on_filled_store(bench, &folder.join("full"))?;
    let payments = merchant.payment_bodies();
    let create = |path: &str, bodies: &[String]| -> Result<Vec<String>> {
        let ids = LoadTarget { server: &server, requests: merchant.post_requests(path, bodies) }.send_once(load)?.ids;
        ensure!(ids.len() == bodies.len(), "{} answers of {path} instead of {}", ids.len(), bodies.len());
        Ok(ids)
    };
    let registrations = create("/v1/registrations", &merchant.registration_bodies(MADE))?;
    let paid = create("/v1/payments", &merchant.single_payment_bodies(0..REFUNDED))?;
    // Queried payments are separate: a query returns all follow-up payments, and the other payments are refunded all
    // the time.
    create("/v1/payments", &merchant.single_payment_bodies(REFUNDED..REFUNDED + MADE))?;
    let queries = merchant.reference_queries(REFUNDED..REFUNDED + MADE);
    let query_bytes = LoadTarget { server: &server, requests: queries.clone() }.send_once(load)?.bytes;
    let one_row = start_floor(bench, folder, "one-row", &[payments[0].len()], query_bytes, &[])?;
    let registered = registrations.iter().flat_map(|id| {
        merchant.post_requests(&format!("/v1/registrations/{id}/payments"), &[merchant.registration_payment_body()])
    });
    let registered = registered.collect();
    let refunds =
        paid.iter().flat_map(|id| merchant.post_requests(&format!("/v1/payments/{id}"), &[merchant.refund_body()]));
    let refunds = refunds.collect();
    let targets: BTreeMap<TargetKind, LoadTarget<'_>> = [
        (TargetKind::Row, &one_row, merchant.post_requests("/rows", &payments)),
        (TargetKind::Registered, &server, registered),
        (TargetKind::Refunds, &server, refunds),
        (TargetKind::Echo, &one_row, merchant.status_requests(|id| format!("/echo/{id}"), &paid[..MADE])),
        (TargetKind::Query, &server, queries),
        (TargetKind::Empty, &server, merchant.post_requests("/v1/payments", &payments)),
        (TargetKind::Full, &full_server, full_merchant.post_requests("/v1/payments", &full_merchant.payment_bodies())),
    ]
    .into_iter()
    .map(|(kind, server, requests)| (kind, LoadTarget { server, requests }))
    .collect();
    let seconds = |quick, full| Duration::from_millis(if bench.quick { quick } else { full });
    let span = LoadDuration { warm_up: seconds(100, 300), measure: seconds(300, 1200) };
    let rounds = if bench.quick { 1 } else { 7 };
    let runs = run_rounds("capacity", rounds, &targets, |_, target| target.run_load(load, span, None))?;
    drop(targets);
    server.stop_gracefully()?;
    full_server.stop_gracefully()?;
    Ok(stored_payment_rows(&runs, bench.quick))
}

/// Compares the throughput of the gateway with that of its floor, and of a full store with that of an empty one.
fn stored_payment_rows(runs: &Runs<TargetKind>, is_quick: bool) -> Vec<ResultRow> {
    let many = if is_quick { "10 000" } else { "a million" };
    vec![
        compare_throughput(
            runs,
            "Payment by registration : one-row floor",
            TargetKind::Registered,
            TargetKind::Row,
            0.35,
        ),
        compare_throughput(runs, "Refund : one-row floor", TargetKind::Refunds, TargetKind::Row, 0.35),
        compare_throughput(runs, "GET query : echo", TargetKind::Query, TargetKind::Echo, 0.3),
        compare_throughput(
            runs,
            &format!("Payments, {many} stored : none stored"),
            TargetKind::Full,
            TargetKind::Empty,
            0.9,
        ),
    ]
}

/// Starts a gateway on a copy of the filled store. Returns access to its merchant, too.
fn start_on_filled_store(bench: &Bench, folder: &Path) -> Result<(MerchantAccess, super::child::ServerProcess)> {
    let merchant = copy_filled_store(bench, if bench.quick { "10000" } else { "1000000" }, folder)?;
    Ok((merchant, serve_store(bench, folder, &[])?))
}

/// Copies a filled store with its key to a folder, and creates a token for the merchant of its payments. Returns access
/// to that merchant.
pub(super) fn copy_filled_store(bench: &Bench, count: &str, folder: &Path) -> Result<MerchantAccess> {
    let filled = ensure_filled_store(bench, count)?.join("data");
    let data = folder.join("data");
    run_step("copying the filled store", || {
        fs::create_dir_all(&data)?;
        for file in fs::read_dir(&filled)? {
            let file = file?;
            // A killed gateway leaves its socket behind, which cannot be copied.
            if file.file_type()?.is_file() {
                fs::copy(file.path(), data.join(file.file_name()))?;
            }
        }
        Ok(())
    })?;
    // Sealed records need the key under which the filled store was made.
    let key = filled.with_extension("key");
    if key.exists() {
        fs::copy(&key, data.with_extension("key"))?;
    }
    let run_gateway = |arguments: &[&str]| -> Result<Value> {
        let output =
            Command::new(&bench.programs.gateway).args(arguments).arg("--json").arg("--data").arg(&data).output()?;
        ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Ok(serde_json::from_slice(&output.stdout)?)
    };
    let entities = run_gateway(&["entity", "list"])?;
    let entity_id = entities[0]["id"].as_str().context("the filled store has no entity")?.to_owned();
    let created = run_gateway(&["token", "create", "--entity", &entity_id])?;
    let token = created["token"].as_str().context("no token")?.to_owned();
    Ok(MerchantAccess { entity_id, token })
}
