//! Input and output of the load generator: one JSON document each.

use serde::{Deserialize, Serialize};

/// Requests to send, and the way to send them.
#[derive(Clone, Debug, Deserialize)]
pub struct LoadPlan {
    /// Host and port of the server.
    pub address: String,
    /// Complete HTTP/1.1 requests, head and body. They are sent in this order, and from the first again after the last.
    pub requests: Vec<String>,
    /// Number of connections to keep open.
    pub connections: usize,
    /// End of the run.
    #[serde(flatten)]
    pub until: StopCondition,
    /// If true, the `id` of each response is collected and reported.
    #[serde(default)]
    pub collect: bool,
}

/// Amount and rate of requests.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(untagged)]
pub enum StopCondition {
    /// An exact number of requests. Each connection sends its next request when it has received a response.
    Count {
        /// Number of requests.
        count: u64,
    },
    /// A duration. Requests that begin during the warm-up are sent but not measured.
    Time {
        /// Milliseconds before the measurement.
        warm_up: u64,
        /// Milliseconds of the measurement.
        measure: u64,
        /// Requests per second, sent whether or not earlier ones were answered (open loop). If `None`, each connection
        /// sends its next request when it has received a response (closed loop).
        rate: Option<f64>,
    },
}

/// Result of a run.
#[derive(Clone, Debug, Default, Serialize)]
pub struct LoadResult {
    /// Number of requests sent, including those of the warm-up.
    pub sent: u64,
    /// Number of measured requests that were answered with 200.
    pub answered: u64,
    /// Number of requests that failed or had a status other than 200, including those of the warm-up.
    pub failed: u64,
    /// Message of the first failure.
    pub failure: Option<String>,
    /// Responses per second.
    pub per_second: f64,
    /// Bytes of the last response's body.
    pub bytes: usize,
    /// Median latency in microseconds.
    pub p50: u64,
    /// 95th percentile of the latency in microseconds.
    pub p95: u64,
    /// 99th percentile of the latency in microseconds.
    pub p99: u64,
    /// Longest latency in microseconds.
    pub longest: u64,
    /// The ids in the responses, if the plan asks for them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ids: Vec<String>,
}
