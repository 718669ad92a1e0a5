//! After the first payment: stored cards, refunds and queries against the floors, and payments into a full store against
//! payments into an empty one.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use super::Bench;
use super::load::{floor, gateway, serve};
use super::requests::Merchant;
use super::rounds::{rounds_of, throughput};
use super::start::filled;
use super::table::Row;
use super::traffic::{Span, Target};
use crate::toolchain::step;

/// Registrations and queried payments that are made beforehand and then used again and again.
const MADE: usize = 2048;
/// Payments that are refunded: so many that even a fast machine refunds none more than a few times, as in life. Each
/// refund reads those before it.
const REFUNDED: usize = 32 * 1024;

/// One target, by its place in the list that a round goes through.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Row,
    Registered,
    Refunds,
    Echo,
    Query,
    Empty,
    Full,
}

pub fn run(bench: &Bench) -> Result<Vec<Row>> {
    eprintln!("After the first payment:");
    let folder = bench.folder.join("after");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(folder.join("full"))?;
    let rows = measure(bench, &folder)?;
    fs::remove_dir_all(&folder)?;
    Ok(rows)
}

fn measure(bench: &Bench, folder: &Path) -> Result<Vec<Row>> {
    let load = &bench.programs.load;
    let (merchant, server) = gateway(bench, folder, &[])?;
    let (full_merchant, full_server) = full(bench, &folder.join("full"))?;
    let payments = merchant.payment_bodies();
    let made = |path: &str, bodies: &[String]| -> Result<Vec<String>> {
        let ids = Target { server: &server, requests: merchant.posts(path, bodies) }.once(load)?.ids;
        ensure!(ids.len() == bodies.len(), "{} answers of {path} instead of {}", ids.len(), bodies.len());
        Ok(ids)
    };
    let registrations = made("/v1/registrations", &merchant.registration_bodies(MADE))?;
    let paid = made("/v1/payments", &merchant.single_payment_bodies(0..REFUNDED))?;
    // Payments of their own: an answer holds everything that refers to one, and the others are refunded all the time.
    made("/v1/payments", &merchant.single_payment_bodies(REFUNDED..REFUNDED + MADE))?;
    let queries = merchant.queries(REFUNDED..REFUNDED + MADE);
    let answer = Target { server: &server, requests: queries.clone() }.once(load)?.bytes;
    let one_row = floor(bench, folder, "one-row", &[payments[0].len()], answer, &[])?;
    let registered = registrations.iter().flat_map(|id| {
        merchant.posts(&format!("/v1/registrations/{id}/payments"), &[merchant.payment_by_registration()])
    });
    let registered = registered.collect();
    let refunds = paid.iter().flat_map(|id| merchant.posts(&format!("/v1/payments/{id}"), &[merchant.refund()]));
    let refunds = refunds.collect();
    let targets: BTreeMap<Kind, Target<'_>> = [
        (Kind::Row, &one_row, merchant.posts("/rows", &payments)),
        (Kind::Registered, &server, registered),
        (Kind::Refunds, &server, refunds),
        (Kind::Echo, &one_row, merchant.status(|id| format!("/echo/{id}"), &paid[..MADE])),
        (Kind::Query, &server, queries),
        (Kind::Empty, &server, merchant.posts("/v1/payments", &payments)),
        (Kind::Full, &full_server, full_merchant.posts("/v1/payments", &full_merchant.payment_bodies())),
    ]
    .into_iter()
    .map(|(kind, server, requests)| (kind, Target { server, requests }))
    .collect();
    let seconds = |quick, full| Duration::from_millis(if bench.quick { quick } else { full });
    let span = Span { warm_up: seconds(100, 300), measure: seconds(300, 1200) };
    let rounds = if bench.quick { 1 } else { 7 };
    let runs = rounds_of("capacity", rounds, &targets, |_, target| target.run(load, span, None))?;
    drop(targets);
    server.stop()?;
    full_server.stop()?;
    let many = if bench.quick { "10 000" } else { "a million" };
    Ok(vec![
        throughput(&runs, "Payment by registration : one-row floor", Kind::Registered, Kind::Row, 0.35),
        throughput(&runs, "Refund : one-row floor", Kind::Refunds, Kind::Row, 0.35),
        throughput(&runs, "GET query : echo", Kind::Query, Kind::Echo, 0.3),
        throughput(&runs, &format!("Payments, {many} stored : none stored"), Kind::Full, Kind::Empty, 0.9),
    ])
}

/// A gateway on a copy of the filled store, and a merchant of it.
fn full(bench: &Bench, folder: &Path) -> Result<(Merchant, super::child::Server)> {
    let merchant = copy_filled(bench, if bench.quick { "10000" } else { "1000000" }, folder)?;
    Ok((merchant, serve(bench, folder, &[])?))
}

/// Copies a filled store to a folder. Returns the merchant that has its payments.
pub(super) fn copy_filled(bench: &Bench, count: &str, folder: &Path) -> Result<Merchant> {
    let filled = filled(bench, count)?.join("data");
    let data = folder.join("data");
    step("copying the filled store", || {
        fs::create_dir_all(&data)?;
        for file in fs::read_dir(&filled)? {
            let file = file?;
            fs::copy(file.path(), data.join(file.file_name()))?;
        }
        Ok(())
    })?;
    // Sealed records are bound to the key that the filled store was made with.
    let key = filled.with_extension("key");
    if key.exists() {
        fs::copy(&key, data.with_extension("key"))?;
    }
    let asked = |arguments: &[&str]| -> Result<Value> {
        let output =
            Command::new(&bench.programs.gateway).args(arguments).arg("--json").arg("--data").arg(&data).output()?;
        ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Ok(serde_json::from_slice(&output.stdout)?)
    };
    let entities = asked(&["entity", "list"])?;
    let entity_id = entities[0]["id"].as_str().context("the filled store has no entity")?.to_owned();
    let made = asked(&["token", "create", "--entity", &entity_id])?;
    let token = made["token"].as_str().context("no token")?.to_owned();
    Ok(Merchant { entity_id, token })
}
