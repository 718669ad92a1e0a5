//! Rounds of payments on the servers of the bench: capacity, and response times beside a large merchant.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::Result;

use super::capacity::PaymentCosts;
use super::cluster::ClusterWork;
use super::{MERCHANTS, Setup};
use crate::bench::numbers::median;
use crate::bench::requests::MerchantAccess;
use crate::bench::rounds::{Runs, compare_tail, compare_throughput, run_rounds};
use crate::bench::table::{Goal, ResultRow};
use crate::bench::traffic::{LoadDuration, LoadTarget, RunMetrics};

/// Connections of the large merchant, each always with a payment in flight.
const LARGE_CONNECTIONS: u64 = 64;
/// Payments per second of a small merchant and of a large one, as shares of the capacity of one merchant: nine tenths
/// of four fifths of it are the large one's.
const SMALL_SHARE: f64 = 0.08;
const LARGE_SHARE: f64 = 0.72;
/// Different payments of each merchant, if several merchants pay in turn.
const VARIANTS: usize = 2048;

/// A target of the measurement of capacity. The order is the order in a round.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum TargetKind {
    File,
    OneMerchant,
    Floor,
    SingleFloor,
    SeveralMerchants,
    /// Two load generators, as for two nodes.
    OneNode,
    TwoNodes,
}

/// A run of the small merchant's payments. The order is the order in a round.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum NeighbourKind {
    Alone,
    BesideLarge,
    /// The large one pays as fast as it gets responses.
    BesideGreedy,
}

/// Work of the cluster for each request of a run: processor time in microseconds, bytes of the write-ahead log, and
/// transactions.
#[derive(Debug, Clone, Copy)]
struct RequestWork {
    cpu: f64,
    wal: f64,
    transactions: f64,
}

/// Results of the rounds.
pub struct CapacityRuns {
    runs: Runs<TargetKind>,
    work: BTreeMap<TargetKind, Vec<RequestWork>>,
}

/// Measures the payments per second of each target.
pub fn measure_capacity(setup: &Setup<'_>) -> Result<CapacityRuns> {
    let (bench, [first, second]) = (setup.bench, &setup.nodes);
    let one = payments_of(&setup.merchants[..1], usize::MAX);
    let half = payments_of(&setup.merchants[..MERCHANTS / 2], VARIANTS);
    let other_half = payments_of(&setup.merchants[MERCHANTS / 2..], VARIANTS);
    let file = setup.file_merchant.post_requests("/v1/payments", &setup.file_merchant.payment_bodies());
    let rows = setup.merchants[0].post_requests("/rows", &setup.merchants[0].payment_bodies());
    let targets: BTreeMap<TargetKind, LoadTarget<'_>> = [
        (TargetKind::File, &setup.file, file),
        (TargetKind::OneMerchant, first, one),
        (TargetKind::Floor, &setup.floor, rows.clone()),
        (TargetKind::SingleFloor, &setup.single_floor, rows),
        (TargetKind::SeveralMerchants, first, payments_of(&setup.merchants, VARIANTS)),
        (TargetKind::OneNode, first, half.clone()),
        (TargetKind::TwoNodes, first, half),
    ]
    .into_iter()
    .map(|(kind, server, requests)| (kind, LoadTarget { server, requests }))
    .collect();
    let at_first = LoadTarget { server: first, requests: other_half };
    let at_second = LoadTarget { server: second, requests: at_first.requests.clone() };
    let load = &bench.programs.load;
    let seconds = |quick, full| Duration::from_millis(if bench.quick { quick } else { full });
    let span = LoadDuration { warm_up: seconds(100, 300), measure: seconds(300, 2000) };
    let rounds = if bench.quick { 1 } else { 7 };
    let work = RefCell::new(BTreeMap::<TargetKind, Vec<RequestWork>>::new());
    let runs = run_rounds("capacity", rounds, &targets, |kind, target| {
        let (run, done) = setup.cluster.measure_work(|| match kind {
            TargetKind::OneNode => target.run_with(&at_first, load, span),
            TargetKind::TwoNodes => target.run_with(&at_second, load, span),
            _ => target.run_load(load, span, None),
        })?;
        work.borrow_mut().entry(kind).or_default().push(RequestWork::of_run(&done, &run));
        Ok(run)
    })?;
    Ok(CapacityRuns { runs, work: work.into_inner() })
}

/// Returns the payments of several merchants in turn, so many of each.
fn payments_of(merchants: &[MerchantAccess], count: usize) -> Vec<String> {
    let of_merchants: Vec<Vec<String>> = merchants
        .iter()
        .map(|merchant| {
            let bodies: Vec<String> = merchant.payment_bodies().into_iter().take(count).collect();
            merchant.post_requests("/v1/payments", &bodies)
        })
        .collect();
    let longest = of_merchants.iter().map(Vec::len).max().unwrap_or(0);
    (0..longest).flat_map(|at| of_merchants.iter().filter_map(move |payments| payments.get(at).cloned())).collect()
}

impl RequestWork {
    fn of_run(work: &ClusterWork, run: &RunMetrics) -> Self {
        Self {
            cpu: work.cpu.as_secs_f64() * 1e6 / run.sent,
            wal: work.wal / run.sent,
            transactions: work.transactions / run.sent,
        }
    }
}

impl CapacityRuns {
    /// Returns the median of a figure of a target.
    fn median_of(&self, kind: TargetKind, figure: fn(&RunMetrics) -> f64) -> f64 {
        median(self.runs[&kind].iter().map(figure))
    }

    /// Returns the median of a figure of the cluster's work for a target.
    fn median_work(&self, kind: TargetKind, figure: fn(&RequestWork) -> f64) -> f64 {
        median(self.work[&kind].iter().map(figure))
    }

    /// Returns the costs of a payment, which waits for so many answers under the lock of its merchant.
    pub fn payment_costs(&self, answers: f64) -> PaymentCosts {
        let kind = TargetKind::SeveralMerchants;
        PaymentCosts {
            gateway_cpu: self.median_of(kind, |run| run.cpu),
            database_cpu: self.median_work(kind, |work| work.cpu),
            wal: self.median_work(kind, |work| work.wal),
            // One merchant's payments come one after the other, so their lock is never free.
            lock_time: 1e6 / self.median_of(TargetKind::OneMerchant, |run| run.per_second),
            answers,
        }
    }

    /// Returns the rows of the comparisons, and of the cluster's work for a payment.
    pub fn rows(&self) -> Vec<ResultRow> {
        let compare = |what: &str, ours, floor, goal| compare_throughput(&self.runs, what, ours, floor, goal);
        let inform = |what: &str, ours, floor| ResultRow { goal: Goal::None, ..compare(what, ours, floor, 0.0) };
        let several = format!("Payments of {MERCHANTS} merchants");
        vec![
            compare("Payments of one merchant : equal-rows floor", TargetKind::OneMerchant, TargetKind::Floor, 0.4),
            compare(&format!("{several} : equal-rows floor"), TargetKind::SeveralMerchants, TargetKind::Floor, 0.4),
            compare(&format!("{several}, two nodes : one"), TargetKind::TwoNodes, TargetKind::OneNode, 1.0),
            inform(
                "Payments of one merchant : floor with one connection",
                TargetKind::OneMerchant,
                TargetKind::SingleFloor,
            ),
            inform("Payments of one merchant, PostgreSQL : SQLite", TargetKind::OneMerchant, TargetKind::File),
            inform(&format!("{several}, PostgreSQL : SQLite"), TargetKind::SeveralMerchants, TargetKind::File),
            self.work_row("Work of the database for a payment of one merchant", TargetKind::OneMerchant),
            self.work_row("Work of the database for a payment of several", TargetKind::SeveralMerchants),
            self.work_row("Work of the database for the rows of the floor", TargetKind::Floor),
            self.work_row("Work of the database for the rows of one connection", TargetKind::SingleFloor),
            self.work_row("Work of the database for a payment, one node", TargetKind::OneNode),
            self.work_row("Work of the database for a payment, two nodes", TargetKind::TwoNodes),
        ]
    }

    /// Returns the row on the work of the cluster for each request of a target.
    fn work_row(&self, what: &str, kind: TargetKind) -> ResultRow {
        let transactions = self.median_work(kind, |work| work.transactions);
        ResultRow {
            what: what.to_owned(),
            reached: self.median_work(kind, |work| work.cpu),
            goal: Goal::None,
            unit: "µs",
            figures: format!(
                "{:.0} bytes of WAL; {:.1} requests a transaction",
                self.median_work(kind, |work| work.wal),
                1.0 / transactions
            ),
        }
    }
}

/// Measures the payments of a small merchant, alone and while another merchant has most of the load.
pub fn measure_neighbour(setup: &Setup<'_>, capacity: &CapacityRuns) -> Result<[ResultRow; 2]> {
    let (bench, node) = (setup.bench, &setup.nodes[0]);
    let [large, small] = [0, 1].map(|at| payments_of(&setup.merchants[at..=at], usize::MAX));
    let large = LoadTarget { server: node, requests: large };
    let kinds = [NeighbourKind::Alone, NeighbourKind::BesideLarge, NeighbourKind::BesideGreedy];
    let targets = kinds.map(|kind| (kind, LoadTarget { server: node, requests: small.clone() })).into();
    let load = &bench.programs.load;
    let seconds = |quick, full| Duration::from_millis(if bench.quick { quick } else { full });
    let span = LoadDuration { warm_up: seconds(200, 500), measure: seconds(1000, 4000) };
    let rounds = if bench.quick { 1 } else { 5 };
    let of_one = capacity.median_of(TargetKind::OneMerchant, |run| run.per_second);
    let runs = run_rounds("payments beside a large merchant", rounds, &targets, |kind, target| {
        let pay = || target.run_load(load, span, Some(of_one * SMALL_SHARE));
        let pay_beside = |rate| large.run_beside(load, LARGE_CONNECTIONS, rate, span, pay);
        match kind {
            NeighbourKind::Alone => pay(),
            NeighbourKind::BesideLarge => pay_beside(Some(of_one * LARGE_SHARE)),
            NeighbourKind::BesideGreedy => pay_beside(None),
        }
    })?;
    let what = "p99 of payments, beside a merchant with 90 % of the load : alone";
    let beside_large = compare_tail(&runs, what, NeighbourKind::BesideLarge, NeighbourKind::Alone);
    let what = "p99 of payments, beside a merchant that takes all it can : alone";
    let beside_greedy = compare_tail(&runs, what, NeighbourKind::BesideGreedy, NeighbourKind::Alone);
    // It has all processors of this machine, which the load generators need as well.
    Ok([beside_large, ResultRow { goal: Goal::None, ..beside_greedy }])
}
