//! Payments of one merchant beside hostile load of another, for each resource that merchants share. The floor is the
//! same payments in the same gateway beside nothing.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::Result;

use super::Bench;
use super::child::ServerProcess;
use super::hostile_load::HostileLoad;
use super::load::{create_merchant, host_key_path, serve_store, start_acquirer_host};
use super::neighbour_loads::{self, Neighbour};
use super::requests::MerchantAccess;
use super::rounds::{Runs, compare_slow_responses, run_rounds};
use super::table::ResultRow;
use super::traffic::{LoadDuration, LoadTarget};

/// Payments per second of the measured merchant.
const RATE: f64 = 100.0;
/// Time until hostile load has its full effect.
const ONSET: Duration = Duration::from_millis(500);

/// A run of payments. The order is the order in a round.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum RunKind {
    Alone,
    BesideLoad,
}

/// A resource that merchants share, and the load of a hostile merchant on it.
struct SharedResource {
    /// Name of the load in the table.
    name: &'static str,
    /// Further arguments of the gateway.
    arguments: &'static [&'static str],
    /// Further arguments for the creation of the hostile merchant.
    options: &'static [&'static str],
    /// True if the measured payments go to the acquirer's host.
    is_external: bool,
    /// True if the load goes on after its end in the gateway, so that all runs beside nothing have to come first.
    has_aftermath: bool,
    /// Prepares the load. The function that it returns starts the load.
    prepare: fn(&Neighbour<'_>) -> Result<neighbour_loads::StartLoad>,
}

const RESOURCES: &[SharedResource] = &[
    SharedResource {
        name: "costly risk rules on 1000 cart items",
        arguments: &[],
        options: &["--risk", "on"],
        is_external: false,
        has_aftermath: false,
        prepare: neighbour_loads::prepare_costly_rules,
    },
    SharedResource {
        name: "8 down- and uploads of evidence",
        arguments: &[],
        options: &[],
        is_external: false,
        has_aftermath: false,
        prepare: neighbour_loads::prepare_evidence,
    },
    SharedResource {
        name: "8 loads of the reference page",
        arguments: &[],
        options: &[],
        is_external: false,
        has_aftermath: false,
        prepare: neighbour_loads::prepare_reference_page,
    },
    SharedResource {
        name: "300 payments to a silent host",
        arguments: &["--connections-per-address", "0"],
        options: &[],
        is_external: true,
        has_aftermath: true,
        prepare: neighbour_loads::prepare_silent_host,
    },
    SharedResource {
        name: "FTP sessions on all passive ports",
        arguments: neighbour_loads::FTP_ARGUMENTS,
        options: &[],
        is_external: false,
        has_aftermath: false,
        prepare: neighbour_loads::prepare_ftp_sessions,
    },
    SharedResource {
        name: "a clock moved under schedules of every second",
        arguments: &[],
        options: &[],
        is_external: false,
        has_aftermath: true,
        prepare: neighbour_loads::prepare_clock_jumps,
    },
    SharedResource {
        name: "500 half requests to the acquirer's host",
        arguments: &[],
        options: &[],
        is_external: true,
        has_aftermath: false,
        prepare: neighbour_loads::prepare_half_requests,
    },
];

/// Measures payments beside the load on each resource. Returns a row for each. The stores are deleted unless a
/// measurement fails.
pub fn bench_neighbours(bench: &Bench) -> Result<Vec<ResultRow>> {
    let folder = bench.folder.join("neighbours");
    let _ = fs::remove_dir_all(&folder);
    let mut rows = Vec::new();
    for resource in RESOURCES {
        eprintln!("Beside {}:", resource.name);
        fs::create_dir_all(&folder)?;
        rows.push(measure_resource(bench, resource, &folder)?);
        fs::remove_dir_all(&folder)?;
    }
    Ok(rows)
}

/// Starts a gateway, and an acquirer's host if the payments need one, and compares the payments of a merchant with and
/// without the load.
fn measure_resource(bench: &Bench, resource: &SharedResource, folder: &Path) -> Result<ResultRow> {
    let payer = create_merchant(bench, folder, &[])?;
    let merchant = create_merchant(bench, folder, resource.options)?;
    let host = if resource.is_external { Some(start_acquirer_host(bench, folder)?) } else { None };
    let (url, key) = (host.as_ref().map(|host| format!("http://{}", host.address)), host_key_path(folder));
    let acquirer: Vec<_> = url
        .iter()
        .flat_map(|url| ["--acquirer".as_ref(), url.as_ref(), "--acquirer-key-file".as_ref(), key.as_os_str()])
        .collect();
    let arguments = [resource.arguments.iter().map(|argument| (*argument).as_ref()).collect(), acquirer].concat();
    let server = serve_store(bench, folder, &arguments)?;
    let neighbour = Neighbour { bench, folder, merchant: &merchant, server: &server, host: host.as_ref() };
    let start_load = (resource.prepare)(&neighbour)?;
    let runs = run_payments(bench, resource, &payer, &server, &start_load)?;
    server.stop_gracefully()?;
    let what = format!("p95 of payments, beside {} : nothing", resource.name);
    Ok(compare_slow_responses(&runs, &what, RunKind::BesideLoad, RunKind::Alone))
}

/// Runs the payments of a merchant with and without the load, in turn, or first without it if it has an aftermath.
fn run_payments(
    bench: &Bench,
    resource: &SharedResource,
    payer: &MerchantAccess,
    server: &ServerProcess,
    start_load: &neighbour_loads::StartLoad,
) -> Result<Runs<RunKind>> {
    let bodies = if resource.is_external { payer.external_payment_bodies() } else { payer.payment_bodies() };
    let payments = payer.post_requests("/v1/payments", &bodies);
    let milliseconds = |quick, full| Duration::from_millis(if bench.quick { quick } else { full });
    let span = LoadDuration { warm_up: milliseconds(200, 500), measure: milliseconds(1000, 4000) };
    let rounds = if bench.quick { 1 } else { 5 };
    let run_target = |kind, target: &LoadTarget<'_>| {
        // The load ends when it is dropped.
        let _load: Option<HostileLoad> = match kind {
            RunKind::Alone => None,
            RunKind::BesideLoad => {
                let load = start_load()?;
                std::thread::sleep(ONSET);
                Some(load)
            }
        };
        target.run_load(&bench.programs.load, span, Some(RATE))
    };
    let target = |kind| (kind, LoadTarget { server, requests: payments.clone() });
    if !resource.has_aftermath {
        let targets = BTreeMap::from([target(RunKind::Alone), target(RunKind::BesideLoad)]);
        return run_rounds("payments", rounds, &targets, run_target);
    }
    let mut runs = Runs::new();
    for (what, kind) in [("payments alone", RunKind::Alone), ("payments beside it", RunKind::BesideLoad)] {
        runs.extend(run_rounds(what, rounds, &BTreeMap::from([target(kind)]), run_target)?);
    }
    Ok(runs)
}
