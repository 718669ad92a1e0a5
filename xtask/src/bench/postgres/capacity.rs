//! The capacity of nodes and a database on machines of their own, computed from figures that were measured on one.

use crate::bench::numbers::format_thousands;
use crate::bench::table::{Goal, ResultRow};

/// Measured costs of a payment.
#[derive(Debug, Clone, Copy)]
pub struct PaymentCosts {
    /// Processor time of the gateway in microseconds.
    pub gateway_cpu: f64,
    /// Processor time of the database in microseconds.
    pub database_cpu: f64,
    /// Bytes of the write-ahead log.
    pub wal: f64,
    /// Time under the lock of its merchant in microseconds, with the database on the same machine.
    pub lock_time: f64,
    /// Answers of the database for which it waits under this lock.
    pub answers: f64,
}

/// Machines of a cluster.
#[derive(Debug, Clone, Copy)]
pub struct Machines {
    /// Number of nodes, each on a machine of its own.
    pub nodes: f64,
    /// Cores of each of these machines.
    pub node_cores: f64,
    /// Connections of each node that write.
    pub writers: f64,
    /// Cores of the database's machine.
    pub database_cores: f64,
    /// Time of a round trip between a node and the database in microseconds.
    pub round_trip: f64,
    /// Bytes that the disk of the write-ahead log takes in a second.
    pub wal_rate: f64,
}

impl PaymentCosts {
    /// Returns the most payments of one merchant per second. They come one after the other, whatever the number of
    /// nodes.
    pub fn limit_of_merchant(&self, round_trip: f64) -> f64 {
        1e6 / (self.lock_time + self.answers * round_trip)
    }

    /// Returns the most payments per second of many merchants, and the resource that limits them.
    pub fn find_limit(&self, machines: &Machines) -> (f64, &'static str) {
        let limits = [
            (machines.nodes * machines.node_cores * 1e6 / self.gateway_cpu, "processors of the nodes"),
            (machines.database_cores * 1e6 / self.database_cpu, "processors of the database"),
            (machines.nodes * machines.writers * self.limit_of_merchant(machines.round_trip), "writers of the nodes"),
            (machines.wal_rate / self.wal, "disk of the write-ahead log"),
        ];
        limits.into_iter().min_by(|(one, _), (other, _)| one.total_cmp(other)).unwrap_or((f64::NAN, ""))
    }
}

/// The machines of the printed rows, but for the number of nodes: the network of one data centre, and a usual disk.
const MACHINES: Machines =
    Machines { nodes: 1.0, node_cores: 2.0, writers: 4.0, database_cores: 8.0, round_trip: 200.0, wal_rate: 100e6 };

/// Returns the rows on the payments of 1, 2, 4 and 8 nodes, and of one merchant, on machines of their own.
pub fn model_rows(costs: &PaymentCosts) -> Vec<ResultRow> {
    let row = |what: String, reached: f64, figures: String| ResultRow {
        what,
        reached,
        goal: Goal::None,
        unit: "/s",
        figures,
    };
    let mut rows: Vec<ResultRow> = [1.0, 2.0, 4.0, 8.0]
        .into_iter()
        .map(|nodes| {
            let (limit, resource) = costs.find_limit(&Machines { nodes, ..MACHINES });
            let Machines { node_cores, database_cores, .. } = MACHINES;
            let figures = format!("limit: {resource} ({node_cores} cores a node, {database_cores} the database)");
            row(format!("Model: payments, nodes: {nodes}"), limit, figures)
        })
        .collect();
    let here = costs.limit_of_merchant(0.0);
    rows.push(row(
        format!("Model: payments of one merchant, round trips of {} µs", MACHINES.round_trip),
        costs.limit_of_merchant(MACHINES.round_trip),
        format!("{} on one machine; {:.1} answers under its lock", format_thousands(here), costs.answers),
    ));
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    const COSTS: PaymentCosts =
        PaymentCosts { gateway_cpu: 500.0, database_cpu: 1000.0, wal: 10_000.0, lock_time: 1000.0, answers: 20.0 };

    #[test]
    fn the_knee_is_where_another_resource_becomes_the_scarcest() {
        let limit_of = |nodes| COSTS.find_limit(&Machines { nodes, ..MACHINES });
        // Each of four writers takes a millisecond and 20 round trips of 0.2 ms.
        assert_eq!(limit_of(1.0), (800.0, "writers of the nodes"));
        assert_eq!(limit_of(8.0), (6400.0, "writers of the nodes"));
        assert_eq!(limit_of(12.0), (8000.0, "processors of the database"));
    }

    #[test]
    fn one_merchant_waits_for_each_round_trip() {
        assert!((COSTS.limit_of_merchant(200.0) - 200.0).abs() < 1e-9);
    }
}
