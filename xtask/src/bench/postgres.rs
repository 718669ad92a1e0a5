//! The store in PostgreSQL: payments of one and of several merchants against a bare program that writes equal rows into
//! the same cluster, two nodes against one, a merchant beside one with most of the load, and the figures from which the
//! capacity of a cluster is computed.

mod capacity;
mod cluster;
mod rounds;
mod waits;

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};

use super::Bench;
use super::child::ServerProcess;
use super::load::{COUNTED, create_merchant, send_counted_payments, serve_store, start_gateway};
use super::requests::MerchantAccess;
use super::row_sizes::find_row_sizes;
use super::table::{Goal, ResultRow};
use super::traffic::LoadTarget;
use capacity::model_rows;
use cluster::{MeasuredCluster, MeasuredDatabase};
use waits::{LockedWaits, WaitCosts};

/// Merchants of the database. Half of them use the second node when there are two.
const MERCHANTS: usize = 8;
/// Connections of a node that write, which is the default of `--writers`. A floor has as many.
const WRITERS: &str = "4";
/// Payments whose waits are counted.
const LOGGED: usize = 512;
/// Connections of the counted payments that share transactions.
const TOGETHER: u64 = 64;

/// Measures the store in PostgreSQL. The cluster, the stores and the logs are deleted unless a measurement fails.
pub fn bench_postgres(bench: &Bench) -> Result<Vec<ResultRow>> {
    eprintln!("The store in PostgreSQL:");
    let folder = bench.folder.join("postgres");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder)?;
    let rows = Setup::start(bench, &folder)?.measure()?;
    fs::remove_dir_all(&folder)?;
    Ok(rows)
}

/// The running servers. They end in this order, the cluster last.
struct Setup<'a> {
    bench: &'a Bench,
    /// Two nodes of the same database.
    nodes: [ServerProcess; 2],
    /// The merchants of the nodes.
    merchants: Vec<MerchantAccess>,
    /// A gateway whose store is a file.
    file: ServerProcess,
    /// The merchant of this gateway.
    file_merchant: MerchantAccess,
    /// The floor with as many connections as a node.
    floor: ServerProcess,
    /// The floor with one connection: one merchant's payments use one at a time.
    single_floor: ServerProcess,
    cluster: MeasuredCluster,
}

impl<'a> Setup<'a> {
    /// Starts the cluster, two nodes, a gateway with a file, and a floor that writes the rows of a payment.
    fn start(bench: &'a Bench, folder: &Path) -> Result<Self> {
        let cluster = MeasuredCluster::start(folder)?;
        let database = cluster.create_database()?;
        let [first, second, in_file] = ["tx01", "tx02", "file"].map(|name| folder.join(name));
        for folder in [&first, &second, &in_file] {
            fs::create_dir_all(folder)?;
        }
        let options = ["--database", &database.address];
        let merchants = (0..MERCHANTS)
            .map(|_| create_merchant(bench, &first, &options))
            .collect::<Result<Vec<MerchantAccess>>>()?;
        let first_node = start_node(bench, &first, &database, "tx01")?;
        // The vaults of all nodes need the same key, which the first one has made.
        fs::copy(key_path(&first), key_path(&second)).context("the key of the first node")?;
        let nodes = [first_node, start_node(bench, &second, &database, "tx02")?];
        let before = cluster.read_table_sizes(&database)?;
        send_counted_payments(bench, &merchants[0], &nodes[0])?;
        let sizes = find_row_sizes(&before, &cluster.read_table_sizes(&database)?, COUNTED)?;
        let floor = start_floor(bench, folder, &cluster.create_database()?, &sizes, WRITERS)?;
        let single_floor = start_floor(bench, folder, &cluster.create_database()?, &sizes, "1")?;
        let (file_merchant, file) = start_gateway(bench, &in_file, &[])?;
        Ok(Self { bench, nodes, merchants, file, file_merchant, floor, single_floor, cluster })
    }

    /// Counts waits, measures capacity and response times, stops the servers, and computes the model.
    fn measure(self) -> Result<Vec<ResultRow>> {
        let (single, grouped) = (self.log_payments(1)?, self.log_payments(TOGETHER)?);
        let waits = WaitCosts::of_runs(LOGGED, &single, &grouped);
        let capacity = rounds::measure_capacity(&self)?;
        let neighbour = rounds::measure_neighbour(&self, &capacity)?;
        let costs = capacity.payment_costs(waits.payment);
        let mut rows = capacity.rows();
        rows.extend(neighbour);
        rows.push(wait_row(&waits, &grouped));
        rows.extend(model_rows(&costs));
        for node in self.nodes {
            node.stop_gracefully()?;
        }
        self.file.stop_gracefully()?;
        Ok(rows)
    }

    /// Pays over so many connections, and counts the waits under the merchant's lock.
    fn log_payments(&self, connections: u64) -> Result<LockedWaits> {
        let merchant = &self.merchants[0];
        let bodies: Vec<String> = merchant.payment_bodies().into_iter().take(LOGGED).collect();
        let requests = merchant.post_requests("/v1/payments", &bodies);
        let target = LoadTarget { server: &self.nodes[0], requests };
        let log =
            self.cluster.log_statements(|| target.send_once_over(&self.bench.programs.load, connections).map(drop))?;
        Ok(LockedWaits::count(&log))
    }
}

/// Returns the row on the waits of a payment under the lock of its merchant.
fn wait_row(costs: &WaitCosts, grouped: &LockedWaits) -> ResultRow {
    let WaitCosts { payment, transaction } = costs;
    let words: Vec<String> = grouped.by_word.iter().map(|(word, count)| format!("{count} {word}")).collect();
    ResultRow {
        what: "Answers that a payment waits for under its merchant's lock".to_owned(),
        reached: *payment,
        goal: Goal::None,
        unit: "",
        figures: format!("{transaction:.1} more a transaction; {LOGGED} payments: {}", words.join(", ")),
    }
}

/// Returns the key file of the node whose data and log are in this folder.
fn key_path(folder: &Path) -> PathBuf {
    folder.join("data.key")
}

/// Starts a node under this name, with its data folder and its log in a folder.
fn start_node(bench: &Bench, folder: &Path, database: &MeasuredDatabase, name: &str) -> Result<ServerProcess> {
    let options = ["--database", &database.address, "--node", name, "--writers", WRITERS].map(OsStr::new);
    serve_store(bench, folder, &options)
}

/// Starts a floor that writes rows of these sizes for each request, over so many connections.
fn start_floor(
    bench: &Bench,
    folder: &Path,
    database: &MeasuredDatabase,
    rows: &[usize],
    writers: &str,
) -> Result<ServerProcess> {
    let mut command = Command::new(&bench.programs.postgres_floor);
    command.args(["--database", &database.address, "--writers", writers]);
    for bytes in rows {
        command.args(["--row", &bytes.to_string()]);
    }
    ServerProcess::start_and_wait(&mut command, &folder.join(format!("floor-{writers}.log")))
}
