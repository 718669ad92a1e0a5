//! Two merchants of one gateway: payments of the one, alone and while the other reads all its payments again and again.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::Result;

use super::Bench;
use super::after::copy_filled;
use super::load::gateway;
use super::rounds::{rounds_of, tail};
use super::table::Row;
use super::traffic::{Span, Target};

/// Connections of the merchant that reads, each with a query under way all the time.
const READERS: u64 = 16;
/// Payments of the reading merchant: as many as numbered pages have.
const STORED: &str = "10000";
/// Payments a second of the other merchant.
const RATE: f64 = 100.0;

/// A run of payments, by its place in a round.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Alone,
    BesideReaders,
}

pub fn run(bench: &Bench) -> Result<Vec<Row>> {
    eprintln!("Two merchants:");
    let folder = bench.folder.join("tenants");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder)?;
    let rows = measure(bench, &folder)?;
    fs::remove_dir_all(&folder)?;
    Ok(rows)
}

fn measure(bench: &Bench, folder: &Path) -> Result<Vec<Row>> {
    let load = &bench.programs.load;
    let reader = copy_filled(bench, STORED, folder)?;
    let (payer, server) = gateway(bench, folder, &[])?;
    let payments = payer.posts("/v1/payments", &payer.payment_bodies());
    let readers = Target { server: &server, requests: vec![reader.long_query()] };
    let targets: BTreeMap<Kind, Target<'_>> = [Kind::Alone, Kind::BesideReaders]
        .into_iter()
        .map(|kind| (kind, Target { server: &server, requests: payments.clone() }))
        .collect();
    let seconds = |quick, full| Duration::from_millis(if bench.quick { quick } else { full });
    let span = Span { warm_up: seconds(200, 500), measure: seconds(1000, 4000) };
    let rounds = if bench.quick { 1 } else { 5 };
    let runs = rounds_of("payments", rounds, &targets, |kind, target| {
        let pay = || target.run(load, span, Some(RATE));
        match kind {
            Kind::Alone => pay(),
            Kind::BesideReaders => readers.beside(load, READERS, span, pay),
        }
    })?;
    drop(targets);
    server.stop()?;
    let what = format!("p99 of payments, {READERS} readers of another : none");
    Ok(vec![tail(&runs, &what, Kind::BesideReaders, Kind::Alone)])
}
