//! What the load generator is told, and what it tells: one JSON document in, one out.

use serde::{Deserialize, Serialize};

/// What to send.
#[derive(Clone, Debug, Deserialize)]
pub struct Plan {
    /// Host and port of the server.
    pub address: String,
    /// Whole HTTP/1.1 requests, head and body; sent in this order, again from the first after the last.
    pub requests: Vec<String>,
    /// Connections that are kept open.
    pub connections: usize,
    /// When to stop.
    #[serde(flatten)]
    pub until: Until,
    /// Keep the `id` of each answer and tell them all.
    #[serde(default)]
    pub collect: bool,
}

/// How much to send and how fast.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(untagged)]
pub enum Until {
    /// Exactly so many requests, each connection sending its next one when it has its answer.
    Count {
        /// How many.
        count: u64,
    },
    /// For a time; what begins during the warm-up is sent and not counted.
    Time {
        /// Milliseconds before counting.
        warm_up: u64,
        /// Milliseconds of counting.
        measure: u64,
        /// Requests a second, sent whether or not earlier ones were answered (an open loop). Without it every
        /// connection sends its next request when it has its answer (a closed loop).
        rate: Option<f64>,
    },
}

/// What came of it.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Outcome {
    /// Requests that were sent, during the warm-up as well.
    pub sent: u64,
    /// Requests that were counted and answered with 200.
    pub answered: u64,
    /// Requests that failed or were answered otherwise, during the warm-up as well.
    pub failed: u64,
    /// What the first failure said.
    pub failure: Option<String>,
    /// Answers a second.
    pub per_second: f64,
    /// Bytes of the last answer's body.
    pub bytes: usize,
    /// Latency in microseconds that half of the answers stayed within.
    pub p50: u64,
    /// Latency in microseconds that 99 of 100 answers stayed within.
    pub p99: u64,
    /// The longest latency in microseconds.
    pub longest: u64,
    /// The ids in the answers, where the plan asks for them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ids: Vec<String>,
}
